//! Host files: executables, libraries and objects of any system, as far as GPU code goes. Their
//! sections are found, those for GPU code are read by their names, and the rest is swept.

use object::read::macho::{FatArch, MachOFatFile32, MachOFatFile64};
use object::{FileKind, Object, ObjectSection};
use offload_image::bytes::Bytes;
use offload_image::elf::{self, Elf, SHT_LLVM_OFFLOADING};
use offload_image::offload_binary::OffloadBinary;
use offload_image::{bundle, policy_note, Error, Result};

use crate::batch::Batch;
use crate::gpu::Stopped;
use crate::packs::Packs;
use crate::place::Place;
use crate::walker::{Seen, Walker};
use crate::{hints, sweep};

/// What the names of sections may have together, beyond the file's own size: room for small files
/// with odd names.
const NAMES: u64 = 1 << 16;

/// A host file whose sections are known.
pub(crate) struct Host<'a> {
    /// The word for its format; empty for bytes of no known one.
    pub format: &'static str,
    pub bytes: Bytes<'a>,
    pub sections: Vec<Section<'a>>,
    /// Which OffloadBinaries of it were packed together.
    pub packs: Packs,
    /// What it says of GPU code in other places.
    pub hints: Vec<String>,
    /// The PTX policies in its notes.
    pub policies: Vec<String>,
}

/// One section.
pub(crate) struct Section<'a> {
    pub name: String,
    pub bytes: Bytes<'a>,
    reader: Option<Reader>,
}

/// What a section holds, by its name or type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    Fatbins,
    Bundles,
    OffloadBinaries,
    /// An image for the target in the section's name.
    Target,
}

/// Names in PE files end after eight bytes, those in Mach-O files have no dot.
fn reader(name: &str) -> Option<Reader> {
    match name {
        ".nv_fatbin" | "__nv_relfatbin" | ".nv_fatb" | "__nv_rel" | "__nv_fatbin" => {
            Some(Reader::Fatbins)
        }
        ".hip_fatbin" | ".hip_fat" | "__hip_fatbin" => Some(Reader::Bundles),
        ".llvm.offloading" | "__llvm_offload" => Some(Reader::OffloadBinaries),
        _ if target_of(name).is_some() => Some(Reader::Target),
        _ => None,
    }
}

/// The id after the magic of a bundle, which old object files and SYCL libraries name sections by.
fn target_of(name: &str) -> Option<&str> {
    let magic = std::str::from_utf8(bundle::MAGIC).unwrap_or_default();
    name.strip_prefix(magic).filter(|id| !id.is_empty())
}

/// Into `.lrodata` GNU ld puts what else is far from code: there images are searched for.
fn holds_only_images(section: &elf::Section<'_>) -> bool {
    section.name != ".lrodata" || OffloadBinary::parse_all(section.bytes).is_ok()
}

impl<'a> Host<'a> {
    /// Bytes of no known format: no sections.
    pub fn of_bytes(bytes: Bytes<'a>) -> Self {
        Self {
            format: "",
            bytes,
            sections: Vec::new(),
            packs: Packs::default(),
            hints: Vec::new(),
            policies: Vec::new(),
        }
    }

    pub fn of_elf(elf: &Elf<'a>) -> Self {
        let sections = elf.sections.iter().map(|section| Section {
            name: section.name.to_owned(),
            bytes: section.bytes,
            reader: match section.kind {
                SHT_LLVM_OFFLOADING if holds_only_images(section) => Some(Reader::OffloadBinaries),
                SHT_LLVM_OFFLOADING => None,
                _ => reader(section.name),
            },
        });
        Self {
            format: "elf",
            bytes: elf.bytes,
            sections: sections.collect(),
            packs: Packs::read(elf),
            hints: hints::of_elf(elf),
            // Notes of others may be anything: what cannot be read says nothing.
            policies: policy_note::noted_policies(elf).unwrap_or_default(),
        }
    }

    /// A COFF object, which has no magic number: any file of the right two bytes might be one.
    pub fn of_coff(bytes: Bytes<'a>) -> Option<Self> {
        match FileKind::parse(bytes.data()).ok()? {
            FileKind::Coff | FileKind::CoffBig => Self::of_object(bytes).ok(),
            _ => None,
        }
        .filter(|host| !host.sections.is_empty())
    }

