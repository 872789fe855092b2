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

use std::io::{self, Write};

use crate::elf::{Elf, Note, SHT_LLVM_OFFLOADING, SHT_NOTE};
use crate::error::Result;
use crate::offload_binary::ALIGN;
use crate::policy::PtxPolicy;

/// The section with the records.
pub const RECORDS: &str = "offload_images";
/// The section with the binaries.
pub const IMAGES: &str = ".llvm.offloading";
/// The section that says what the images were built under.
const NOTE: &str = ".note.offload";
/// The owner of our notes.
pub const NOTE_OWNER: &[u8] = b"offload";
/// The type of the note whose contents are the word of a PTX policy.
pub const NT_PTX_POLICY: u32 = 1;
/// The size of a record in bytes.
pub const RECORD: u64 = 16;

const HEADER: u64 = 64;
const SHF_ALLOC: u64 = 0x2;
const SHF_INFO_LINK: u64 = 0x40;
const SHF_GNU_RETAIN: u64 = 0x20_0000;
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
    let mut records = Vec::new();
    let mut relocations = Vec::new();
    let mut at = 0;
    for (index, binary) in binaries.iter().enumerate() {
        let size = binary.len() as u64;
        words(&mut records, &[0, size]);
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
    let sections = sections(at, &records, &relocations, &symbols, &notes);
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

    out.write_all(&file_header(machine, place, sections.len() as u16))?;
    for binary in binaries {
        padded(out, binary)?;
    }
    for part in [
        &records[..],
        &relocations,
        &symbols,
        &[0],
        &notes,
        &names,
        &headers,
    ] {
        padded(out, part)?;
    }
    Ok(())
}

fn sections<'a>(
    images: u64,
    records: &[u8],
    relocations: &[u8],
    symbols: &[u8],
    notes: &[u8],
) -> Vec<Section<'a>> {
    let kept = SHF_ALLOC | SHF_GNU_RETAIN;
    vec![
        Section::NULL,
        Section {
            name: IMAGES,
            kind: SHT_LLVM_OFFLOADING,
            flags: kept,
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

/// A note: the sizes of owner and contents, both with their NUL, the type, and both padded to four bytes.
fn note(policy: PtxPolicy) -> Vec<u8> {
    let padded = |text: &[u8]| {
        let mut text = text.to_vec();
        text.resize(text.len() / 4 * 4 + 4, 0);
        text
    };
    let (owner, word) = (NOTE_OWNER, policy.name().as_bytes());
    let sizes = [owner.len() + 1, word.len() + 1].map(|size| size as u32);
    let mut out = Vec::new();
    for number in [sizes[0], sizes[1], NT_PTX_POLICY] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&padded(owner));
    out.extend_from_slice(&padded(word));
    out
}

/// The policies in the notes of an object, or of a program that it was linked into: words, of which some may
/// be unknown here.
///
/// # Errors
/// Malformed notes.
pub fn noted_policies(elf: &Elf<'_>) -> Result<Vec<String>> {
    let notes = elf.notes()?;
    let ours = notes
        .iter()
        .filter(|note| note.owner == NOTE_OWNER && note.kind == NT_PTX_POLICY);
    let word = |note: &Note<'_>| {
        let text = note.desc.data();
        String::from_utf8_lossy(text.strip_suffix(&[0]).unwrap_or(text)).into_owned()
    };
    Ok(ours.map(word).collect())
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
