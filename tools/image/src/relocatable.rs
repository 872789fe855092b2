//! Writes the relocatable object that puts images into a host program.
//!
//! Three sections, all allocated, read-only and marked to survive `--gc-sections`:
//!
//! - `.llvm.offloading` holds the binaries, with LLVM's own section type, so that LLVM's tools find
//!   them in the linked program. GNU ld, gold and lld all keep the type (measured).
//! - `offload_images` holds 16 bytes for each: the signed distance in bytes from the record to the
//!   binary, and the binary's size. Its name is a C identifier, so linkers define
//!   `__start_offload_images` and `__stop_offload_images` round the records of all objects.
//! - `.note.offload` says which PTX policies the images were built under, so that the linked program
//!   still says it to whoever reads no images: `readelf -n` shows it.
//!
//! The distance is relative to the record, so the linker computes it for good: the program has no
//! load-time relocation for it and the pages stay shared. Source of the layout: the System V ABI.
//!
//! Ordinary x86-64 code reaches 2 GiB, so images must not stand between a program's code and its data.
//! `SHF_X86_64_LARGE` on them, and on nothing else, has gold put them behind `.bss` and lld before
//! everything else. GNU ld does not look at it and puts a section that it does not know behind
//! `.rodata`; only names that its script has go behind `.bss`, and come out as `.lrodata`. Many images
//! get such a name. Few keep their own, since lld refuses a section of LLVM's type in one `.lrodata`
//! with those of `-mcmodel=medium`. All of this is measured. On aarch64 code reaches 4 GiB.

use std::io::{self, Write};

use crate::elf::{SHT_LLVM_OFFLOADING, SHT_NOTE};
use crate::offload_binary::ALIGN;
use crate::policy::PtxPolicy;
use crate::policy_note::note;

/// The section with the records.
pub const RECORDS: &str = "offload_images";
/// The section with the binaries.
pub const IMAGES: &str = ".llvm.offloading";
/// What it is called where there are many, in objects for x86-64.
pub const FAR_IMAGES: &str = ".lrodata.llvm.offloading";
/// From this size on images are many: a program may have a dozen objects with fewer.
pub const FAR_FROM: u64 = 128 << 20;
/// The section that says what the images were built under.
const NOTE: &str = ".note.offload";
/// The size of a record in bytes.
pub const RECORD: u64 = 16;

const HEADER: u64 = 64;
const SHF_ALLOC: u64 = 0x2;
const SHF_INFO_LINK: u64 = 0x40;
const SHF_GNU_RETAIN: u64 = 0x20_0000;
const SHF_X86_64_LARGE: u64 = 0x1000_0000;
/// The flag above is GNU's, so the file has to say that it uses GNU extensions.
const OS_ABI_GNU: u8 = 3;

/// The host that the object is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
}

impl Machine {
    fn elf(self) -> u16 {
        match self {
            Self::X86_64 => 62,
            Self::Aarch64 => 183,
        }
    }

    /// The relocation that stores a 64-bit distance: `R_X86_64_PC64`, `R_AARCH64_PREL64`.
    fn distance(self) -> u64 {
        match self {
            Self::X86_64 => 24,
            Self::Aarch64 => 260,
        }
    }

    /// The name of the section for so many bytes of images, and its flags beside those of all.
    fn images(self, size: u64) -> (&'static str, u64) {
        match self {
            Self::X86_64 if size >= FAR_FROM => (FAR_IMAGES, SHF_X86_64_LARGE),
            Self::X86_64 => (IMAGES, SHF_X86_64_LARGE),
            Self::Aarch64 => (IMAGES, 0),
        }
    }
}

struct Section<'a> {
    name: &'a str,
    kind: u32,
    flags: u64,
    link: u32,
    info: u32,
    align: u64,
    entry: u64,
    size: u64,
}

impl Section<'_> {
    const NULL: Section<'static> = Section {
        name: "",
        kind: 0,
        flags: 0,
        link: 0,
        info: 0,
        align: 0,
        entry: 0,
        size: 0,
    };
}

/// Writes the object for these binaries, with one record each, in order, and one note for each policy.
///
/// # Errors
/// Only those of `out`.
pub fn write(
    out: &mut dyn Write,
    machine: Machine,
    binaries: &[&[u8]],
    policies: &[PtxPolicy],
) -> io::Result<()> {
    let sizes: Vec<u64> = binaries.iter().map(|binary| binary.len() as u64).collect();
    let (head, tail) = frame(machine, &sizes, policies);
    out.write_all(&head)?;
    for binary in binaries {
        padded(out, binary)?;
    }
    out.write_all(&tail)
}

