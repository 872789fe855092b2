//! LLVM's OffloadBinary: images with key-value strings, several in a row.
//!
//! Version 1 holds one image and several stand one after another; version 2 holds several; version
//! 3 may be compressed. [`Packed`] tells a compressed one, and whoever has a decompressor restores
//! it; to [`OffloadBinary::parse`] it is an error. Source: LLVM's `OffloadBinary.h`.
//!
//! The build writes version 1: every LLVM that knows the format reads it, and LLVM 22 writes it too.
//! LLVM 22 refuses the later versions, so that what we write of version 2 is held against our own
//! reader alone.

mod packed;
mod write;

pub use packed::Packed;
pub use write::{write, write_to, write_v2, NewImage};

use crate::bytes::Bytes;
use crate::error::{Error, Result};

/// The first four bytes.
pub const MAGIC: &[u8] = &[0x10, 0xff, 0x10, 0xad];
/// Every binary starts at a multiple of this, and so does every image that we write.
pub const ALIGN: u64 = 8;

const HEADER: u64 = 32;
const ENTRY: u64 = 40;
const NEWEST: u32 = 3;
const METADATA_ONLY: u32 = 1;

/// `ImageKind` of LLVM.
pub mod image_kind {
    /// An object file: AMD code objects are.
    pub const OBJECT: u16 = 1;
    /// LLVM bitcode.
    pub const BITCODE: u16 = 2;
    /// A cubin.
    pub const CUBIN: u16 = 3;
    /// A fatbin.
    pub const FATBIN: u16 = 4;
    /// PTX text.
    pub const PTX: u16 = 5;
    /// SPIR-V.
    pub const SPIRV: u16 = 6;
}

/// `OffloadKind` of LLVM: which language's runtime the image is for.
pub mod offload_kind {
    /// CUDA.
    pub const CUDA: u16 = 2;
    /// HIP.
    pub const HIP: u16 = 4;
}

/// One image of a binary.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// One of [`image_kind`], or a number that is not known.
    pub image_kind: u16,
    /// One of [`offload_kind`], or another bit mask.
    pub offload_kind: u16,
    /// The keys and values, in order.
    pub strings: Vec<(&'a str, &'a str)>,
    /// The image; `None` for an entry that only carries strings.
    pub image: Option<Bytes<'a>>,
}

impl<'a> Entry<'a> {
    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.strings
            .iter()
            .find(|(found, _)| *found == key)
            .map(|(_, value)| *value)
    }
}

/// One binary.
#[derive(Debug, Clone)]
pub struct OffloadBinary<'a> {
    /// Its images, in order.
    pub entries: Vec<Entry<'a>>,
    /// Where it starts in the file.
    pub offset: u64,
    /// Its length in bytes, padding included.
    pub length: u64,
}

impl<'a> OffloadBinary<'a> {
    /// Reads the binary at the start of `bytes`; other bytes may follow it.
    ///
    /// # Errors
    /// Another magic, a version above 3, compression, offsets that lead outside.
    pub fn parse(bytes: Bytes<'a>) -> Result<Self> {
        let header = bytes.slice(0, HEADER, "OffloadBinary header")?;
        if !header.data().starts_with(MAGIC) {
            return Err(Error::malformed(
                "OffloadBinary",
                bytes.base(),
                "it does not start with the magic 10 ff 10 ad",
            ));
        }
        let version = header.u32(4, "OffloadBinary version")?;
        if version == 0 || version > NEWEST {
            return Err(Error::unsupported(
                "OffloadBinary",
                bytes.file_offset(4),
                format!("version {version}, and only 1 to {NEWEST} are known"),
            ));
        }
        let length = header.u64(8, "OffloadBinary size")?;
        if length < HEADER {
            return Err(Error::malformed(
                "OffloadBinary size",
                bytes.file_offset(8),
                format!("it is {length}, less than the header takes"),
            ));
        }
        let whole = bytes.slice(0, length, "OffloadBinary")?;
        if version >= 3 && whole.u64(32, "OffloadBinary inflated size")? != 0 {
            return Err(Error::unsupported(
                "OffloadBinary",
                bytes.file_offset(32),
                "it is compressed, which is not unpacked here",
            ));
        }
        let first = whole.u64(16, "OffloadBinary entries offset")?;
        // In version 1 the count's place holds the size of the one entry.
        let count = match version {
            1 => 1,
            _ => whole.u64(24, "OffloadBinary entry count")?,
        };
        let size = count.checked_mul(ENTRY).ok_or_else(|| {
            Error::malformed(
                "OffloadBinary entry count",
                bytes.file_offset(24),
                "it is too large",
            )
        })?;
        let table = whole.slice(first, size, "OffloadBinary entries")?;
        let mut entries = Vec::new();
        let mut budget = Budget {
            strings: whole.len(),
            texts: whole.len().saturating_mul(4),
            images: whole.len(),
        };
        for index in 0..count {
            let raw = table.slice(index * ENTRY, ENTRY, "OffloadBinary entry")?;
            entries.push(entry(whole, raw, version, &mut budget)?);
        }
        Ok(Self {
            entries,
            offset: bytes.base(),
            length,
        })
    }

