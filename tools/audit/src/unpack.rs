//! Unpacks LZ4 blocks, zstd frames and zlib streams, never to more than a limit.

use std::io::Read;

use flate2::read::ZlibDecoder;
use offload_image::bytes::Bytes;
use offload_image::image::Compression;
use offload_image::{Error, Result};

pub use zstd::{pack as zstd_frame, MAGIC as ZSTD_MAGIC};

mod lz4;
mod zstd;

/// What came out, and how much went in.
#[derive(Debug)]
pub struct Unpacked {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// How many packed bytes they took; more may follow.
    pub taken: u64,
}

/// Unpacks what is said to have `size` bytes, the whole of `packed`.
///
/// # Errors
/// Malformed data, data of another size, a size above `limit`, bytes left over that are not zero.
pub fn unpack(
    compression: Compression,
    packed: Bytes<'_>,
    size: u64,
    limit: u64,
) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    unpack_into(&mut out, compression, packed, size, limit)?;
    Ok(out)
}

/// As [`unpack`], in place of what is in a buffer: memory that was used before is there at once.
///
/// # Errors
/// Those of [`unpack`]; what is in the buffer then is of no use.
pub fn unpack_into(
    out: &mut Vec<u8>,
    compression: Compression,
    packed: Bytes<'_>,
    size: u64,
    limit: u64,
) -> Result<()> {
    let taken = match compression {
        Compression::Lz4 => return lz4::block(packed, within(packed, size, limit)?, out),
        _ => start_into(out, compression, packed, Some(size), limit)?,
    };
    let rest = packed.tail(taken);
    if rest.data().iter().any(|byte| *byte != 0) {
        return Err(Error::malformed(
            name(compression),
            rest.base(),
            "other bytes follow it",
        ));
    }
    Ok(())
}

/// Unpacks what stands at the start of `packed`, where its own end is known to zstd or zlib.
///
/// # Errors
/// Malformed data, data of another size than told, a size above `limit`.
pub fn unpack_start(
    compression: Compression,
    packed: Bytes<'_>,
    size: Option<u64>,
    limit: u64,
) -> Result<Unpacked> {
    let mut bytes = Vec::new();
    let taken = start_into(&mut bytes, compression, packed, size, limit)?;
    Ok(Unpacked { bytes, taken })
}

fn start_into(
    out: &mut Vec<u8>,
    compression: Compression,
    packed: Bytes<'_>,
    size: Option<u64>,
    limit: u64,
) -> Result<u64> {
    let allowed = match size {
        Some(size) => within(packed, size, limit)?,
        None => limit,
    };
    out.clear();
    let taken = match compression {
        Compression::Zstd => zstd::frames(packed, size, allowed, out)?,
        Compression::Zlib => {
            let mut decoder = ZlibDecoder::new(packed.data());
            read(&mut decoder, allowed, out)
                .map_err(|why| Error::malformed("zlib stream", packed.base(), why))?;
            decoder.total_in()
        }
        Compression::None | Compression::Lz4 | Compression::Unknown => {
            return Err(Error::unsupported(
                "compressed data",
                packed.base(),
                "how it is packed is not known",
            ))
        }
    };
    // What is found beyond one byte too many depends on the buffer.
    let length = allowed.saturating_add(1).min(out.len() as u64);
    match size {
        Some(size) if size != length => {
            let more = if length > size { " or more" } else { "" };
            Err(Error::malformed(
                name(compression),
                packed.base(),
                format!("it unpacks to {length} bytes{more}, and not to {size} as told"),
            ))
        }
        None if length > limit => Err(too_large(packed, length, limit)),
        _ => Ok(taken),
    }
}

/// The first bytes of what is unpacked: at least `wanted` where there are so many.
///
/// # Errors
/// Malformed data, a size above `limit` where all of it has to be unpacked.
pub fn unpack_head(
    compression: Compression,
    packed: Bytes<'_>,
    size: u64,
    limit: u64,
    wanted: u64,
) -> Result<Vec<u8>> {
    match compression {
        Compression::Zstd => zstd::head(packed, wanted),
        Compression::Lz4 => lz4::head(packed, size.min(wanted)),
        _ => unpack(compression, packed, size, limit),
    }
}

fn name(compression: Compression) -> &'static str {
    match compression {
        Compression::Lz4 => "LZ4 block",
        Compression::Zstd => "zstd frame",
        Compression::Zlib => "zlib stream",
        Compression::None | Compression::Unknown => "compressed data",
    }
}

fn within(packed: Bytes<'_>, size: u64, limit: u64) -> Result<u64> {
    if size > limit {
        return Err(too_large(packed, size, limit));
    }
    Ok(size)
}

fn too_large(packed: Bytes<'_>, size: u64, limit: u64) -> Error {
    Error::unsupported(
        "compressed data",
        packed.base(),
        format!(
            "it unpacks to {size} bytes or more, and the limit is {limit}: see max-unpacked-bytes"
        ),
    )
}

/// Reads at most one byte more than allowed, by which the caller knows. The buffer grows with what
/// is really there.
fn read(from: &mut impl Read, allowed: u64, out: &mut Vec<u8>) -> std::result::Result<(), String> {
    let left = allowed.saturating_sub(out.len() as u64);
    from.take(left.saturating_add(1))
        .read_to_end(out)
        .map(|_| ())
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