/// What stands before and behind binaries of these sizes.
fn frame(machine: Machine, sizes: &[u64], policies: &[PtxPolicy]) -> (Vec<u8>, Vec<u8>) {
    let mut records = Vec::new();
    let mut relocations = Vec::new();
    let mut at = 0;
    for (index, size) in sizes.iter().enumerate() {
        words(&mut records, &[0, *size]);
        // Symbol 1 is the section of the binaries; the addend is the place in it.
        words(
            &mut relocations,
            &[index as u64 * RECORD, 1 << 32 | machine.distance(), at],
        );
        at = align(at + size);
    }
    // The null symbol, then the section symbol: local, of type "section", in section 1.
    let mut symbols = vec![0; 24];
    symbols.extend_from_slice(&[0, 0, 0, 0, 3, 0, 1, 0]);
    words(&mut symbols, &[0, 0]);

    let notes: Vec<u8> = policies.iter().flat_map(|policy| note(*policy)).collect();
    let sections = sections(machine, at, &records, &relocations, &symbols, &notes);
    let mut names = Vec::new();
    let mut name_at = Vec::new();
    for section in &sections {
        name_at.push(names.len() as u32);
        names.extend_from_slice(section.name.as_bytes());
        names.push(0);
    }
    let mut headers = Vec::new();
    let mut place = HEADER;
    for (section, name) in sections.iter().zip(name_at) {
        let last = section.name == ".shstrtab";
        let size = if last {
            names.len() as u64
        } else {
            section.size
        };
        let offset = if section.kind == 0 { 0 } else { place };
        headers.extend_from_slice(&name.to_le_bytes());
        headers.extend_from_slice(&section.kind.to_le_bytes());
        words(&mut headers, &[section.flags, 0, offset, size]);
        headers.extend_from_slice(&section.link.to_le_bytes());
        headers.extend_from_slice(&section.info.to_le_bytes());
        words(&mut headers, &[section.align, section.entry]);
        place = align(place + size);
    }
    let mut tail = Vec::new();
    for part in [
        &records[..],
        &relocations,
        &symbols,
        &[0],
        &notes,
        &names,
        &headers,
    ] {
        tail.extend_from_slice(part);
        tail.resize(align(tail.len() as u64) as usize, 0);
    }
    (file_header(machine, place, sections.len() as u16), tail)
}

fn sections<'a>(
    machine: Machine,
    images: u64,
    records: &[u8],
    relocations: &[u8],
    symbols: &[u8],
    notes: &[u8],
) -> Vec<Section<'a>> {
    let kept = SHF_ALLOC | SHF_GNU_RETAIN;
    let (name, large) = machine.images(images);
    vec![
        Section::NULL,
        Section {
            name,
            kind: SHT_LLVM_OFFLOADING,
            flags: kept | large,
            align: ALIGN,
            size: images,
            ..Section::NULL
        },
        Section {
            name: RECORDS,
            kind: 1,
            flags: kept,
            align: ALIGN,
            size: records.len() as u64,
            ..Section::NULL
        },
        Section {
            name: ".relaoffload_images",
            kind: 4,
            flags: SHF_INFO_LINK,
            link: 4,
            info: 2,
            align: 8,
            entry: 24,
            size: relocations.len() as u64,
        },
        Section {
            name: ".symtab",
            kind: 2,
            link: 5,
            // Both symbols are local.
            info: 2,
            align: 8,
            entry: 24,
            size: symbols.len() as u64,
            ..Section::NULL
        },
        Section {
            name: ".strtab",
            kind: 3,
            align: 1,
            size: 1,
            ..Section::NULL
        },
        Section {
            name: NOTE,
            kind: SHT_NOTE,
            flags: kept,
            align: 4,
            size: notes.len() as u64,
            ..Section::NULL
        },
        Section {
            name: ".shstrtab",
            kind: 3,
            align: 1,
            ..Section::NULL
        },
        // Says that nothing here needs an executable stack.
        Section {
            name: ".note.GNU-stack",
            kind: 1,
            align: 1,
            ..Section::NULL
        },
    ]
}

fn file_header(machine: Machine, section_table: u64, sections: u16) -> Vec<u8> {
    let mut out = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, OS_ABI_GNU];
    out.resize(16, 0);
    out.extend_from_slice(&1_u16.to_le_bytes());
    out.extend_from_slice(&machine.elf().to_le_bytes());
    out.extend_from_slice(&1_u32.to_le_bytes());
    words(&mut out, &[0, 0, section_table]);
    out.extend_from_slice(&0_u32.to_le_bytes());
    for half in [64_u16, 0, 0, 64, sections, sections - 2] {
        out.extend_from_slice(&half.to_le_bytes());
    }
    out
}

fn words(out: &mut Vec<u8>, words: &[u64]) {
    for word in words {
        out.extend_from_slice(&word.to_le_bytes());
    }
}

fn padded(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(bytes)?;
    let size = bytes.len() as u64;
    let padding = [0; ALIGN as usize];
    out.write_all(
        padding
            .get(..(align(size) - size) as usize)
            .unwrap_or_default(),
    )
}