    /// Reads every binary of a section or file: one after another, each at a multiple of 8, with
    /// nothing but zeros between.
    ///
    /// # Errors
    /// As [`OffloadBinary::parse`]; other bytes between or after them.
    pub fn parse_all(bytes: Bytes<'a>) -> Result<Vec<Self>> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let rest = bytes.tail(at);
            let word = rest.data().get(..8).unwrap_or(rest.data());
            if word.iter().all(|byte| *byte == 0) {
                at += ALIGN;
                continue;
            }
            let binary = Self::parse(rest)?;
            at = at.saturating_add(align(binary.length));
            found.push(binary);
        }
        Ok(found)
    }
}

/// Entries may point at the same bytes, so hostile input could list them without end. In an honest
/// file neither the string tables nor the images together are larger than the file. Texts may be a
/// little: LLVM's writer stores equal ones once.
struct Budget {
    strings: u64,
    texts: u64,
    images: u64,
}

fn entry<'a>(
    whole: Bytes<'a>,
    raw: Bytes<'a>,
    version: u32,
    budget: &mut Budget,
) -> Result<Entry<'a>> {
    let strings_at = raw.u64(8, "OffloadBinary entry")?;
    let count = raw.u64(16, "OffloadBinary entry")?;
    let width = if version == 1 { 16 } else { 24 };
    let too_many = || {
        Error::malformed(
            "OffloadBinary string count",
            raw.file_offset(16),
            format!("{count} strings do not fit"),
        )
    };
    let size = count.checked_mul(width).ok_or_else(too_many)?;
    budget.strings = budget.strings.checked_sub(size).ok_or_else(too_many)?;
    let table = whole.slice(strings_at, size, "OffloadBinary strings")?;
    let mut strings = Vec::new();
    for index in 0..count {
        let pair = table.slice(index * width, width, "OffloadBinary string")?;
        let key = whole.c_str(pair.u64(0, "OffloadBinary key")?, "OffloadBinary key")?;
        let value_at = pair.u64(8, "OffloadBinary value")?;
        let value = if version == 1 {
            whole.c_str(value_at, "OffloadBinary value")?
        } else {
            let length = pair.u64(16, "OffloadBinary value")?;
            let value = whole.slice(value_at, length, "OffloadBinary value")?;
            std::str::from_utf8(value.data()).map_err(|_| {
                Error::malformed("OffloadBinary value", value.base(), "it is not UTF-8")
            })?
        };
        let cost = (key.len() as u64).saturating_add(value.len() as u64);
        budget.texts = budget.texts.checked_sub(cost).ok_or_else(|| {
            let why = "the strings are too long together";
            Error::malformed("OffloadBinary string", pair.base(), why)
        })?;
        strings.push((key, value));
    }
    let flags = raw.u32(4, "OffloadBinary entry")?;
    let image = if flags & METADATA_ONLY != 0 {
        None
    } else {
        let (at, size) = (
            raw.u64(24, "OffloadBinary entry")?,
            raw.u64(32, "OffloadBinary entry")?,
        );
        let image = whole.slice(at, size, "OffloadBinary image")?;
        budget.images = budget.images.checked_sub(size).ok_or_else(|| {
            Error::malformed("OffloadBinary image", image.base(), "images overlap")
        })?;
        Some(image)
    };
    Ok(Entry {
        image_kind: raw.u16(0, "OffloadBinary entry")?,
        offload_kind: raw.u16(2, "OffloadBinary entry")?,
        strings,
        image,
    })
}

fn align(length: u64) -> u64 {
    length.saturating_add(ALIGN - 1) & !(ALIGN - 1)
}

#[cfg(test)]
mod tests;