    /// Any file that the crate `object` reads.
    pub fn of_object(bytes: Bytes<'a>) -> Result<Self> {
        let wrong =
            |error: object::Error| Error::malformed("host file", bytes.base(), format!("{error}"));
        let file = object::File::parse(bytes.data()).map_err(wrong)?;
        let mut sections = Vec::new();
        // As in the reader of ELF files: many sections may share one long name.
        let mut budget = bytes.len().saturating_mul(4).saturating_add(NAMES);
        for section in file.sections() {
            let name = section.name().map_err(wrong)?;
            budget = budget.checked_sub(name.len() as u64).ok_or_else(|| {
                let why = "the names of its sections are too long together";
                Error::malformed("host file", bytes.base(), why)
            })?;
            let name = name.to_owned();
            let Some((start, size)) = section.file_range() else {
                continue;
            };
            sections.push(Section {
                bytes: bytes.slice(start, size, "section")?,
                reader: reader(&name),
                name,
            });
        }
        Ok(Self {
            format: match file.format() {
                object::BinaryFormat::Coff => "coff",
                object::BinaryFormat::Pe => "pe",
                object::BinaryFormat::MachO => "macho",
                _ => "elf",
            },
            bytes,
            sections,
            // `offload link` writes 64-bit little-endian ELF alone.
            packs: Packs::default(),
            hints: hints::of_object(&file),
            policies: Vec::new(),
        })
    }

    /// The name of the section that holds the byte at that offset.
    pub fn section_at(&self, offset: u64) -> Option<&str> {
        let holds = |section: &&Section<'_>| {
            let start = section.bytes.base();
            offset >= start && offset - start < section.bytes.len()
        };
        self.sections.iter().find(holds).map(|s| s.name.as_str())
    }
}

/// The files in a Mach-O file for several processors; `None` for any other file.
pub(crate) fn slices(bytes: Bytes<'_>) -> Result<Option<Vec<Bytes<'_>>>> {
    let data = bytes.data();
    let wrong =
        |error: object::Error| Error::malformed("Mach-O file", bytes.base(), format!("{error}"));
    let ranges: Vec<(u64, u64)> = match FileKind::parse(data) {
        Ok(FileKind::MachOFat32) => MachOFatFile32::parse(data)
            .map_err(wrong)?
            .arches()
            .iter()
            .map(FatArch::file_range)
            .collect(),
        Ok(FileKind::MachOFat64) => MachOFatFile64::parse(data)
            .map_err(wrong)?
            .arches()
            .iter()
            .map(FatArch::file_range)
            .collect(),
        _ => return Ok(None),
    };
    let mut budget = bytes.len();
    let mut found = Vec::new();
    for (start, size) in ranges {
        found.push(bytes.slice(start, size, "file in a Mach-O file")?);
        budget = budget.checked_sub(size).ok_or_else(|| {
            Error::malformed("Mach-O file", bytes.base(), "the files in it overlap")
        })?;
    }
    Ok(Some(found))
}

impl Walker<'_> {
    /// Walks a host file: first the sections that hold device code by their name or type, then
    /// whatever no container has claimed.
    pub fn host(&mut self, host: &Host<'_>, place: &Place) -> Seen {
        let inner = place.inside(host.format);
        let before = self.told();
        self.policies.extend_from_slice(&host.policies);
        let mut claimed = Vec::new();
        let mut batch = Batch::default();
        let mut budget = host.bytes.len();
        for section in &host.sections {
            let Some(reader) = section.reader else {
                continue;
            };
            let here = inner.in_section(Some(&section.name));
            let length = section.bytes.len();
            // Sections of hostile files may overlap, so that each byte would be read many times.
            let walked = match budget.checked_sub(length) {
                Some(rest) => {
                    budget = rest;
                    self.section(section, reader, &host.packs, &here, &mut batch)
                }
                None => Err(Stopped {
                    at: 0,
                    error: Error::malformed(
                        "section",
                        section.bytes.base(),
                        "sections with device code overlap",
                    ),
                }),
            };
            match walked {
                Ok(()) => claimed.push((section.bytes.base(), length)),
                Err(Stopped { at, error }) => {
                    // What stands before the fault is told before it.
                    self.look_at(&mut batch);
                    claimed.push((section.bytes.base(), at));
                    self.problem(error, &here);
                }
            }
        }
        self.look_at(&mut batch);
        sweep::sweep(self, host, &inner, claimed);
        Seen::Host(if self.told() == before {
            host.hints.clone()
        } else {
            Vec::new()
        })
    }

    fn section<'a>(
        &mut self,
        section: &Section<'a>,
        reader: Reader,
        packs: &Packs,
        here: &Place,
        batch: &mut Batch<'a>,
    ) -> std::result::Result<(), Stopped> {
        let bytes = section.bytes;
        match reader {
            Reader::Fatbins => self.fatbins(bytes, here, batch),
            Reader::Bundles => self.bundles(bytes, here),
            Reader::OffloadBinaries => self.offload_binaries(bytes, packs, here),
            Reader::Target => {
                let id = target_of(&section.name).unwrap_or_default();
                self.images_of_target(id, bytes, here)
            }
        }
    }
}
