//! Looks for device code in the bytes of a host file that no known section claims: arrays that a
//! program was compiled with (`include_bytes!`, `bin2c`), text of PTX, appended data.
//!
//! Here a magic number proves nothing: host code may contain the same four bytes. So a find counts
//! only if the whole structure after it can be read.

use memchr::memmem;

use crate::bytes::Bytes;
use crate::elf::{self, Elf};
use crate::error::Error;
use crate::fatbin::{self, Fatbin};
use crate::offload_binary::{self, OffloadBinary};
use crate::ptx;
use crate::scan::{Place, Walker};

/// So many false finds of one magic number are no accident. It is told as a problem, since the
/// search stops there.
const MAX_TRIES: u32 = 1 << 16;

/// Ranges of the file: offset and length.
type Ranges = Vec<(u64, u64)>;

/// Searches what is not in `claimed`. Containers first, so that PTX inside them is not told twice.
pub(crate) fn sweep<'a>(
    walker: &mut Walker<'a>,
    elf: &Elf<'a>,
    place: &Place,
    mut claimed: Ranges,
) {
    for (magic, read) in [
        (offload_binary::MAGIC, read_offload as Read<'a>),
        (fatbin::MAGIC, read_fatbin),
        (elf::MAGIC, read_elf),
    ] {
        let mut tries = 0;
        for gap in gaps(elf.bytes, &mut claimed) {
            let mut at = 0;
            while let Some(found) = memmem::find(gap.tail(at).data(), magic) {
                at = at.saturating_add(found as u64);
                let bytes = gap.tail(at);
                // The file itself starts with one of these.
                let own = bytes.base() == elf.bytes.base();
                let here = place.in_section(section(elf, bytes.base()));
                match (!own)
                    .then(|| attempt(walker, read, bytes, &here))
                    .flatten()
                {
                    Some(length) => {
                        claimed.push((bytes.base(), length));
                        at = at.saturating_add(length.max(1));
                    }
                    None => {
                        at = at.saturating_add(1);
                        tries += 1;
                    }
                }
                if tries > MAX_TRIES {
                    walker.problems.push(Error::unsupported(
                        "host file",
                        gap.file_offset(at),
                        "too many places look like device code and are none",
                    ));
                    return;
                }
            }
        }
    }
    for gap in gaps(elf.bytes, &mut claimed) {
        for (start, length) in ptx::find_modules(gap.data()) {
            if let Ok(text) = gap.slice(start as u64, length as u64, "PTX") {
                let here = place.in_section(section(elf, text.base()));
                if let Err(problem) = walker.image(text, &here) {
                    walker.problems.push(problem);
                }
            }
        }
    }
}

/// Lists what stands at the start of the bytes and gives its length; `None` if it is none.
type Read<'a> = fn(&mut Walker<'a>, Bytes<'a>, &Place) -> Option<u64>;

/// Nothing of a failed attempt stays listed.
fn attempt<'a>(
    walker: &mut Walker<'a>,
    read: Read<'a>,
    bytes: Bytes<'a>,
    place: &Place,
) -> Option<u64> {
    let before = (walker.len(), walker.problems.len());
    let length = read(walker, bytes, place);
    if length.is_none() {
        walker.truncate(before.0, before.1);
    }
    length
}

fn read_offload<'a>(walker: &mut Walker<'a>, bytes: Bytes<'a>, place: &Place) -> Option<u64> {
    let length = OffloadBinary::parse(bytes).ok()?.length;
    let whole = bytes.slice(0, length, "OffloadBinary").ok()?;
    walker.offload_binaries(whole, place).ok()
}

fn read_fatbin<'a>(walker: &mut Walker<'a>, bytes: Bytes<'a>, place: &Place) -> Option<u64> {
    let fatbin = Fatbin::parse(bytes).ok()?;
    walker.fatbin(&fatbin, place);
    Some(fatbin.length)
}

fn read_elf<'a>(walker: &mut Walker<'a>, bytes: Bytes<'a>, place: &Place) -> Option<u64> {
    // Most embedded ELF files are host code: do not read their tables.
    let machine = bytes.u16(18, "ELF machine").ok()?;
    if !elf::is_device_machine(machine) {
        return None;
    }
    let inner = Elf::parse(bytes).ok()?;
    let length = inner.extent();
    let whole = bytes.slice(0, length, "device image").ok()?;
    walker.image(whole, place).ok()?;
    Some(length)
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

fn section<'a>(elf: &Elf<'a>, offset: u64) -> Option<&'a str> {
    elf.section_at(offset).map(|section| section.name)
}
