//! Clang's compressed offload bundle, `CCOB`: a header, and a bundle that zlib or zstd packed.
//!
//! Versions 2 and 3 tell the length of the whole, and readers have to step by that: the packed bytes
//! may contain `CCOB` themselves. Version 1 does not tell it; there the packed stream's own end does.
//! Source: clang's documentation of `clang-offload-bundler`.

use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::image::Compression;

/// The first four bytes.
pub const MAGIC: &[u8] = b"CCOB";

/// A compressed bundle whose header has been read.
#[derive(Debug, Clone, Copy)]
pub struct Compressed<'a> {
    /// How the bundle is packed.
    pub compression: Compression,
    /// The packed bytes; in version 1 everything up to the end of what was given.
    pub payload: Bytes<'a>,
    /// Its length in bytes, header included; `None` in version 1, which does not tell.
    pub length: Option<u64>,
    /// The header's length.
    pub header: u64,
    /// The size of the bundle when unpacked.
    pub unpacked_size: u64,
}

/// Reads the header at the start of `bytes`; other bytes may follow the bundle.
///
/// # Errors
/// Another magic, version or method; a length that reaches outside.
pub fn parse(bytes: Bytes<'_>) -> Result<Compressed<'_>> {
    const WHAT: &str = "compressed offload bundle";
    let head = bytes.slice(0, 8, WHAT)?;
    if !head.data().starts_with(MAGIC) {
        return Err(Error::malformed(
            WHAT,
            bytes.base(),
            "it does not start with CCOB",
        ));
    }
    let version = head.u16(4, WHAT)?;
    let (header, length, unpacked_size) = match version {
        1 => (20, None, u64::from(bytes.u32(8, WHAT)?)),
        2 => (
            24,
            Some(u64::from(bytes.u32(8, WHAT)?)),
            u64::from(bytes.u32(12, WHAT)?),
        ),
        3 => (32, Some(bytes.u64(8, WHAT)?), bytes.u64(16, WHAT)?),
        other => {
            return Err(Error::unsupported(
                WHAT,
                bytes.file_offset(4),
                format!("version {other}, and only 1 to 3 are known"),
            ))
        }
    };
    let compression = match head.u16(6, WHAT)? {
        0 => Compression::Zlib,
        1 => Compression::Zstd,
        other => {
            return Err(Error::unsupported(
                WHAT,
                bytes.file_offset(6),
                format!("method {other} is neither zlib (0) nor zstd (1)"),
            ))
        }
    };
    bytes.slice(0, header, WHAT)?;
    let payload = match length {
        None => bytes.tail(header),
        Some(length) => {
            let size = length.checked_sub(header).ok_or_else(|| {
                Error::malformed(
                    WHAT,
                    bytes.file_offset(8),
                    format!("its length is {length}, less than the header takes"),
                )
            })?;
            bytes.slice(header, size, WHAT)?
        }
    };
    Ok(Compressed {
        compression,
        payload,
        length,
        header,
        unpacked_size,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(version: u16, method: u16, words: &[u8]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&version.to_le_bytes());
        out.extend_from_slice(&method.to_le_bytes());
        out.extend_from_slice(words);
        out
    }

    #[test]
    fn three_versions() {
        let hash = [9; 8];
        let one = [&[5, 0, 0, 0][..], &hash, b"packed"].concat();
        let two = [&[30, 0, 0, 0, 5, 0, 0, 0][..], &hash, b"packedCCOB"].concat();
        let three = [
            &38_u64.to_le_bytes()[..],
            &5_u64.to_le_bytes(),
            &hash,
            b"packedCCOB",
        ]
        .concat();
        for (version, words, length) in [(1, one, None), (2, two, Some(30)), (3, three, Some(38))] {
            let bytes = header(version, version & 1, &words);
            let found = parse(Bytes::new(&bytes)).unwrap();
            assert_eq!(found.payload.data(), b"packed");
            assert_eq!((found.length, found.unpacked_size), (length, 5));
            let method = [Compression::Zlib, Compression::Zstd][usize::from(version & 1)];
            assert_eq!(found.compression, method);
        }
    }

    #[test]
    fn what_is_not_known_is_told_with_its_place() {
        for (bytes, offset) in [
            (header(4, 0, &[0; 24]), 4),
            (header(0, 0, &[0; 24]), 4),
            (header(2, 2, &[30; 24]), 6),
            (header(2, 0, &[1; 24]), 24),
            (header(2, 0, &[0; 24]), 8),
            (header(3, 0, &[0; 3]), 8),
            (header(1, 0, &[0; 4]), 0),
            (b"CC0B\0\0\0\0".to_vec(), 0),
        ] {
            assert_eq!(parse(Bytes::new(&bytes)).unwrap_err().offset(), offset);
        }
    }
}
