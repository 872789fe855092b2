//! As much of MessagePack as the metadata note of AMD code objects takes: a reader that finds
//! values by their keys and skips the rest. Source: the MessagePack specification.

use crate::bytes::Bytes;
use crate::error::{Error, Result};

const WHAT: &str = "MessagePack metadata";
/// Deeper nesting than any compiler writes is refused.
const MAX_DEPTH: u32 = 32;

/// A place in a MessagePack document.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    bytes: Bytes<'a>,
    at: u64,
}

/// The start of a value: its head has been read, and for strings its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// Text.
    Str(&'a str),
    /// A list; that many values follow.
    Array(u64),
    /// A map; that many pairs of values follow.
    Map(u64),
    /// Any other value; it has been skipped.
    Other,
}

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    #[must_use]
    pub fn new(bytes: Bytes<'a>) -> Self {
        Self { bytes, at: 0 }
    }

    /// Reads one value, or the head of a list or map.
    ///
    /// # Errors
    /// The document ends, uses the one tag that is not defined, or holds text that is not UTF-8.
    pub fn value(&mut self) -> Result<Value<'a>> {
        let start = self.at;
        let tag = self.uint(1)?;
        match tag {
            0x00..=0x7f | 0xc0 | 0xc2 | 0xc3 | 0xe0..=0xff => Ok(Value::Other),
            0x80..=0x8f => Ok(Value::Map(tag & 0xf)),
            0x90..=0x9f => Ok(Value::Array(tag & 0xf)),
            0xa0..=0xbf => self.text(tag & 0x1f),
            0xc4..=0xc6 => {
                let length = self.uint(1 << (tag - 0xc4))?;
                self.skip(length)
            }
            0xc7..=0xc9 => {
                let length = self.uint(1 << (tag - 0xc7))?;
                self.skip(length.saturating_add(1))
            }
            0xca => self.skip(4),
            0xcb => self.skip(8),
            0xcc..=0xcf => self.skip(1 << (tag - 0xcc)),
            0xd0..=0xd3 => self.skip(1 << (tag - 0xd0)),
            0xd4..=0xd8 => self.skip((1 << (tag - 0xd4)) + 1),
            0xd9..=0xdb => {
                let length = self.uint(1 << (tag - 0xd9))?;
                self.text(length)
            }
            0xdc | 0xdd => Ok(Value::Array(self.uint(2 << (tag - 0xdc))?)),
            0xde | 0xdf => Ok(Value::Map(self.uint(2 << (tag - 0xde))?)),
            _ => Err(Error::malformed(
                WHAT,
                self.bytes.file_offset(start),
                format!("{tag:#x} starts no value"),
            )),
        }
    }

    /// Reads one value for what `wanted` makes of it; a value of which that makes nothing is skipped
    /// with everything inside it, as if nobody had looked.
    ///
    /// # Errors
    /// As [`Reader::skip_value`].
    pub fn value_as<T>(
        &mut self,
        wanted: impl FnOnce(Value<'a>) -> Option<T>,
    ) -> Result<Option<T>> {
        let before = *self;
        let found = wanted(self.value()?);
        if found.is_none() {
            *self = before;
            self.skip_value()?;
        }
        Ok(found)
    }

    /// Skips one value with everything inside it.
    ///
    /// # Errors
    /// As [`Reader::value`]; nesting beyond 32 levels.
    pub fn skip_value(&mut self) -> Result<()> {
        self.skip_nested(0)
    }

    fn skip_nested(&mut self, depth: u32) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(Error::malformed(
                WHAT,
                self.bytes.file_offset(self.at),
                "it is nested too deeply",
            ));
        }
        let inner = match self.value()? {
            Value::Array(count) => count,
            Value::Map(count) => count.saturating_mul(2),
            Value::Str(_) | Value::Other => 0,
        };
        // Each turn reads at least one byte or fails, so a large count cannot run on.
        for _ in 0..inner {
            self.skip_nested(depth + 1)?;
        }
        Ok(())
    }

    /// Reads a big-endian number of `width` bytes, at most eight.
    fn uint(&mut self, width: u64) -> Result<u64> {
        let found = self.bytes.slice(self.at, width, WHAT)?;
        self.at += width;
        Ok(found
            .data()
            .iter()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    fn text(&mut self, length: u64) -> Result<Value<'a>> {
        let found = self.bytes.slice(self.at, length, WHAT)?;
        self.at += length;
        std::str::from_utf8(found.data())
            .map(Value::Str)
            .map_err(|_| Error::malformed(WHAT, found.base(), "text that is not UTF-8"))
    }

    fn skip(&mut self, length: u64) -> Result<Value<'a>> {
        self.bytes.slice(self.at, length, WHAT)?;
        self.at += length;
        Ok(Value::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_and_skips() {
        let document = [
            0x82, 0xa1, b'a', 0x92, 0xcd, 1, 2, 0xc3, 0xd9, 1, b'b', 0x07,
        ];
        let mut reader = Reader::new(Bytes::new(&document));
        assert_eq!(reader.value(), Ok(Value::Map(2)));
        assert_eq!(reader.value(), Ok(Value::Str("a")));
        reader.skip_value().unwrap();
        assert_eq!(reader.value(), Ok(Value::Str("b")));
        assert_eq!(reader.value(), Ok(Value::Other));
        assert!(reader.value().is_err());
    }

    #[test]
    fn hostile_counts_and_depths_end() {
        let huge = [0xdd, 0xff, 0xff, 0xff, 0xff, 1];
        assert!(Reader::new(Bytes::new(&huge)).skip_value().is_err());
        let deep = [0x91; 4096];
        assert!(Reader::new(Bytes::new(&deep)).skip_value().is_err());
        assert_eq!(
            Reader::new(Bytes::new(&[0xc1]))
                .value()
                .unwrap_err()
                .offset(),
            0
        );
    }
}
