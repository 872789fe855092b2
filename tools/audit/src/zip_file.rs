//! Zip files, wheels among them.

use std::io::{Cursor, Read};

use offload_image::bytes::Bytes;
use offload_image::{Error, Result};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::member::collect;
use crate::place::Place;
use crate::walker::{Seen, Walker};

/// The start of an entry of the directory at a zip file's end, and its length without the names.
const ENTRY: (&[u8], u64) = (b"PK\x01\x02", 46);

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

impl Walker<'_> {
    pub fn zip(&mut self, bytes: Bytes<'_>, place: &Place) -> Result<Seen> {
        let wrong =
            |error: &ZipError| Error::malformed("zip file", bytes.base(), format!("{error}"));
        let mut archive = Archive::new(Cursor::new(bytes.data())).map_err(|e| wrong(&e))?;
        let listed = entries(bytes.tail(archive.central_directory_start()));
        if listed != archive.len() as u64 {
            // The crate keeps the last of several members with one name. What it drops may be what
            // another tool unpacks.
            let why = format!("{listed} members have {} names", archive.len());
            self.problem(Error::unsupported("zip file", bytes.base(), why), place);
        }
        let mut reasons = Vec::new();
        for index in 0..archive.len() {
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
            let state = self.unit(Bytes::new(member.content.bytes()), &inner);
            collect(&mut reasons, Some(state));
        }
        Ok(Seen::Host(reasons))
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
            Ok(entry) if entry.is_dir() => return Ok(None),
            Ok(entry) => entry,
            Err(error) => return Err((None, told(0, &error))),
        };
        let name = entry.name().to_owned();
        let header = entry.header_start();
        let (start, stored, size) = (entry.data_start(), entry.compressed_size(), entry.size());
        let plain = entry.compression() == CompressionMethod::Stored && !entry.encrypted();
        drop(entry);
        let limit = self.options.limits.max_unpacked;
        let content = (|| {
            // Members may share bytes, so those that are not packed count as well.
            self.spend(size.max(stored), bytes.tail(header))?;
            if plain {
                let data = bytes.slice(start, stored, "zip member")?;
                return Ok(Content::Plain(data.data()));
            }
            if size > limit {
                let why = format!("it unpacks to {size} bytes, and the limit is {limit}");
                return Err(Error::unsupported(
                    "zip member",
                    bytes.file_offset(header),
                    why,
                ));
            }
            let mut data = Vec::new();
            let member = archive.by_index(index).map_err(|e| told(header, &e))?;
            member
                .take(size.saturating_add(1))
                .read_to_end(&mut data)
                .map_err(|error| told(header, &error))?;
            if data.len() as u64 != size {
                let why = format!("it has {} bytes or more, and not {size}", data.len());
                return Err(told(header, &why));
            }
            Ok(Content::Unpacked(data))
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
    Unpacked(Vec<u8>),
}

impl Content<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Unpacked(bytes) => bytes,
        }
    }
}

/// How many entries the directory has.
fn entries(mut directory: Bytes<'_>) -> u64 {
    let (magic, size) = ENTRY;
    let mut count = 0;
    while directory.data().starts_with(magic) {
        let lengths = [28, 30, 32].map(|at| directory.u16(at, "zip directory").unwrap_or(0));
        let names: u64 = lengths.into_iter().map(u64::from).sum();
        directory = directory.tail(size + names);
        count += 1;
    }
    count
}
