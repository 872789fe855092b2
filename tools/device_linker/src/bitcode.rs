//! Who wrote a bitcode file, read from its identification block.
//!
//! LLVM reads older bitcode but not newer, and what it says on newer bitcode ("Unknown attribute
//! kind (105)") names neither version. So both are compared before, and this reads the one that is
//! in the file. The block stands first, so a prefix of the file ([`PREFIX`]) is enough.

mod bits;
#[cfg(test)]
mod tests;

use thiserror::Error;

use bits::{Bits, Encoding};

/// How much of a file holds its identification block, with much room to spare.
pub const PREFIX: u64 = 4096;

const MAGIC: [u8; 4] = *b"BC\xC0\xDE";
const WRAPPER: [u8; 4] = [0xDE, 0xC0, 0x17, 0x0B];
const BLOCK_IDENTIFICATION: u64 = 13;
const CODE_STRING: u64 = 1;
const CODE_EPOCH: u64 = 2;

/// Producers are a few dozen characters; this bounds what a broken file can make us keep.
const MAX_OPERANDS: u64 = 1024;
const MAX_ABBREVIATIONS: usize = 32;

/// The contents of an identification block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identification {
    /// For instance `LLVM22.1.8-rust-1.97.1-stable`.
    pub producer: String,
    pub epoch: u64,
}

impl Identification {
    /// The major version of LLVM, where the producer is LLVM.
    pub fn llvm_major(&self) -> Option<u32> {
        let digits = self.producer.strip_prefix("LLVM")?;
        let end = digits.find(|c: char| !c.is_ascii_digit());
        digits[..end.unwrap_or(digits.len())].parse().ok()
    }
}

/// Why a file's identification could not be read. Offsets are in bits from the file's start.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum BitcodeError {
    #[error("not LLVM bitcode")]
    Magic,
    #[error("the bitcode ends within its header, at bit {0}")]
    Truncated(u64),
    #[error("broken bitcode at bit {at}: {what}")]
    Malformed { at: u64, what: &'static str },
    #[error("the bitcode does not say who wrote it (LLVM 3.8 and later do)")]
    Anonymous,
}

/// Whether a file that begins with `bytes` is bitcode, bare or in its wrapper.
pub fn is_bitcode(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC) || bytes.starts_with(&WRAPPER)
}

/// Reads the identification block of a file that begins with `bytes`.
pub fn identify(bytes: &[u8]) -> Result<Identification, BitcodeError> {
    let start = match bytes.get(..4) {
        Some(magic) if magic == MAGIC => 0,
        Some(magic) if magic == WRAPPER => wrapped(bytes)?,
        _ => return Err(BitcodeError::Magic),
    };
    let mut bits = Bits::new(bytes, start as u64 * 8 + 32);
    if bits.fixed(2)? != 1 {
        return Err(bits.malformed("a block was expected"));
    }
    let block = bits.vbr(8)?;
    let width = bits.vbr(4)?;
    bits.align();
    let words = bits.fixed(32)?;
    if block != BLOCK_IDENTIFICATION {
        return Err(BitcodeError::Anonymous);
    }
    let end = bits.at().saturating_add(words * 32);
    records(&mut bits, width, end)
}

/// The offset that a wrapper header gives for the bitcode in it.
fn wrapped(bytes: &[u8]) -> Result<usize, BitcodeError> {
    let mut bits = Bits::new(bytes, 64);
    let offset = bits.fixed(32)? as usize;
    match bytes.get(offset..).and_then(|inner| inner.get(..4)) {
        Some(magic) if magic == MAGIC => Ok(offset),
        Some(_) => Err(bits.malformed("the wrapper does not point at bitcode")),
        None => Err(BitcodeError::Truncated(bytes.len() as u64 * 8)),
    }
}

fn records(bits: &mut Bits, width: u64, end: u64) -> Result<Identification, BitcodeError> {
    let mut producer = None;
    let mut epoch = None;
    let mut abbreviations: Vec<Vec<Encoding>> = Vec::new();
    while bits.at() < end {
        let record = match bits.fixed(width)? {
            0 => break,
            1 => return Err(bits.malformed("a block within the identification block")),
            2 if abbreviations.len() < MAX_ABBREVIATIONS => {
                abbreviations.push(bits.abbreviation()?);
                continue;
            }
            2 => return Err(bits.malformed("too many abbreviations")),
            3 => bits.unabbreviated(MAX_OPERANDS)?,
            id => match abbreviations.get(id as usize - 4) {
                Some(shape) => bits.abbreviated(shape, MAX_OPERANDS)?,
                None => return Err(bits.malformed("an abbreviation that was not defined")),
            },
        };
        match record.split_first() {
            Some((&CODE_STRING, chars)) => producer = Some(text(chars)),
            Some((&CODE_EPOCH, [value, ..])) => epoch = Some(*value),
            _ => {}
        }
    }
    match (producer, epoch) {
        (Some(producer), Some(epoch)) => Ok(Identification { producer, epoch }),
        _ => Err(BitcodeError::Anonymous),
    }
}

/// Printable characters as they are; anything else must not reach a terminal.
fn text(chars: &[u64]) -> String {
    let show = |&c: &u64| match u8::try_from(c) {
        Ok(c @ 0x20..=0x7e) => char::from(c),
        _ => '\u{fffd}',
    };
    chars.iter().map(show).collect()
}
