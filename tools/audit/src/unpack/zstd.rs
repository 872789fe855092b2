//! Zstd frames.

use std::cell::RefCell;

use offload_image::bytes::Bytes;
use offload_image::{Error, Result};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

/// The first bytes of a frame.
pub const MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// The level that images are packed at: zstd's own choice where nobody chooses.
const LEVEL: i32 = 3;

/// Packs bytes as one frame: the same bytes give the same frame.
#[must_use]
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    // It fails for want of room alone, and there is as much as the worst case takes.
    match zstd_safe::compress(&mut out, bytes, LEVEL) {
        Ok(_) => out,
        Err(code) => unreachable!("{}", zstd_safe::get_error_name(code)),
    }
}

/// Frames one after another, skippable ones among them, up to anything else or, where the size is
/// not known, up to the end of the first. Gives how many bytes they take.
pub(super) fn frames(
    packed: Bytes<'_>,
    size: Option<u64>,
    allowed: u64,
    out: &mut Vec<u8>,
) -> Result<u64> {
    // Into a buffer that was too small, zstd would unpack by way of its window.
    out.reserve_exact(likely(packed).min(most(allowed)));
    let mut at = 0;
    loop {
        let rest = packed.tail(at);
        if let Some(length) = skippable(rest)? {
            at = at.saturating_add(length);
            continue;
        }
        if at > 0 && !rest.data().starts_with(MAGIC) {
            return Ok(at);
        }
        at = at.saturating_add(frame(rest, allowed, out)?);
        if size.is_none() || out.len() as u64 > allowed {
            return Ok(at);
        }
    }
}

/// The first bytes of what is unpacked: `wanted` of them, where there are so many. Nothing forbids a
/// first frame with next to nothing in it.
pub(super) fn head(packed: Bytes<'_>, wanted: u64) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    frames(packed, Some(wanted), wanted.saturating_sub(1), &mut out)?;
    Ok(out)
}

/// Unpacks the frame at the start of the bytes and gives how many it takes. It stops as soon as
/// there is one byte more than allowed, by which the caller knows. The buffer grows with what is
/// really there, whatever the frame says of its size.
fn frame(packed: Bytes<'_>, allowed: u64, out: &mut Vec<u8>) -> Result<u64> {
    CONTEXT.with_borrow_mut(|context| frame_in(context, packed, allowed, out))
}

thread_local! {
    /// Kept from frame to frame: to make one, and memory for its window, takes longer than the first
    /// bytes of an image.
    static CONTEXT: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

fn frame_in(
    context: &mut DCtx<'static>,
    packed: Bytes<'_>,
    allowed: u64,
    out: &mut Vec<u8>,
) -> Result<u64> {
    let wrong = |why: &str| Error::malformed("zstd frame", packed.base(), why);
    let failed = |code| wrong(zstd_safe::get_error_name(code));
    let most = most(allowed);
    context
        .reset(ResetDirective::SessionAndParameters)
        .map_err(failed)?;
    // As large as it gets: memory of a window is taken up by what was unpacked into it alone.
    context
        .set_parameter(DParameter::WindowLogMax(31))
        .map_err(failed)?;
    let mut input = InBuffer::around(packed.data());
    loop {
        let room = most.saturating_sub(out.len());
        if room == 0 {
            return Ok(input.pos() as u64);
        }
        if out.len() == out.capacity() {
            out.reserve_exact(room.min(likely(packed).max(out.len())));
        }
        let start = out.len();
        let mut output = OutBuffer::around_pos(out, start);
        let left = context
            .decompress_stream(&mut output, &mut input)
            .map_err(failed)?;
        if left == 0 {
            return Ok(input.pos() as u64);
        }
        if out.len() < out.capacity() && input.pos() == packed.data().len() {
            return Err(wrong("it ends too early"));
        }
    }
}

/// The most that one block unpacks to.
const BLOCK: usize = 128 << 10;
/// What most images unpack to at most: one buffer does, and zstd needs no window beside it.
const RATIO: usize = 32;

fn likely(packed: Bytes<'_>) -> usize {
    packed.data().len().saturating_mul(RATIO).max(BLOCK)
}

/// By one byte more than allowed, the caller knows.
fn most(allowed: u64) -> usize {
    usize::try_from(allowed.saturating_add(1)).unwrap_or(usize::MAX)
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
