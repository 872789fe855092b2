//! Unpacks LZ4 blocks, zstd frames and zlib streams, never to more than a limit.

use std::io::Read;

use flate2::read::ZlibDecoder;
use offload_image::bytes::Bytes;
use offload_image::image::Compression;
use offload_image::{Error, Result};
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{compress_to_vec, CompressionLevel};

/// The first bytes of a zstd frame.
pub const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

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
    let found = match compression {
        Compression::Lz4 => return lz4(packed, within(packed, size, limit)?),
        _ => unpack_start(compression, packed, Some(size), limit)?,
    };
    let rest = packed.tail(found.taken);
    if rest.data().iter().any(|byte| *byte != 0) {
        return Err(Error::malformed(
            name(compression),
            rest.base(),
            "other bytes follow it",
        ));
    }
    Ok(found.bytes)
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
    let allowed = match size {
        Some(size) => within(packed, size, limit)?,
        None => limit,
    };
    let mut out = Vec::new();
    let taken = match compression {
        Compression::Zstd => zstd(packed, size, allowed, &mut out)?,
        Compression::Zlib => {
            let mut decoder = ZlibDecoder::new(packed.data());
            read(&mut decoder, allowed, &mut out)
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
    let length = out.len() as u64;
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
        _ => Ok(Unpacked { bytes: out, taken }),
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
    let mut out = Vec::new();
    match compression {
        Compression::Zstd => {
            let mut at = 0;
            while let Some(length) = skippable(packed.tail(at))? {
                at = at.saturating_add(length);
            }
            let rest = packed.tail(at);
            let wrong = |why: String| Error::malformed("zstd frame", rest.base(), why);
            let block = first_block(rest);
            let frame = block.as_deref().unwrap_or(rest.data());
            let mut decoder =
                StreamingDecoder::new(frame).map_err(|error| wrong(error.to_string()))?;
            read(&mut decoder, wanted, &mut out).map_err(wrong)?;
        }
        // An LZ4 block is unpacked as a whole, and fast.
        _ => out = unpack(compression, packed, size, limit)?,
    }
    Ok(out)
}

/// Packs bytes as one zstd frame: the same bytes give the same frame.
#[must_use]
pub fn zstd_frame(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
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
        format!("it unpacks to {size} bytes or more, and the limit is {limit}"),
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

/// An LZ4 block has no header: only who packed it knows its size, so the buffer is made by that.
/// A byte of LZ4 stands for at most 255, which bounds it by the input.
fn lz4(packed: Bytes<'_>, size: u64) -> Result<Vec<u8>> {
    let wrong = |why: String| Error::malformed("LZ4 block", packed.base(), why);
    if size > packed.len().saturating_mul(255) {
        let length = packed.len();
        return Err(wrong(format!("{length} bytes cannot unpack to {size}")));
    }
    let size = usize::try_from(size).map_err(|error| wrong(error.to_string()))?;
    let mut out = vec![0; size];
    let found = lz4_flex::block::decompress_into(packed.data(), &mut out)
        .map_err(|error| wrong(error.to_string()))?;
    if found != size {
        return Err(wrong(format!(
            "it unpacks to {found} bytes, and not to {size} as told"
        )));
    }
    Ok(out)
}

/// Frames one after another, skippable ones among them, up to anything else or, where the size is
/// not known, up to the end of the first.
fn zstd(packed: Bytes<'_>, size: Option<u64>, allowed: u64, out: &mut Vec<u8>) -> Result<u64> {
    let mut at = 0;
    loop {
        let rest = packed.tail(at);
        if let Some(length) = skippable(rest)? {
            at = at.saturating_add(length);
            continue;
        }
        if at > 0 && !rest.data().starts_with(ZSTD_MAGIC) {
            return Ok(at);
        }
        let wrong = |why: String| Error::malformed("zstd frame", rest.base(), why);
        let mut left = rest.data();
        let mut decoder =
            StreamingDecoder::new(&mut left).map_err(|error| wrong(error.to_string()))?;
        read(&mut decoder, allowed, out).map_err(wrong)?;
        let finished = decoder.decoder.is_finished();
        if out.len() as u64 > allowed || !finished {
            // One byte too many was asked for: the caller tells.
            return Ok(packed.len());
        }
        at = packed.len() - left.len() as u64;
        if size.is_none() {
            return Ok(at);
        }
    }
}

/// A frame of nothing but the first block of the frame at the start of the bytes. The decoder gives
/// out nothing that is still in the window, which here is often as large as the image: it would
/// unpack all of it to tell the first bytes.
fn first_block(bytes: Bytes<'_>) -> Option<Vec<u8>> {
    const WHAT: &str = "zstd frame";
    let descriptor = bytes.u8(4, WHAT).ok()?;
    let single = descriptor & 0x20 != 0;
    let window = u64::from(!single);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size = match (descriptor >> 6, single) {
        (0, false) => 0,
        (flag, _) => 1_u64 << flag,
    };
    let header = 5 + window + dictionary + size;
    let block = bytes.slice(header, 3, WHAT).ok()?.data();
    let word = u32::from_le_bytes([block[0], block[1], block[2], 0]);
    let length = match word >> 1 & 3 {
        // One byte, repeated.
        1 => 1,
        _ => u64::from(word >> 3),
    };
    let mut frame = bytes
        .slice(0, header + 3 + length, WHAT)
        .ok()?
        .data()
        .to_vec();
    // No checksum follows, and no further block.
    *frame.get_mut(4)? &= !0x04;
    *frame.get_mut(usize::try_from(header).ok()?)? |= 1;
    Some(frame)
}

fn skippable(bytes: Bytes<'_>) -> Result<Option<u64>> {
    match bytes.data() {
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            let size = u64::from(bytes.u32(4, "skippable zstd frame")?);
            bytes.slice(8, size, "skippable zstd frame")?;
            Ok(Some(8 + size))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests;
