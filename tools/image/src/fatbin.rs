//! NVIDIA's fatbin: a list of cubins and PTX modules, each perhaps compressed.
//!
//! The format is not documented; what stands here was measured on output of fatbinary 13.5 and on
//! published libraries. Entry headers come in several sizes, so the size is always read.

use crate::arch::Suffix;
use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::image::Compression;
use crate::ptx_isa::PtxIsa;
use crate::target::Sm;

mod write;

pub use write::{write, NewEntry};

/// The first four bytes, `0xBA55ED50`.
pub const MAGIC: &[u8] = &[0x50, 0xed, 0x55, 0xba];

const HEADER: u64 = 16;
const ENTRY_HEADER: u64 = 64;
/// Set by fatbinary on every entry: 64-bit, Linux.
const FLAGS: u64 = 0x11;
const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;
const FLAG_EXACT: u64 = 0x10_0000;
const FLAG_FAMILY: u64 = 0x20_0000;

/// What an entry holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// PTX text.
    Ptx,
    /// A cubin.
    Cubin,
    /// A kind that is known to exist (link-time IR among them) and not read here.
    Other(u16),
}

/// One entry.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// What it holds.
    pub kind: EntryKind,
    /// What it was built for.
    pub sm: Sm,
    /// For PTX the ISA version.
    pub version: PtxIsa,
    /// How the payload is stored.
    pub compression: Compression,
    /// The payload as stored, without the padding after compressed ones.
    pub payload: Bytes<'a>,
    /// Its size when unpacked.
    pub unpacked_size: u64,
}

/// A fatbin.
#[derive(Debug, Clone)]
pub struct Fatbin<'a> {
    /// Its entries, in order.
    pub entries: Vec<Entry<'a>>,
    /// Where it starts in the file.
    pub offset: u64,
    /// Its length in bytes, headers included.
    pub length: u64,
}

impl<'a> Fatbin<'a> {
    /// Reads the fatbin at the start of `bytes`; other bytes may follow it.
    ///
    /// # Errors
    /// Another magic or version; entries that reach beyond the payload.
    pub fn parse(bytes: Bytes<'a>) -> Result<Self> {
        let header = bytes.slice(0, HEADER, "fatbin header")?;
        if !header.data().starts_with(MAGIC) {
            return Err(Error::malformed(
                "fatbin",
                bytes.base(),
                "it does not start with the magic 50 ed 55 ba",
            ));
        }
        let version = header.u16(4, "fatbin version")?;
        if version != 1 {
            return Err(Error::unsupported(
                "fatbin",
                bytes.file_offset(4),
                format!("version {version}, and only version 1 is known"),
            ));
        }
        let header_size = u64::from(header.u16(6, "fatbin header size")?);
        if header_size < HEADER {
            return Err(Error::malformed(
                "fatbin header size",
                bytes.file_offset(6),
                format!("it is {header_size}, and at least {HEADER} are needed"),
            ));
        }
        let size = header.u64(8, "fatbin payload size")?;
        let mut rest = bytes.slice(header_size, size, "fatbin payload")?;
        let length = header_size.saturating_add(size);
        let mut entries = Vec::new();
        while !rest.is_empty() {
            let (entry, taken) = entry(rest)?;
            entries.push(entry);
            rest = rest.tail(taken);
        }
        Ok(Self {
            entries,
            offset: bytes.base(),
            length,
        })
    }
}

impl Fatbin<'_> {
    /// Whether a header as fatbinary writes it, and the whole first entry, stand there.
    #[must_use]
    pub fn begins(bytes: Bytes<'_>) -> bool {
        let header = |bytes: Bytes<'_>| {
            Ok(bytes.data().starts_with(MAGIC)
                && bytes.u16(4, "fatbin version")? == 1
                && u64::from(bytes.u16(6, "fatbin header size")?) == HEADER)
        };
        let first = bytes.tail(HEADER);
        header(bytes) == Ok::<_, Error>(true)
            && entry(first).is_ok_and(|(entry, _)| {
                !matches!(entry.kind, EntryKind::Other(0)) && !entry.payload.is_empty()
            })
    }
}

/// Reads the entry at the start of `bytes`, and how many bytes it takes.
fn entry(bytes: Bytes<'_>) -> Result<(Entry<'_>, u64)> {
    let header = bytes.slice(0, ENTRY_HEADER, "fatbin entry header")?;
    let header_size = u64::from(header.u32(4, "fatbin entry header size")?);
    if header_size < ENTRY_HEADER {
        return Err(Error::malformed(
            "fatbin entry header size",
            bytes.file_offset(4),
            format!("it is {header_size}, and at least {ENTRY_HEADER} are needed"),
        ));
    }
    let padded = header.u64(8, "fatbin payload size")?;
    let stored = u64::from(header.u32(16, "fatbin compressed size")?);
    let flags = header.u64(40, "fatbin flags")?;
    let compression = match (flags & FLAG_LZ4 != 0, flags & FLAG_ZSTD != 0) {
        (false, false) if stored == 0 => Compression::None,
        (false, false) => Compression::Unknown,
        (true, _) => Compression::Lz4,
        (false, true) => Compression::Zstd,
    };
    let whole = bytes.slice(header_size, padded, "fatbin payload")?;
    let payload = if compression == Compression::None {
        whole
    } else {
        whole.slice(0, stored, "fatbin compressed payload")?
    };
    let entry = Entry {
        kind: match header.u16(0, "fatbin entry kind")? {
            1 => EntryKind::Ptx,
            2 => EntryKind::Cubin,
            other => EntryKind::Other(other),
        },
        sm: Sm {
            number: header.u32(28, "fatbin SM number")?,
            suffix: if flags & FLAG_EXACT != 0 {
                Suffix::Exact
            } else if flags & FLAG_FAMILY != 0 {
                Suffix::Family
            } else {
                Suffix::Plain
            },
        },
        version: PtxIsa {
            minor: header.u16(24, "fatbin version")?,
            major: header.u16(26, "fatbin version")?,
        },
        compression,
        payload,
        unpacked_size: match compression {
            Compression::None => payload.len(),
            _ => header.u64(56, "fatbin uncompressed size")?,
        },
    };
    Ok((entry, header_size.saturating_add(padded)))
}

#[cfg(test)]
mod tests;
