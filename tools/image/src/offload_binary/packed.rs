//! The compressed form of version 3: the header, and everything behind it as one zstd or zlib blob.

use super::{HEADER, MAGIC};
use crate::bytes::Bytes;
use crate::error::{Error, Result};

/// The header of version 3 with the inflated size.
const HEADER_V3: u64 = 40;

/// A compressed binary whose header has been read.
#[derive(Debug, Clone, Copy)]
pub struct Packed<'a> {
    header: Bytes<'a>,
    /// The packed bytes.
    pub body: Bytes<'a>,
    /// The size of the body when unpacked.
    pub unpacked_size: u64,
    /// Its length in bytes as stored, header included.
    pub length: u64,
}

impl<'a> Packed<'a> {
    /// Reads the header at the start of `bytes`; `None` for a binary that is not compressed, and
    /// for what is no binary at all.
    ///
    /// # Errors
    /// Sizes that contradict each other or reach outside.
    pub fn parse(bytes: Bytes<'a>) -> Result<Option<Self>> {
        if !bytes.data().starts_with(MAGIC) || bytes.u32(4, "OffloadBinary version")? != 3 {
            return Ok(None);
        }
        let inflated = bytes.u64(32, "OffloadBinary inflated size")?;
        if inflated == 0 {
            return Ok(None);
        }
        let length = bytes.u64(8, "OffloadBinary size")?;
        let start = bytes.u64(16, "OffloadBinary entries offset")?;
        let whole = bytes.slice(0, length, "OffloadBinary")?;
        let wrong = |offset, why| Error::malformed("OffloadBinary", bytes.file_offset(offset), why);
        // Were the header longer, it would be a version that is not known.
        if start != HEADER_V3 {
            let why = format!("the compressed part starts at {start}, and not at {HEADER_V3}");
            return Err(wrong(16, why));
        }
        let size = length.checked_sub(start).ok_or_else(|| {
            let why = format!("its size is {length}, less than the header takes");
            wrong(8, why)
        })?;
        let unpacked_size = inflated.checked_sub(start).ok_or_else(|| {
            let why = format!("its inflated size is {inflated}, less than the header takes");
            wrong(32, why)
        })?;
        Ok(Some(Self {
            header: whole.slice(0, start, "OffloadBinary header")?,
            body: whole.slice(start, size, "OffloadBinary body")?,
            unpacked_size,
            length,
        }))
    }

    /// The binary as it was before compression, given the unpacked body.
    #[must_use]
    pub fn restore(&self, body: &[u8]) -> Vec<u8> {
        let mut out = self.header.data().to_vec();
        let size = self.header.len().saturating_add(body.len() as u64);
        for (start, value) in [(8, size), (HEADER as usize, 0)] {
            if let Some(field) = out.get_mut(start..start + 8) {
                field.copy_from_slice(&value.to_le_bytes());
            }
        }
        out.extend_from_slice(body);
        out
    }
}
