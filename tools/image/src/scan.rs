//! Finds every device image in a file, whatever formats are around it.
//!
//! Content decides, never a name or a label: the walker looks at magic bytes, descends into
//! containers, and reads of each image what its own bytes say. In host files it walks the sections
//! that are known to hold device code, and after that looks through all other bytes for containers,
//! code objects and plain PTX: an array of a program may hold them too.

use crate::bytes::Bytes;
use crate::elf::{self, Elf, Section};
use crate::error::{Error, Result};
use crate::fatbin::{self, EntryKind, Fatbin};
use crate::image::{Compression, Content, Image, Kind, Label, Location};
use crate::offload_binary::{self, image_kind, OffloadBinary};
use crate::{ptx, sweep};

/// Containers inside containers beyond this depth are refused; real files nest three.
const MAX_DEPTH: u32 = 8;

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scan<'a> {
    /// The images, by their offset.
    pub images: Vec<Image<'a>>,
    /// What could not be read. A file with any of these may hold more images than are listed.
    pub problems: Vec<Error>,
}

/// Finds every image in the bytes of a file. A file of no known format is a problem, not an empty
/// answer: who asks whether it holds PTX must not be told no.
#[must_use]
pub fn scan(data: &[u8]) -> Scan<'_> {
    let mut walker = Walker::default();
    let bytes = Bytes::new(data);
    if let Err(problem) = walker.any(bytes, &Place::default()) {
        walker.problems.push(problem);
    }
    let mut found = Scan {
        images: walker.images,
        problems: walker.problems,
    };
    found.images.sort_by_key(|image| image.location.offset);
    found
}

/// The error for bytes that start like no known format.
pub(crate) fn unrecognised(bytes: Bytes<'_>) -> Error {
    let data = bytes.data();
    let named: &[(&[u8], &str)] = &[
        (b"!<arch>\n", "an ar archive, which is not read yet"),
        (b"PK\x03\x04", "a zip file, which is not read yet"),
        (
            b"__CLANG_OFFLOAD_BUNDLE__",
            "a clang offload bundle, which is not read yet",
        ),
        (
            b"CCOB",
            "a compressed clang offload bundle, which is not read yet",
        ),
        (b"MZ", "a Windows executable, which is not read yet"),
    ];
    let start = match named.iter().find(|(magic, _)| data.starts_with(magic)) {
        Some((_, name)) => (*name).to_owned(),
        None if data.is_empty() => "nothing: it is empty".to_owned(),
        None => {
            let first = data.get(..16).unwrap_or(data);
            format!("\"{}\"", first.escape_ascii())
        }
    };
    Error::Unrecognised {
        offset: bytes.base(),
        start,
    }
}

/// What is known of the surroundings of bytes that are looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    container: String,
    section: Option<String>,
    label: Label,
    /// The kind that the container names.
    kind: Option<Kind>,
    depth: u32,
}

impl Place {
    /// One container further in.
    pub(crate) fn inside(&self, container: &str) -> Self {
        let mut inner = self.clone();
        inner.depth += 1;
        if !inner.container.is_empty() {
            inner.container.push('/');
        }
        inner.container.push_str(container);
        inner
    }

    pub(crate) fn in_section(&self, name: Option<&str>) -> Self {
        Self {
            section: name.map(str::to_owned),
            ..self.clone()
        }
    }
}

#[derive(Default)]
pub(crate) struct Walker<'a> {
    images: Vec<Image<'a>>,
    pub(crate) problems: Vec<Error>,
}

