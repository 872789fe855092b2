//! Makes structured values out of the bytes of a fuzzer.
//!
//! A dozen lines in place of the crate `arbitrary`, so that the ordinary tests run the same bodies
//! without one more crate.

/// What is left of the bytes. Where they are used up, it gives zeros and empty texts.
pub struct Take<'a>(&'a [u8]);

impl<'a> Take<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    pub fn u8(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }

    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.u8(), self.u8()])
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::from(self.u8()) % all.len()]
    }

    pub fn bytes(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Some bytes, their number among them.
    pub fn blob(&mut self) -> &'a [u8] {
        let length = usize::from(self.u16());
        self.bytes(length)
    }

    /// A text without NUL: what the bytes have of one at their start.
    pub fn text(&mut self) -> &'a str {
        let length = usize::from(self.u8());
        let bytes = self.bytes(length);
        let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        let valid = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
        std::str::from_utf8(&bytes[..valid]).unwrap_or_default()
    }

    /// Several of something, at most eight.
    pub fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.u8() % 9).map(|_| one(self)).collect()
    }
}
