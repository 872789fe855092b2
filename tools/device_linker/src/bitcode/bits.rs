//! LLVM's bitstream container: bits are taken from the low end of little-endian words.

use super::BitcodeError;

/// How one operand of an abbreviated record is stored.
#[derive(Debug, Clone, Copy)]
pub enum Encoding {
    Literal(u64),
    Fixed(u64),
    Vbr(u64),
    Array,
    Char6,
    Blob,
}

const CHAR6: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
const MAX_SHAPE: u64 = 64;

pub struct Bits<'a> {
    bytes: &'a [u8],
    at: u64,
}

impl<'a> Bits<'a> {
    pub fn new(bytes: &'a [u8], at: u64) -> Self {
        Bits { bytes, at }
    }

    pub fn at(&self) -> u64 {
        self.at
    }

    pub fn malformed(&self, what: &'static str) -> BitcodeError {
        BitcodeError::Malformed { at: self.at, what }
    }

    /// `width` bits, 64 at most.
    pub fn fixed(&mut self, width: u64) -> Result<u64, BitcodeError> {
        if width > 64 {
            return Err(self.malformed("a field wider than 64 bits"));
        }
        let mut value = 0;
        for shift in 0..width {
            let byte = usize::try_from(self.at / 8)
                .ok()
                .and_then(|index| self.bytes.get(index))
                .ok_or(BitcodeError::Truncated(self.at))?;
            value |= u64::from(byte >> (self.at % 8) & 1) << shift;
            self.at += 1;
        }
        Ok(value)
    }

    /// A number in chunks of `width` bits, whose top bit says that another chunk follows.
    pub fn vbr(&mut self, width: u64) -> Result<u64, BitcodeError> {
        if !(2..=32).contains(&width) {
            return Err(self.malformed("a variable width out of range"));
        }
        let more = 1 << (width - 1);
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let chunk = self.fixed(width)?;
            if shift >= 64 {
                return Err(self.malformed("a number larger than 64 bits"));
            }
            value |= (chunk & (more - 1)) << shift;
            if chunk & more == 0 {
                return Ok(value);
            }
            shift += width - 1;
        }
    }

    /// Goes on to the next 32-bit word.
    pub fn align(&mut self) {
        self.at = self.at.next_multiple_of(32);
    }

    /// The body of a DEFINE_ABBREV.
    pub fn abbreviation(&mut self) -> Result<Vec<Encoding>, BitcodeError> {
        let count = self.vbr(5)?;
        if count > MAX_SHAPE {
            return Err(self.malformed("an abbreviation with too many operands"));
        }
        let mut shape = Vec::new();
        for _ in 0..count {
            shape.push(if self.fixed(1)? == 1 {
                Encoding::Literal(self.vbr(8)?)
            } else {
                match self.fixed(3)? {
                    1 => Encoding::Fixed(self.vbr(5)?),
                    2 => Encoding::Vbr(self.vbr(5)?),
                    3 => Encoding::Array,
                    4 => Encoding::Char6,
                    5 => Encoding::Blob,
                    _ => return Err(self.malformed("an unknown operand encoding")),
                }
            });
        }
        Ok(shape)
    }

    /// A record without an abbreviation, as its code and operands.
    pub fn unabbreviated(&mut self, max: u64) -> Result<Vec<u64>, BitcodeError> {
        let code = self.vbr(6)?;
        let count = self.count(max)?;
        let mut record = vec![code];
        for _ in 0..count {
            record.push(self.vbr(6)?);
        }
        Ok(record)
    }

    /// A record in the form that `shape` gives, as its code and operands.
    pub fn abbreviated(&mut self, shape: &[Encoding], max: u64) -> Result<Vec<u64>, BitcodeError> {
        let mut record = Vec::new();
        let mut rest = shape.iter();
        while let Some(&encoding) = rest.next() {
            match encoding {
                Encoding::Array => {
                    let Some(&element) = rest.next() else {
                        return Err(self.malformed("an array without an element type"));
                    };
                    for _ in 0..self.count(max)? {
                        record.push(self.scalar(element)?);
                    }
                }
                // No identification record is one; its end is not needed either.
                Encoding::Blob => return Err(self.malformed("a blob in a record of numbers")),
                scalar => record.push(self.scalar(scalar)?),
            }
        }
        Ok(record)
    }

    fn count(&mut self, max: u64) -> Result<u64, BitcodeError> {
        match self.vbr(6)? {
            count if count <= max => Ok(count),
            _ => Err(self.malformed("a record with too many operands")),
        }
    }

    fn scalar(&mut self, encoding: Encoding) -> Result<u64, BitcodeError> {
        match encoding {
            Encoding::Literal(value) => Ok(value),
            Encoding::Fixed(width) => self.fixed(width),
            // LLVM writes a width of zero for operands that are always zero.
            Encoding::Vbr(0) => Ok(0),
            Encoding::Vbr(width) => self.vbr(width),
            Encoding::Char6 => Ok(u64::from(CHAR6[self.fixed(6)? as usize & 63])),
            Encoding::Array | Encoding::Blob => Err(self.malformed("an array of arrays")),
        }
    }
}