impl<'a> Walker<'a> {
    /// Walks bytes of any known format, the whole of them.
    pub(crate) fn any(&mut self, bytes: Bytes<'a>, place: &Place) -> Result<()> {
        if place.depth > MAX_DEPTH {
            return Err(Error::unsupported(
                "device code",
                bytes.base(),
                format!("containers are nested deeper than {MAX_DEPTH}"),
            ));
        }
        let data = bytes.data();
        if data.starts_with(offload_binary::MAGIC) {
            self.offload_binaries(bytes, place).map(|_| ())
        } else if data.starts_with(fatbin::MAGIC) {
            self.fatbins(bytes, place).map(|_| ())
        } else if data.starts_with(elf::MAGIC) {
            let elf = Elf::parse(bytes)?;
            if elf.is_device() {
                self.image(bytes, place)
            } else {
                self.host(&elf, place);
                Ok(())
            }
        } else if ptx::is_ptx(data) {
            self.image(bytes, place)
        } else {
            Err(unrecognised(bytes))
        }
    }

    /// Walks OffloadBinaries one after another; gives the bytes that they take.
    pub(crate) fn offload_binaries(&mut self, bytes: Bytes<'a>, place: &Place) -> Result<u64> {
        let binaries = OffloadBinary::parse_all(bytes)?;
        for entry in binaries.iter().flat_map(|binary| &binary.entries) {
            let Some(image) = entry.image else { continue };
            let mut inner = place.inside("offload_binary");
            inner.label = Label {
                arch: entry
                    .get("arch")
                    .filter(|arch| !arch.is_empty())
                    .map(str::to_owned),
                ptx_isa: None,
                policy: entry.get(crate::policy::PtxPolicy::KEY).map(str::to_owned),
            };
            inner.kind = Some(match entry.image_kind {
                image_kind::CUBIN => Kind::Cubin,
                image_kind::PTX => Kind::Ptx,
                image_kind::BITCODE => Kind::Bitcode,
                image_kind::SPIRV => Kind::Spirv,
                other => Kind::Unknown(other),
            });
            let walked = self.any(image, &inner);
            self.settle(walked, image, &inner);
        }
        Ok(bytes.len())
    }

    /// After an image of a container was walked: bytes of a kind that is not read are listed by
    /// their label, and any other fault is kept while the walk goes on.
    fn settle(&mut self, walked: Result<()>, image: Bytes<'a>, place: &Place) {
        match (walked, place.kind) {
            (Ok(()), _) => {}
            (Err(Error::Unrecognised { .. }), Some(kind))
                if !matches!(kind, Kind::Cubin | Kind::Gfx | Kind::Ptx) =>
            {
                self.list(kind, image, Compression::None, image.len(), None, place);
            }
            (Err(problem), _) => self.problems.push(problem),
        }
    }

    /// Walks fatbins one after another, with zeros between; gives the bytes that they take.
    pub(crate) fn fatbins(&mut self, bytes: Bytes<'a>, place: &Place) -> Result<u64> {
        let mut at = 0;
        loop {
            let rest = bytes.tail(at).data();
            let Some(zeros) = rest.iter().position(|byte| *byte != 0) else {
                return Ok(bytes.len());
            };
            at = at.saturating_add(zeros as u64);
            let fatbin = Fatbin::parse(bytes.tail(at))?;
            at = at.saturating_add(fatbin.length);
            self.fatbin(&fatbin, place);
        }
    }

    /// Lists the entries of one fatbin.
    pub(crate) fn fatbin(&mut self, fatbin: &Fatbin<'a>, place: &Place) {
        for entry in &fatbin.entries {
            let mut inner = place.inside("fatbin");
            inner.label = Label {
                arch: Some(entry.sm.to_string()),
                ptx_isa: (entry.kind == EntryKind::Ptx).then_some(entry.version),
                policy: place.label.policy.clone(),
            };
            let kind = match entry.kind {
                EntryKind::Ptx => Kind::Ptx,
                EntryKind::Cubin => Kind::Cubin,
                EntryKind::Other(number) => Kind::Unknown(number),
            };
            inner.kind = Some(kind);
            if entry.compression == Compression::None {
                let walked = self.any(entry.payload, &inner);
                self.settle(walked, entry.payload, &inner);
            } else {
                let size = entry.unpacked_size;
                self.list(kind, entry.payload, entry.compression, size, None, &inner);
            }
        }
    }

