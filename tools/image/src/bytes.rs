//! Bounds-checked little-endian reads that know where in the file they are.
//!
//! Every format here is little-endian. Offsets and lengths come from the input as `u64` and are
//! never trusted: no addition may wrap, and no slice is taken before its bounds are known.

use crate::error::{Error, Result};

/// No string of any format here is longer. The limit keeps tables of pointers into one long string
/// from costing their product.
const MAX_STRING: usize = 1 << 16;

/// A window of the input, with the file offset of its first byte for error messages.
#[derive(Debug, Clone, Copy)]
pub struct Bytes<'a> {
    data: &'a [u8],
    base: u64,
}

impl<'a> Bytes<'a> {
    /// The whole input.
    #[must_use]
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, base: 0 }
    }

    /// The bytes themselves.
    #[must_use]
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// File offset of the first byte.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.data.len() as u64
    }

    /// Whether there is no byte at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// File offset of a place inside this window.
    #[must_use]
    pub fn file_offset(&self, offset: u64) -> u64 {
        self.base.saturating_add(offset)
    }

    /// `len` bytes from `offset` on.
    pub fn slice(&self, offset: u64, len: u64, what: &'static str) -> Result<Bytes<'a>> {
        let found = offset
            .checked_add(len)
            .filter(|end| *end <= self.len())
            .and_then(|end| {
                let (start, end) = (usize::try_from(offset).ok()?, usize::try_from(end).ok()?);
                self.data.get(start..end)
            });
        match found {
            Some(data) => Ok(Bytes {
                data,
                base: self.file_offset(offset),
            }),
            None => Err(Error::Truncated {
                what,
                offset: self.file_offset(offset),
                need: len,
                have: self.len().saturating_sub(offset),
            }),
        }
    }

    /// Everything from `offset` on; empty where `offset` lies beyond the end.
    #[must_use]
    pub fn tail(&self, offset: u64) -> Bytes<'a> {
        let start = usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(self.data.len());
        Bytes {
            data: self.data.get(start..).unwrap_or_default(),
            base: self.base.saturating_add(start as u64),
        }
    }

    fn array<const N: usize>(&self, offset: u64, what: &'static str) -> Result<[u8; N]> {
        let found = self.slice(offset, N as u64, what)?;
        let mut out = [0; N];
        out.copy_from_slice(found.data);
        Ok(out)
    }

    /// One byte.
    pub fn u8(&self, offset: u64, what: &'static str) -> Result<u8> {
        Ok(self.array::<1>(offset, what)?[0])
    }

    /// Two bytes, little-endian.
    pub fn u16(&self, offset: u64, what: &'static str) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array(offset, what)?))
    }

    /// Four bytes, little-endian.
    pub fn u32(&self, offset: u64, what: &'static str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(offset, what)?))
    }

    /// Eight bytes, little-endian.
    pub fn u64(&self, offset: u64, what: &'static str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(offset, what)?))
    }

    /// A NUL-terminated string of UTF-8 that starts at `offset`.
    pub fn c_str(&self, offset: u64, what: &'static str) -> Result<&'a str> {
        // A text that starts outside is not one without an end.
        self.slice(offset, 1, what)?;
        let tail = self.tail(offset).data;
        let tail = tail.get(..MAX_STRING).unwrap_or(tail);
        let wrong = |why| Error::malformed(what, self.file_offset(offset), why);
        let text = memchr::memchr(0, tail)
            .and_then(|length| tail.get(..length))
            .ok_or_else(|| wrong("it does not end"))?;
        std::str::from_utf8(text).map_err(|_| wrong("it is not UTF-8"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_stay_inside() {
        let bytes = Bytes::new(&[1, 2, 3, 4, b'a', 0]);
        assert_eq!(bytes.u32(0, "x"), Ok(0x0403_0201));
        assert_eq!(bytes.c_str(4, "x"), Ok("a"));
        assert_eq!(
            bytes.u64(4, "a field"),
            Err(Error::Truncated {
                what: "a field",
                offset: 4,
                need: 8,
                have: 2
            })
        );
        for outside in [6, 0x464c_47b8] {
            let error = bytes.c_str(outside, "a name").unwrap_err();
            assert_eq!(
                error,
                Error::Truncated {
                    what: "a name",
                    offset: outside,
                    need: 1,
                    have: 0
                }
            );
        }
        assert!(bytes.c_str(3, "x").is_ok() && Bytes::new(b"abc").c_str(0, "x").is_err());
        assert!(bytes.slice(u64::MAX, 2, "x").is_err());
        assert!(bytes.slice(7, 0, "x").is_err());
        assert!(bytes.slice(6, 0, "x").is_ok());
        assert!(bytes.tail(u64::MAX).is_empty());
    }

    #[test]
    fn offsets_count_from_the_file() {
        let bytes = Bytes::new(&[0; 16]);
        let inner = bytes.slice(8, 8, "x").unwrap();
        assert_eq!(inner.u32(6, "x").unwrap_err().offset(), 14);
    }
}
