//! Looks for device code in the bytes of a host file that no known section claims: arrays that a
//! program was compiled with (`include_bytes!`, `bin2c`), text of PTX, appended data.
//!
//! Here a magic number proves nothing: host code may contain the same four bytes. So a find counts
//! only if the whole structure after it can be read.

use memchr::memmem;
use offload_image::bundle::{self, Bundle};
use offload_image::bytes::Bytes;
use offload_image::elf::{self, Elf};
use offload_image::fatbin::{self, Fatbin};
use offload_image::image::Content;
use offload_image::offload_binary::{self, OffloadBinary, Packed};
use offload_image::{ccob, ptx, Error, Result};

use crate::batch::Batch;
use crate::host::Host;
use crate::place::Place;
use crate::source::WINDOW;
use crate::walker::Walker;
use crate::zip_file;

/// So many structures that start well and then break are no accident: each may be as long as the
/// file, and hostile input could have them share their bytes. It is told as a problem, since the
/// search for that format stops there.
const MAX_TRIES: u32 = 64;

/// Ranges of the file: offset and length.
pub(crate) type Ranges = Vec<(u64, u64)>;

/// Searches what is not in `claimed`. Containers first, so that PTX inside them is not told twice.
pub(crate) fn sweep(walker: &mut Walker<'_>, host: &Host<'_>, place: &Place, mut claimed: Ranges) {
    // What extracts itself is a program with a zip file behind it.
    if gaps(host.bytes, &mut claimed)
        .last()
        .is_some_and(|last| zip_file::ends_here(*last))
    {
        match walker.zip_members(host.bytes, place) {
            Ok((_, members)) => claimed.extend(members),
            Err(error) => walker.problem(error, place),
        }
    }
    if let Err(error) = search_zips(walker, host, place, &mut claimed) {
        walker.problem(error, place);
    }
    for format in [
        (ccob::MAGIC, may_be_ccob as MayBe, read_ccob as Read),
        (bundle::MAGIC, may_be_bundle, read_bundle),
        (offload_binary::MAGIC, may_be_offload, read_offload),
        (fatbin::MAGIC, may_be_fatbin, read_fatbin),
        (elf::MAGIC, may_be_elf, read_elf),
    ] {
        if let Err(error) = search(walker, host, place, &mut claimed, format) {
            walker.problem(error, place);
        }
    }
    if let Err(error) = search_ptx(walker, host, place, &mut claimed) {
        walker.problem(error, place);
    }
}

/// Zip files that a program has as data.
fn search_zips(
    walker: &mut Walker<'_>,
    host: &Host<'_>,
    place: &Place,
    claimed: &mut Ranges,
) -> Result<()> {
    let base = host.bytes.base();
    let (mut left, mut done) = (MAX_TRIES, base);
    for gap in gaps(host.bytes, claimed) {
        let mut at = 0;
        while let Some(found) = find(walker, gap.tail(at).data(), zip_file::LAST.0) {
            let record = gap.base() - base + at + found as u64;
            at = at.saturating_add(found as u64 + 1);
            let Some(whole) = zip_file::ending_at(host.bytes, record) else {
                continue;
            };
            let here = place.in_section(host.section_at(whole.base()));
            // Those of hostile files may share their bytes.
            if whole.base() < done {
                left = tried(left, whole)?;
            }
            match walker.zip_members(whole, &here) {
                Ok(_) => {
                    done = whole.base().saturating_add(whole.len());
                    claimed.push((whole.base(), whole.len()));
                }
                Err(error) => {
                    walker.problem(error, &here);
                    left = tried(left, whole)?;
                }
            }
        }
    }
    Ok(())
}

fn search_ptx(
    walker: &mut Walker<'_>,
    host: &Host<'_>,
    place: &Place,
    claimed: &mut Ranges,
) -> Result<()> {
    let mut left = MAX_TRIES;
    for gap in gaps(host.bytes, claimed) {
        let mut at = 0;
        while let Some(found) = find(walker, gap.tail(at).data(), ptx::VERSION) {
            at = at.saturating_add(found as u64);
            let rest = gap.tail(at);
            if ptx::has_long_head(rest.data()) {
                left = tried(left, rest)?;
            }
            let length = ptx::module_length(rest.data());
            if let Some(text) = length.and_then(|l| rest.slice(0, l as u64, "PTX").ok()) {
                let here = place.in_section(host.section_at(text.base()));
                if let Err(error) = walker.image(text, &here) {
                    walker.problem(error, &here);
                }
            }
            at = at.saturating_add(length.unwrap_or(1) as u64);
        }
    }
    Ok(())
}