    /// Lists one bare image. Where its bytes are faulty it is listed all the same, by its label.
    pub(crate) fn image(&mut self, bytes: Bytes<'a>, place: &Place) -> Result<()> {
        let content = Content::parse(bytes);
        let kind = match (&content, place.kind) {
            (Ok(content), _) => content.kind(),
            (Err(_), Some(kind)) => kind,
            (Err(problem), None) => return Err(problem.clone()),
        };
        let bytes = without_padding(bytes, kind);
        let size = bytes.len();
        let (content, problem) = match content {
            Ok(content) => (Some(content), None),
            Err(problem) => (None, Some(problem)),
        };
        self.list(kind, bytes, Compression::None, size, content, place);
        problem.map_or(Ok(()), Err)
    }

    fn list(
        &mut self,
        kind: Kind,
        bytes: Bytes<'a>,
        compression: Compression,
        unpacked_size: u64,
        content: Option<Content>,
        place: &Place,
    ) {
        self.images.push(Image {
            kind,
            location: Location {
                container: place.container.clone(),
                section: place.section.clone(),
                offset: bytes.base(),
            },
            compression,
            data: bytes.data(),
            unpacked_size,
            label: place.label.clone(),
            content,
        });
    }

    /// Walks a host file: first the sections that hold device code by their name or type, then
    /// whatever no container has claimed.
    fn host(&mut self, elf: &Elf<'a>, place: &Place) {
        let inner = place.inside("elf");
        let mut claimed = Vec::new();
        let mut budget = elf.bytes.len();
        for section in &elf.sections {
            let here = inner.in_section(Some(section.name));
            let before = self.images.len();
            let Some(walked) = self.section(section, &here, &mut budget) else {
                continue;
            };
            match walked {
                Ok(length) => claimed.push((section.bytes.base(), length)),
                Err(problem) => {
                    // What was read before the fault is left for the sweep to find, or it would
                    // be listed twice.
                    self.images.truncate(before);
                    self.problems.push(problem);
                }
            }
        }
        sweep::sweep(self, elf, &inner, claimed);
    }

    /// Walks one section, if it is one for device code; gives the bytes that it takes. Sections of
    /// hostile files may overlap, so together they may not be larger than the file.
    fn section(
        &mut self,
        section: &Section<'a>,
        here: &Place,
        budget: &mut u64,
    ) -> Option<Result<u64>> {
        let bytes = section.bytes;
        let read = if section.kind == elf::SHT_LLVM_OFFLOADING || section.name == ".llvm.offloading"
        {
            Self::offload_binaries
        } else if matches!(section.name, ".nv_fatbin" | "__nv_relfatbin") {
            Self::fatbins
        } else if bytes.data().starts_with(b"CCOB") {
            return Some(Err(Error::unsupported(
                "compressed clang offload bundle",
                bytes.base(),
                "this version does not unpack it",
            )));
        } else {
            return None;
        };
        Some(match budget.checked_sub(bytes.len()) {
            Some(rest) => {
                *budget = rest;
                read(self, bytes, here)
            }
            None => Err(Error::malformed(
                "ELF section",
                bytes.base(),
                "sections with device code overlap",
            )),
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.images.len()
    }

    pub(crate) fn truncate(&mut self, images: usize, problems: usize) {
        self.images.truncate(images);
        self.problems.truncate(problems);
    }
}

/// Containers pad what they store: PTX with NULs (the driver wants one), ELF files to a multiple
/// of 8 or 16. The padding is no part of the image, whose hash would change with its container.
fn without_padding(bytes: Bytes<'_>, kind: Kind) -> Bytes<'_> {
    let data = bytes.data();
    let zeros_from = data
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |at| at + 1) as u64;
    let end = match kind {
        Kind::Ptx => zeros_from,
        Kind::Cubin | Kind::Gfx => match Elf::parse(bytes).map(|elf| elf.extent()) {
            Ok(extent) if zeros_from <= extent && bytes.len().saturating_sub(extent) < 16 => extent,
            _ => bytes.len(),
        },
        _ => bytes.len(),
    };
    bytes.slice(0, end, "image").unwrap_or(bytes)
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
