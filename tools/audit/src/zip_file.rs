//! Zip files, wheels among them.

use std::io::{Cursor, Read};

use memchr::memmem;
use offload_image::bytes::Bytes;
use offload_image::{Error, Result};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::host::Host;
use crate::map::{self, Opened};
use crate::member::collect;
use crate::place::Place;
use crate::sweep::{gaps, sweep, Ranges};
use crate::walker::{Seen, Walker};

/// The start of an entry of the directory at a zip file's end, and its length without the names.
const ENTRY: (&[u8], u64) = (b"PK\x01\x02", 46);

/// The start of its last record, and the length without a comment; of the record before it in large files.
pub(crate) const LAST: (&[u8], u64) = (b"PK\x05\x06", 22);
const ZIP64: &[u8] = b"PK\x06\x07";
/// The start of a member.
const MEMBER: &[u8] = b"PK\x03\x04";

/// Members from this size on are not kept in memory.
const SPILL: u64 = 64 << 20;

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

impl Walker<'_> {
    /// A file that is a zip file from its first byte.
    pub fn zip(&mut self, bytes: Bytes<'_>, place: &Place) -> Result<Seen> {
        let (reasons, claimed) = self.zip_members(bytes, place)?;
        sweep(self, &Host::of_bytes(bytes), place, claimed);
        Ok(Seen::Host(reasons))
    }

    /// Walks the members of the zip file at the end of the bytes. Gives the reasons of those with code
    /// elsewhere, and where the members and the directory are.
    pub fn zip_members(
        &mut self,
        bytes: Bytes<'_>,
        place: &Place,
    ) -> Result<(Vec<String>, Ranges)> {
        let wrong =
            |error: &ZipError| Error::malformed("zip file", bytes.base(), format!("{error}"));
        let mut archive = Archive::new(Cursor::new(bytes.data())).map_err(|e| wrong(&e))?;
        let directory = bytes.tail(archive.central_directory_start());
        let (listed, size) = entries(directory);
        if listed != archive.len() as u64 {
            // The crate keeps the last of several members with one name. What it drops may be what
            // another tool unpacks.
            let why = format!("{listed} members have {} names", archive.len());
            self.problem(Error::unsupported("zip file", bytes.base(), why), place);
        }
        let mut reasons = Vec::new();
        let mut claimed = vec![(directory.base(), size)];
        for index in 0..archive.len() {
            if let Ok(entry) = archive.by_index_raw(index) {
                let end = entry.data_start().saturating_add(entry.compressed_size());
                let start = entry.header_start();
                claimed.push((bytes.file_offset(start), end.saturating_sub(start)));
            }
            let member = match self.zip_member(&mut archive, index, bytes) {
                Ok(Some(member)) => member,
                Ok(None) => continue,
                Err((name, error)) => {
                    let inner = name.map_or_else(|| place.clone(), |n| place.member("zip", &n));
                    self.problem(error, &inner);
                    continue;
                }
            };
            let inner = place.member("zip", &member.name);
            let state = match &member.content {
                Content::Plain(bytes) => self.unit(Bytes::new(bytes), &inner),
                Content::Unpacked(file) => self.file(file, &inner),
            };
            collect(&mut reasons, Some(state));
        }
        if let Some(at) = unlisted(bytes, &mut claimed) {
            let why = "a member starts here that its directory does not name";
            self.problem(Error::unsupported("zip file", at, why), place);
        }
        Ok((reasons, claimed))
    }

    /// The bytes of one member; `None` for a folder. A fault comes with the name, once that is known.
    fn zip_member<'a>(
        &mut self,
        archive: &mut Archive<'a>,
        index: usize,
        bytes: Bytes<'a>,
    ) -> std::result::Result<Option<Member<'a>>, (Option<String>, Error)> {
        let told = |at: u64, error: &dyn std::fmt::Display| {
            Error::malformed("zip member", bytes.file_offset(at), format!("{error}"))
        };
        let entry = match archive.by_index_raw(index) {
            // The name alone makes no folder of what has bytes.
            Ok(entry) if entry.is_dir() && entry.size() == 0 => return Ok(None),
            Ok(entry) => entry,
            Err(error) => return Err((None, told(0, &error))),
        };
        let name = entry.name().to_owned();
        let header = entry.header_start();
        let (start, stored, size) = (entry.data_start(), entry.compressed_size(), entry.size());
        let plain = entry.compression() == CompressionMethod::Stored && !entry.encrypted();
        drop(entry);
        // Some tools go by what stands before the member, and not by the directory.
        if plain && bytes.u16(header + 8, "zip member") != Ok(0) {
            let why = "the directory says that it is stored, and its own header that it is packed";
            return Err((Some(name), told(header, &why)));
        }
        let limit = self.options.limits.max_member;
        let content = (|| {
            // Members may share bytes, so those that are not packed count as well.
            self.spend(size.max(stored), bytes.tail(header))?;
            if plain {
                let data = bytes.slice(start, stored, "zip member")?;
                return Ok(Content::Plain(data.data()));
            }
            if size > limit {
                let why = format!(
                    "it unpacks to {size} bytes, and the limit is {limit}: see max-unpacked-bytes"
                );
                return Err(Error::unsupported(
                    "zip member",
                    bytes.file_offset(header),
                    why,
                ));
            }
            let member = archive.by_index(index).map_err(|e| told(header, &e))?;
            let mut member = member.take(size.saturating_add(1));
            let opened = if size < SPILL {
                let mut data = Vec::new();
                member.read_to_end(&mut data).map(|_| Opened::Read(data))
            } else {
                map::spill(&mut member)
            };
            let opened = opened.map_err(|error| told(header, &error))?;
            let found = opened.bytes().len();
            if found as u64 != size {
                let why = format!("it has {found} bytes or more, and not {size}");
                return Err(told(header, &why));
            }
            Ok(Content::Unpacked(opened))
        })();
        match content {
            Ok(content) => Ok(Some(Member { name, content })),
            Err(error) => Err((Some(name), error)),
        }
    }
}

