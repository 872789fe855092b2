//! Which OffloadBinaries of a host file were packed together.
//!
//! `offload link` leaves a record for each packed file: the distance from the record to its bytes, and
//! their size ([`offload_image::relocatable`]). In a linked file the distance is final; in an object it
//! is still to be computed, and stands in a relocation.
//!
//! The images themselves are found by their section, whatever the records say. So a record that leads
//! nowhere is passed over and is no fault: it hides nothing, and a foreign file may have a section of
//! that name with something else in it.

use offload_image::bytes::Bytes;
use offload_image::elf::{Elf, Section, SHT_LLVM_OFFLOADING, SHT_RELA};
use offload_image::relocatable::{IMAGES, RECORD, RECORDS};

/// Size of a relocation with an addend.
const RELA: u64 = 24;
/// Type of the symbol that stands for a section.
const STT_SECTION: u8 = 3;

/// The packed files in a host file, by their offset.
#[derive(Debug, Default)]
pub(crate) struct Packs(Vec<Pack>);

#[derive(Debug)]
struct Pack {
    start: u64,
    end: u64,
    /// Of its record.
    index: u64,
}

impl Packs {
    pub fn read(elf: &Elf<'_>) -> Self {
        let named = |section: &Section<'_>| section.name == RECORDS;
        let Some(at) = elf.sections.iter().position(named) else {
            return Self::default();
        };
        let mut found = match elf.sections.get(at) {
            Some(records) if elf.is_object() => of_object(elf, at, records),
            Some(records) => linked(elf, records),
            None => Vec::new(),
        };
        found.sort_by_key(|pack| pack.start);
        Self(found)
    }

    /// The index of the one that has the byte at that offset.
    pub fn of(&self, offset: u64) -> Option<u64> {
        let after = self.0.partition_point(|pack| pack.start <= offset);
        let pack = self.0.get(after.checked_sub(1)?)?;
        (offset < pack.end).then_some(pack.index)
    }
}

impl Pack {
    /// The bytes that a record names, in the section that they are in.
    fn new(records: Bytes<'_>, index: u64, section: &Section<'_>, offset: u64) -> Option<Self> {
        let size = records.u64(index.checked_mul(RECORD)?.checked_add(8)?, "record");
        let size = size.ok().filter(|size| *size > 0)?;
        let bytes = section.bytes.slice(offset, size, "packed images").ok()?;
        Some(Self {
            start: bytes.base(),
            end: bytes.file_offset(size),
            index,
        })
    }
}

/// From the address of each record and the distance in it.
fn linked(elf: &Elf<'_>, records: &Section<'_>) -> Vec<Pack> {
    let holds_images =
        |section: &&Section<'_>| section.kind == SHT_LLVM_OFFLOADING || section.name == IMAGES;
    let Some(images) = elf.sections.iter().find(holds_images) else {
        return Vec::new();
    };
    let pack = |index: u64| {
        let distance = records.bytes.u64(index * RECORD, "record").ok()?;
        // As the processor adds them: the distance may be negative.
        let address = records
            .address
            .wrapping_add(index * RECORD)
            .wrapping_add(distance);
        let offset = address.checked_sub(images.address)?;
        Pack::new(records.bytes, index, images, offset)
    };
    (0..records.bytes.len() / RECORD).filter_map(pack).collect()
}

/// From the relocations of the records: each has the symbol of a section, and the offset in it.
fn of_object(elf: &Elf<'_>, at: usize, records: &Section<'_>) -> Vec<Pack> {
    let relocates =
        |section: &&Section<'_>| section.kind == SHT_RELA && section.info as usize == at;
    let (Some(relocations), Ok(symbols)) =
        (elf.sections.iter().find(relocates), elf.symbols(false))
    else {
        return Vec::new();
    };
    let pack = |number: u64| {
        let entry = relocations.bytes.tail(number * RELA);
        let place = entry.u64(0, "relocation").ok()?;
        let symbol = usize::try_from(entry.u64(8, "relocation").ok()? >> 32).ok()?;
        let symbol = symbols.get(symbol).filter(|s| s.kind == STT_SECTION)?;
        let offset = entry.u64(16, "relocation").ok()?;
        let index = (place % RECORD == 0).then_some(place / RECORD)?;
        Pack::new(records.bytes, index, elf.section(symbol.section)?, offset)
    };
    (0..relocations.bytes.len() / RELA)
        .filter_map(pack)
        .collect()
}
