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
use offload_image::{ccob, ptx, Error};

use crate::host::Host;
use crate::place::Place;
use crate::walker::Walker;

/// So many false finds of one magic number are no accident. It is told as a problem, since the
/// search stops there.
const MAX_TRIES: u32 = 1 << 16;
/// The same for what has to be unpacked to know.
const MAX_UNPACKED: u32 = 1 << 6;

/// Ranges of the file: offset and length.
type Ranges = Vec<(u64, u64)>;

/// Searches what is not in `claimed`. Containers first, so that PTX inside them is not told twice.
pub(crate) fn sweep(walker: &mut Walker<'_>, host: &Host<'_>, place: &Place, mut claimed: Ranges) {
    for (magic, read, tries) in [
        (ccob::MAGIC, read_ccob as Read, MAX_UNPACKED),
        (bundle::MAGIC, read_bundle, MAX_TRIES),
        (offload_binary::MAGIC, read_offload, MAX_TRIES),
        (fatbin::MAGIC, read_fatbin, MAX_TRIES),
        (elf::MAGIC, read_elf, MAX_TRIES),
    ] {
        let mut left = tries;
        for gap in gaps(host.bytes, &mut claimed) {
            let mut at = 0;
            while let Some(found) = memmem::find(gap.tail(at).data(), magic) {
                at = at.saturating_add(found as u64);
                let bytes = gap.tail(at);
                // The file itself starts with one of these.
                let own = bytes.base() == host.bytes.base();
                let here = place.in_section(host.section_at(bytes.base()));
                match (!own).then(|| read(walker, bytes, &here)) {
                    Some(Find::Read(length)) => {
                        claimed.push((bytes.base(), length));
                        at = at.saturating_add(length.max(1));
                        continue;
                    }
                    Some(Find::Tried) => left = left.saturating_sub(1),
                    Some(Find::Nothing) | None => {}
                }
                at = at.saturating_add(1);
                if left == 0 {
                    let error = Error::unsupported(
                        "host file",
                        gap.file_offset(at),
                        "too many places look like device code and are none",
                    );
                    walker.problem(error, place);
                    return;
                }
            }
        }
    }
    for gap in gaps(host.bytes, &mut claimed) {
        for (start, length) in ptx::find_modules(gap.data()) {
            if let Ok(text) = gap.slice(start as u64, length as u64, "PTX") {
                let here = place.in_section(host.section_at(text.base()));
                if let Err(error) = walker.image(text, &here) {
                    walker.problem(error, &here);
                }
            }
        }
    }
}

/// What a magic number turned out to be.
enum Find {
    /// The start of so many bytes that were told.
    Read(u64),
    /// No device code, which took some work to know.
    Tried,
    /// No device code, as was seen at once.
    Nothing,
}

/// Tells what stands at the start of the bytes; nothing, where the whole of it cannot be read.
type Read = fn(&mut Walker<'_>, Bytes<'_>, &Place) -> Find;

/// A whole header is no accident, so here a fault is told. It is unpacked from where its length is
/// known.
fn read_ccob(walker: &mut Walker<'_>, bytes: Bytes<'_>, place: &Place) -> Find {
    if ccob::parse(bytes).is_err() {
        return Find::Nothing;
    }
    match walker.compressed_bundle(bytes, place) {
        Ok(length) => Find::Read(length),
        Err(error) => {
            walker.problem(error, place);
            Find::Tried
        }
    }
}

fn read_bundle(walker: &mut Walker<'_>, bytes: Bytes<'_>, place: &Place) -> Find {
    let Ok(bundle) = Bundle::parse(bytes) else {
        return Find::Tried;
    };
    walker.bundle(&bundle, place);
    Find::Read(bundle.length)
}

fn read_offload(walker: &mut Walker<'_>, bytes: Bytes<'_>, place: &Place) -> Find {
    match Packed::parse(bytes) {
        Ok(None) if OffloadBinary::parse(bytes).is_err() => return Find::Tried,
        Err(_) => return Find::Tried,
        Ok(_) => {}
    }
    match walker.offload_binary(bytes, place) {
        Ok(length) => Find::Read(length),
        Err(error) => {
            walker.problem(error, place);
            Find::Tried
        }
    }
}

fn read_fatbin(walker: &mut Walker<'_>, bytes: Bytes<'_>, place: &Place) -> Find {
    let Ok(fatbin) = Fatbin::parse(bytes) else {
        return Find::Tried;
    };
    walker.fatbin(&fatbin, place);
    Find::Read(fatbin.length)
}

fn read_elf(walker: &mut Walker<'_>, bytes: Bytes<'_>, place: &Place) -> Find {
    // Most embedded ELF files are host code: do not read their tables.
    if !bytes
        .u16(18, "ELF machine")
        .is_ok_and(elf::is_device_machine)
    {
        return Find::Tried;
    }
    let length = Elf::parse(bytes).map(|inner| inner.extent());
    let whole = length.and_then(|length| bytes.slice(0, length, "device image"));
    match whole {
        Ok(whole) if Content::parse(whole).is_ok() => match walker.image(whole, place) {
            Ok(()) => Find::Read(whole.len()),
            Err(_) => Find::Tried,
        },
        _ => Find::Tried,
    }
}

/// What lies between the claimed ranges.
fn gaps<'a>(file: Bytes<'a>, claimed: &mut Ranges) -> Vec<Bytes<'a>> {
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