/// Whether the few bytes after a magic number go on as they have to.
type MayBe = fn(Bytes<'_>) -> bool;

/// Tells what stands at the start of the bytes and gives its length; `None`, where the whole of it
/// cannot be read.
type Read = fn(&mut Walker<'_>, Bytes<'_>, &Place) -> Option<u64>;

fn search(
    walker: &mut Walker<'_>,
    host: &Host<'_>,
    place: &Place,
    claimed: &mut Ranges,
    (magic, may_be, read): (&[u8], MayBe, Read),
) -> Result<()> {
    let mut left = MAX_TRIES;
    for gap in gaps(host.bytes, claimed) {
        let mut at = 0;
        while let Some(found) = find(walker, gap.tail(at).data(), magic) {
            at = at.saturating_add(found as u64);
            // It may reach beyond the gap: what was found in it hides nothing of what is around.
            let bytes = host
                .bytes
                .tail(gap.base().saturating_add(at) - host.bytes.base());
            at = at.saturating_add(1);
            // The file itself starts with one of these.
            if bytes.base() == host.bytes.base() || !may_be(bytes) {
                continue;
            }
            let here = place.in_section(host.section_at(bytes.base()));
            if let Some(length) = read(walker, bytes, &here) {
                claimed.push((bytes.base(), length));
                at = at.saturating_add(length.saturating_sub(1));
                continue;
            }
            left = tried(left, bytes)?;
        }
    }
    Ok(())
}

/// How many tries are left after one more.
fn tried(left: u32, bytes: Bytes<'_>) -> Result<u32> {
    match left.checked_sub(1) {
        Some(left) if left > 0 => Ok(left),
        _ => Err(Error::unsupported(
            "host file",
            bytes.base(),
            "too many places look like device code and are none",
        )),
    }
}

/// As `memmem::find`, with the memory of what was searched given back.
fn find(walker: &Walker<'_>, data: &[u8], wanted: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < data.len() {
        // One that lies across the end of a window is found in the window before it.
        let end = data.len().min(at + WINDOW + wanted.len() - 1);
        let window = data.get(at..end)?;
        if let Some(found) = memmem::find(window, wanted) {
            return Some(at + found);
        }
        walker.source.forget(window);
        at += WINDOW;
    }
    None
}

fn may_be_ccob(bytes: Bytes<'_>) -> bool {
    ccob::parse(bytes).is_ok()
}

/// A whole header is no accident, so here a fault is told.
fn read_ccob(walker: &mut Walker<'_>, bytes: Bytes<'_>, place: &Place) -> Option<u64> {
    let walked = walker.compressed_bundle(bytes, place);
    told(walker, walked, place)
}

fn told(walker: &mut Walker<'_>, walked: Result<u64>, place: &Place) -> Option<u64> {
    walked.map_err(|error| walker.problem(error, place)).ok()
}

fn may_be_bundle(bytes: Bytes<'_>) -> bool {
    bytes
        .u64(24, "offload bundle")
        .is_ok_and(|count| count < bytes.len() / 24)
}

fn read_bundle(walker: &mut Walker<'_>, bytes: Bytes<'_>, place: &Place) -> Option<u64> {
    let bundle = Bundle::parse(bytes).ok()?;
    walker.bundle(&bundle, place);
    Some(bundle.length)
}

fn may_be_offload(bytes: Bytes<'_>) -> bool {
    let version = bytes.u32(4, "OffloadBinary version");
    let size = bytes.u64(8, "OffloadBinary size");
    version.is_ok_and(|version| (1..=3).contains(&version))
        && size.is_ok_and(|size| (32..=bytes.len()).contains(&size))
}

fn read_offload(walker: &mut Walker<'_>, bytes: Bytes<'_>, place: &Place) -> Option<u64> {
    if Packed::parse(bytes).ok()?.is_none() {
        OffloadBinary::parse(bytes).ok()?;
    }
    let walked = walker.offload_binary(bytes, place);
    told(walker, walked, place)
}

fn may_be_fatbin(bytes: Bytes<'_>) -> bool {
    bytes.u16(4, "fatbin version") == Ok(1)
}

fn read_fatbin(walker: &mut Walker<'_>, bytes: Bytes<'_>, place: &Place) -> Option<u64> {
    match Fatbin::parse(bytes) {
        Ok(fatbin) => {
            let mut batch = Batch::default();
            walker.fatbin(&fatbin, place, &mut batch);
            walker.look_at(&mut batch);
            Some(fatbin.length)
        }
        // The driver goes by the first entries, whatever comes after them.
        Err(error) if Fatbin::begins(bytes) => told(walker, Err(error), place),
        Err(_) => None,
    }
}

/// Most embedded ELF files are host code: their tables are not read.
fn may_be_elf(bytes: Bytes<'_>) -> bool {
    bytes
        .u16(18, "ELF machine")
        .is_ok_and(elf::is_device_machine)
}

fn read_elf(walker: &mut Walker<'_>, bytes: Bytes<'_>, place: &Place) -> Option<u64> {
    let length = Elf::parse(bytes).ok()?.extent();
    let whole = bytes.slice(0, length, "device image").ok()?;
    Content::parse(whole).ok()?;
    let walked = walker.image(whole, place).map(|()| length);
    told(walker, walked, place)
}

/// What lies between the claimed ranges.
pub(crate) fn gaps<'a>(file: Bytes<'a>, claimed: &mut Ranges) -> Vec<Bytes<'a>> {
    claimed.sort_unstable();
    let mut found = Vec::new();
    let mut at = 0;
    let ends = claimed.iter().map(|(base, length)| {
        let start = base.saturating_sub(file.base());
        (start, start.saturating_add(*length))
    });
    for (start, end) in ends.chain([(file.len(), file.len())]) {
        if start > at {
            found.extend(file.slice(at, start - at, "host file").ok());
        }
        at = at.max(end);
    }
    found
}