fn align(length: u64) -> u64 {
    length.saturating_add(ALIGN - 1) & !(ALIGN - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Bytes;
    use crate::elf::Elf;
    use crate::policy_note::noted_policies;

    #[test]
    fn a_record_for_each_binary() {
        for (machine, number, kind) in [(Machine::X86_64, 62, 24), (Machine::Aarch64, 183, 260)] {
            let mut out = Vec::new();
            let policies = [PtxPolicy::Forbid, PtxPolicy::Only];
            write(&mut out, machine, &[b"0123456789", b"abc"], &policies).unwrap();
            let elf = Elf::parse(Bytes::new(&out)).unwrap();
            assert_eq!(noted_policies(&elf).unwrap(), ["forbid", "only"]);
            assert_eq!(elf.machine, number);
            let by_name = |name| {
                elf.sections
                    .iter()
                    .find(|section| section.name == name)
                    .unwrap()
            };
            let images = by_name(IMAGES);
            assert_eq!(images.kind, SHT_LLVM_OFFLOADING);
            assert_eq!(images.bytes.base() % 8, 0);
            assert_eq!(images.bytes.data(), b"0123456789\0\0\0\0\0\0abc\0\0\0\0\0");
            let records = by_name(RECORDS).bytes;
            assert_eq!(records.len(), 32);
            assert_eq!(records.u64(8, "").unwrap(), 10);
            assert_eq!(records.u64(24, "").unwrap(), 3);
            let relocations = by_name(".relaoffload_images").bytes;
            for (index, at) in [(0, 0), (1, 16)] {
                assert_eq!(relocations.u64(index * 24, "").unwrap(), index * 16);
                assert_eq!(relocations.u32(index * 24 + 8, "").unwrap(), kind);
                assert_eq!(relocations.u64(index * 24 + 16, "").unwrap(), at);
            }
            assert!(elf.symbols(false).unwrap()[1].section == 1);
        }
    }

    /// The headers of the first two sections, each as eight words, and where the headers are.
    fn first_two(machine: Machine, sizes: &[u64]) -> (u64, [Vec<u64>; 2], String) {
        let (head, tail) = frame(machine, sizes, &[PtxPolicy::Forbid]);
        let word = |bytes: &[u8], at: u64| Bytes::new(bytes).u64(at, "").unwrap();
        let table = word(&head, 40);
        let images: u64 = sizes.iter().map(|size| align(*size)).sum();
        let headers = table - HEADER - images;
        let section = |index: u64| {
            let at = headers + 64 * index;
            (0..8).map(|field| word(&tail, at + 8 * field)).collect()
        };
        // No other name starts like these two.
        let at = tail.windows(3).position(|name| name == b"\0.l").unwrap() as u64;
        let name = Bytes::new(&tail).c_str(at + 1, "").unwrap();
        (table, [section(1), section(2)], name.to_owned())
    }

    #[test]
    fn code_reaches_past_any_number_of_images() {
        const LARGE: u64 = 0x1000_0000;
        for (size, machine, name, flags) in [
            (FAR_FROM - 8, Machine::X86_64, IMAGES, LARGE),
            (FAR_FROM, Machine::X86_64, FAR_IMAGES, LARGE),
            (5 << 30, Machine::X86_64, FAR_IMAGES, LARGE),
            (5 << 30, Machine::Aarch64, IMAGES, 0),
        ] {
            let (table, [images, records], found) = first_two(machine, &[size]);
            assert_eq!(found, name, "{machine:?} {size}");
            assert_eq!(images[1], 0x20_0002 | flags);
            assert_eq!(records[1], 0x20_0002, "the records stay near");
            // Where they are in the file, and how large.
            assert_eq!(images[3..5], [HEADER, size]);
            assert_eq!(records[3..5], [HEADER + size, RECORD]);
            assert!(table > HEADER + size, "{table}");
        }
    }

    #[test]
    fn sizes_beyond_32_bits_are_written_as_they_are() {
        let sizes = [(5 << 30) + 1, 3 << 30, 16];
        let (_, [images, _], _) = first_two(Machine::X86_64, &sizes);
        assert_eq!(images[4], (8 << 30) + 24);
        let (_, tail) = frame(Machine::X86_64, &sizes, &[]);
        let word = |at: u64| Bytes::new(&tail).u64(at, "").unwrap();
        for (index, place) in [(0, 0), (1, (5 << 30) + 8), (2, (8 << 30) + 8)] {
            let size = sizes[index as usize];
            assert_eq!(word(index * RECORD + 8), size);
            assert_eq!(word(3 * RECORD + index * 24 + 16), place);
        }
    }

    #[test]
    fn the_same_bytes_each_time() {
        let write = || {
            let mut out = Vec::new();
            write(&mut out, Machine::X86_64, &[b"x"], &[]).unwrap();
            out
        };
        assert_eq!(write(), write());
    }
}