struct Member<'a> {
    name: String,
    content: Content<'a>,
}

enum Content<'a> {
    Plain(&'a [u8]),
    Unpacked(Opened),
}

/// Whether the bytes, which go on to the end of a file, end as a zip file does: with a record that
/// tells where the directory is, and how long the comment is behind it.
pub(crate) fn ends_here(bytes: Bytes<'_>) -> bool {
    let tail = bytes.tail(bytes.len().saturating_sub(LAST.1 + u64::from(u16::MAX)));
    memmem::rfind_iter(tail.data(), LAST.0).any(|at| {
        let record = tail.tail(at as u64);
        let (Ok(size), Ok(comment)) = (record.u32(12, "size"), record.u16(20, "comment")) else {
            return false;
        };
        let before = |count: u64| {
            let start = record.base().checked_sub(bytes.base() + count);
            start.map_or(&[][..], |start| bytes.tail(start).data())
        };
        record.len() == LAST.1 + u64::from(comment)
            && (before(size.into()).starts_with(ENTRY.0) || before(20).starts_with(ZIP64))
    })
}

/// The zip file among other bytes whose last record stands at that offset; `None` where what is before it is no
/// zip file. One of more than 4 GiB is found at the end of a file alone.
pub(crate) fn ending_at(bytes: Bytes<'_>, record: u64) -> Option<Bytes<'_>> {
    let tail = bytes.tail(record);
    let size = u64::from(tail.u32(12, "zip directory").ok()?);
    let offset = u64::from(tail.u32(16, "zip directory").ok()?);
    let comment = u64::from(tail.u16(20, "zip comment").ok()?);
    let directory = record.checked_sub(size)?;
    let start = directory.checked_sub(offset)?;
    let whole = bytes.slice(start, record - start + LAST.1 + comment, "zip file");
    let whole = whole.ok()?;
    let begins = |at: u64, magic: &[u8]| whole.tail(at).data().starts_with(magic);
    (begins(0, MEMBER) && begins(offset, ENTRY.0)).then_some(whole)
}

/// Where a member starts that is none of those that the directory lists. Who goes by the directory
/// does not see it; who reads from the start does.
fn unlisted(bytes: Bytes<'_>, listed: &mut Ranges) -> Option<u64> {
    let first = match bytes.data().starts_with(MEMBER) {
        true => bytes.base(),
        false => listed.iter().map(|(start, _)| *start).min()?,
    };
    gaps(bytes, listed)
        .into_iter()
        .filter(|gap| gap.base() >= first)
        .find_map(|gap| memmem::find(gap.data(), MEMBER).map(|found| gap.file_offset(found as u64)))
}

/// How many entries the directory has, and its size with the record behind it.
fn entries(directory: Bytes<'_>) -> (u64, u64) {
    let (magic, size) = ENTRY;
    let mut rest = directory;
    let mut count = 0;
    while rest.data().starts_with(magic) {
        let lengths = [28, 30, 32].map(|at| rest.u16(at, "zip directory").unwrap_or(0));
        let names: u64 = lengths.into_iter().map(u64::from).sum();
        rest = rest.tail(size + names);
        count += 1;
    }
    let last = memmem::find(rest.data(), LAST.0).map_or(rest.len(), |at| at as u64 + LAST.1);
    (count, rest.base() - directory.base() + last.min(rest.len()))
}
