//! LZ4 blocks.

use offload_image::bytes::Bytes;
use offload_image::{Error, Result};

/// A block has no header: only who packed it knows its size, so the buffer is made by that. A byte
/// of LZ4 stands for at most 255, which bounds it by the input.
pub(super) fn block(packed: Bytes<'_>, size: u64, out: &mut Vec<u8>) -> Result<()> {
    let wrong = |why: String| Error::malformed("LZ4 block", packed.base(), why);
    if size > packed.len().saturating_mul(255) {
        let length = packed.len();
        return Err(wrong(format!("{length} bytes cannot unpack to {size}")));
    }
    let size = usize::try_from(size).map_err(|error| wrong(error.to_string()))?;
    out.resize(size, 0);
    let found = lz4_flex::block::decompress_into(packed.data(), out)
        .map_err(|error| wrong(error.to_string()))?;
    if found != size {
        return Err(wrong(format!(
            "it unpacks to {found} bytes, and not to {size} as told"
        )));
    }
    Ok(())
}

/// The first `wanted` bytes of what is unpacked. The crate unpacks blocks as a whole, and the first
/// bytes of an image cost a hundredth of that.
pub(super) fn head(packed: Bytes<'_>, wanted: u64) -> Result<Vec<u8>> {
    let wrong = |why: &str| Error::malformed("LZ4 block", packed.base(), why);
    let short = || wrong("it ends too early");
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    let mut rest = packed.data();
    let mut out: Vec<u8> = Vec::new();
    while out.len() < wanted {
        let token = *take(&mut rest, 1)
            .and_then(<[u8]>::first)
            .ok_or_else(short)?;
        let literals = length(token >> 4, &mut rest).ok_or_else(short)?;
        out.extend_from_slice(take(&mut rest, literals).ok_or_else(short)?);
        // The last sequence has no match.
        let Some(&[low, high]) = take(&mut rest, 2) else {
            break;
        };
        let distance = usize::from(u16::from_le_bytes([low, high]));
        let copied = length(token & 15, &mut rest)
            .ok_or_else(short)?
            .saturating_add(4);
        let from = out.len().checked_sub(distance).filter(|_| distance > 0);
        let from = from.ok_or_else(|| wrong("a match starts before the block"))?;
        let count = copied.min(wanted.saturating_sub(out.len()));
        // A match may reach into what it makes.
        for at in from..from.saturating_add(count) {
            out.extend(out.get(at).copied());
        }
    }
    out.truncate(wanted);
    if out.len() < wanted {
        return Err(short());
    }
    Ok(out)
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, more) = (rest.get(..count)?, rest.get(count..)?);
    *rest = more;
    Some(taken)
}

/// Four bits, and where they are all ones as many bytes as are 255, and one more.
fn length(bits: u8, rest: &mut &[u8]) -> Option<usize> {
    let mut length = usize::from(bits);
    if bits == 15 {
        loop {
            let more = *take(rest, 1)?.first()?;
            length = length.checked_add(usize::from(more))?;
            if more != 255 {
                break;
            }
        }
    }
    Some(length)
}
