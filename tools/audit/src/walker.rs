//! Walks from format to format. Content decides, never a name or a label: the walker looks at magic
//! bytes, descends into containers, and reads of each image what its own bytes say.

use offload_image::bytes::Bytes;
use offload_image::elf::{self, Elf};
use offload_image::image::{Compression, Kind};
use offload_image::{Error, Result};

use crate::batch::Batch;
use crate::format::Format;
use crate::host::Host;
use crate::image::Image;
use crate::map::Opened;
use crate::packs::Packs;
use crate::place::{Packed, Place};
use crate::reading::Reading;
use crate::scan::{Member, Options, Problem, Sink, State};
use crate::source::Source;
use crate::{sweep, unpack};

/// What bytes turned out to be, once they were walked.
pub(crate) enum Seen {
    /// GPU code.
    Device,
    /// A host file or an archive: none in it, or told already. The reasons are those of
    /// [`State::Elsewhere`].
    Host(Vec<String>),
    /// No format that is known.
    Unknown,
}

pub(crate) struct Walker<'s> {
    sink: &'s mut dyn Sink,
    pub options: &'s Options,
    pub source: Source<'s>,
    /// How many bytes may still be unpacked.
    left: u64,
    images: usize,
    problems: usize,
    /// Those in the notes of the file or member that is walked.
    pub policies: Vec<String>,
}

impl<'s> Walker<'s> {
    pub fn new(sink: &'s mut dyn Sink, options: &'s Options, source: Source<'s>) -> Self {
        Self {
            sink,
            options,
            source,
            left: options.limits.max_total,
            images: 0,
            problems: 0,
            policies: Vec::new(),
        }
    }

    /// Walks a file or a member, and tells what it is.
    pub fn unit(&mut self, bytes: Bytes<'_>, place: &Place) -> State {
        let before = (self.images, self.problems);
        let around = std::mem::take(&mut self.policies);
        let walked = self.any(bytes, place);
        let images = self.images - before.0;
        let seen = match walked {
            Ok(seen) => seen,
            Err(error) => {
                self.problem(error, place);
                Seen::Device
            }
        };
        let problems = self.problems - before.1;
        let format = match (Format::of(bytes), &seen) {
            // The one that has no magic number.
            (Format::Unknown, Seen::Host(_)) => "coff",
            (format, _) => format.name(),
        };
        let state = match seen {
            _ if images > 0 => State::Images,
            Seen::Unknown => State::NotBinary,
            _ if problems > 0 => State::Unreadable,
            Seen::Host(reasons) if !reasons.is_empty() => State::Elsewhere(reasons),
            Seen::Host(_) | Seen::Device => State::NoGpuCode,
        };
        self.sink.member(Member {
            path: place.member.clone(),
            format,
            state: state.clone(),
            images,
            problems,
            policies: std::mem::replace(&mut self.policies, around),
        });
        state
    }

    /// Walks a member that is a file of its own.
    pub fn file(&mut self, file: &Opened, place: &Place) -> State {
        let mut inner = Walker {
            sink: &mut *self.sink,
            options: self.options,
            // Nothing is beside it that a thin archive could name.
            source: Source {
                folder: None,
                file: Some(file),
            },
            left: self.left,
            images: self.images,
            problems: self.problems,
            policies: Vec::new(),
        };
        let state = inner.unit(Bytes::new(file.bytes()), place);
        let (left, images, problems) = (inner.left, inner.images, inner.problems);
        (self.left, self.images, self.problems) = (left, images, problems);
        state
    }

    /// Walks bytes of any known format, the whole of them.
    pub fn any(&mut self, bytes: Bytes<'_>, place: &Place) -> Result<Seen> {
        self.within_depth(bytes.base(), place)?;
        match Format::of(bytes) {
            Format::OffloadBinary => self.offload_binaries(bytes, &Packs::default(), place)?,
            Format::Fatbin => {
                let mut batch = Batch::default();
                let walked = self.fatbins(bytes, place, &mut batch);
                self.look_at(&mut batch);
                walked?;
            }
            Format::Bundle | Format::Ccob => self.bundles(bytes, place)?,
            Format::Elf => match Elf::parse(bytes) {
                Ok(elf) if elf.is_device() => {
                    self.image(bytes, place)?;
                    let claimed = vec![(bytes.base(), elf.extent())];
                    sweep::sweep(self, &Host::of_bytes(bytes), place, claimed);
                }
                Ok(elf) => return Ok(self.host(&Host::of_elf(&elf), place)),
                // Listed by its label, if it has one.
                Err(_) if is_device(bytes) => self.image(bytes, place)?,
                // The ELF reader is for GPU code; of host files there are more kinds.
                Err(error) => return self.foreign(bytes, place, Some(error)),
            },
            Format::Pe | Format::MachO => return self.foreign(bytes, place, None),
            Format::Ar => return self.archive(bytes, place),
            Format::Zip => return self.zip(bytes, place),
            Format::Ptx => self.image(bytes, place)?,
            Format::Bitcode if place.gpu => self.opaque(Kind::Bitcode, bytes, place),
            Format::Spirv => self.opaque(Kind::Spirv, bytes, place),
            Format::Bitcode => {
                let reason = "it is LLVM bitcode, which is not looked into";
                return Ok(Seen::Host(vec![reason.to_owned()]));
            }
            Format::Packed(name) if !place.gpu => {
                return Err(Error::unsupported(
                    "archive",
                    bytes.base(),
                    format!("it is {name}, which is not unpacked"),
                ))
            }
            Format::Packed(_) | Format::Unknown if place.gpu => {
                return Err(Error::unrecognised(bytes))
            }
            Format::Packed(_) | Format::Unknown => {
                if let Some(coff) = Host::of_coff(bytes) {
                    return Ok(self.host(&coff, place));
                }
                sweep::sweep(self, &Host::of_bytes(bytes), place, Vec::new());
                return Ok(Seen::Unknown);
            }
        }
        Ok(Seen::Device)
    }

    /// Refuses what is nested too deep.
    pub fn within_depth(&self, offset: u64, place: &Place) -> Result<()> {
        let limit = self.options.limits.max_depth;
        if place.depth <= limit {
            return Ok(());
        }
        let why = format!("containers are nested deeper than {limit}");
        Err(Error::unsupported("device code", offset, why))
    }

    /// A host file that the ELF reader is not for, or that it finds a fault in.
    fn foreign(&mut self, bytes: Bytes<'_>, place: &Place, error: Option<Error>) -> Result<Seen> {
        if let Some(slices) = crate::host::slices(bytes)? {
            for slice in slices {
                if let Err(error) = self.any(slice, &place.inside("universal")) {
                    self.problem(error, place);
                }
            }
            return Ok(Seen::Host(Vec::new()));
        }
        match Host::of_object(bytes) {
            Ok(host) => Ok(self.host(&host, place)),
            Err(other) => {
                // Its tables are broken. What stands in it in plain sight is found all the same.
                self.problem(error.unwrap_or(other), place);
                sweep::sweep(self, &Host::of_bytes(bytes), place, Vec::new());
                Ok(Seen::Host(Vec::new()))
            }
        }
    }

    /// Unpacks a blob and gives what `then` makes of the bytes.
    pub fn unpacked<T>(
        &mut self,
        compression: Compression,
        blob: Bytes<'_>,
        size: u64,
        then: impl FnOnce(&mut Self, &[u8]) -> T,
    ) -> Result<T> {
        self.spend(size, blob)?;
        let limit = self.options.limits.max_unpacked;
        let bytes = unpack::unpack(compression, blob, size, limit)?;
        Ok(then(self, &bytes))
    }

    /// Takes bytes off what may be unpacked in all.
    pub fn spend(&mut self, size: u64, blob: Bytes<'_>) -> Result<()> {
        self.left = self.left.checked_sub(size).ok_or_else(|| {
            let limit = self.options.limits.max_total;
            Error::unsupported(
                "compressed data",
                blob.base(),
                format!("the file unpacks to more than the limit of {limit} bytes"),
            )
        })?;
        Ok(())
    }

    /// What may still be unpacked at once.
    pub fn allowance(&self) -> u64 {
        self.left.min(self.options.limits.max_unpacked)
    }

    /// After an image of a container was walked: bytes of a kind that is not read are listed by
    /// their label, and any other fault is kept while the walk goes on.
    pub fn settle(&mut self, walked: Result<Seen>, image: Bytes<'_>, place: &Place) {
        match (walked, place.kind) {
            (Ok(_), _) => {}
            (Err(Error::Unrecognised { .. }), Some(kind))
                if !matches!(kind, Kind::Cubin | Kind::Gfx | Kind::Ptx) =>
            {
                self.opaque(kind, image, place);
            }
            (Err(error), _) => self.problem(error, place),
        }
    }

    /// Lists one bare image. Where its bytes are faulty it is listed all the same, by its label.
    pub fn image(&mut self, bytes: Bytes<'_>, place: &Place) -> Result<()> {
        let reading = Reading::of(bytes, place.kind, self.options.sha256, self.source)?;
        self.list(reading, Some(bytes), place)
    }

    /// Lists an image whose bytes are not read.
    pub fn opaque(&mut self, kind: Kind, bytes: Bytes<'_>, place: &Place) {
        let reading = Reading::opaque(kind, bytes, self.options.sha256, self.source);
        // There was nothing to find a fault in.
        let _ = self.list(reading, Some(bytes), place);
    }

    /// Lists an image that was read, and gives what was wrong with it. The sink sees the bytes where
    /// they are still there.
    pub fn list(
        &mut self,
        reading: Reading,
        bytes: Option<Bytes<'_>>,
        place: &Place,
    ) -> Result<()> {
        let packed = place.packed;
        let image = Image {
            kind: reading.kind,
            location: place.location(reading.start),
            compression: packed.map_or(Compression::None, |packed| packed.compression),
            size: packed
                .and_then(|packed| packed.size)
                .unwrap_or(reading.length),
            unpacked_size: reading.length,
            sha256: reading.sha256,
            label: place.label.clone(),
            content: reading.content,
        };
        let bytes = bytes.map(|bytes| bytes.slice(0, reading.length, "image"));
        let bytes = bytes.transpose()?.map(|bytes| bytes.data());
        self.tell(image, bytes);
        self.source.forget(bytes.unwrap_or_default());
        reading.problem.map_or(Ok(()), Err)
    }

    /// Lists an image by its label: it could not be unpacked, or nobody asked for that.
    pub fn unlooked(&mut self, kind: Kind, size: u64, blob: Packed, place: &Place) {
        let stored = blob.size.unwrap_or_default();
        let location = match blob.compression {
            Compression::None => place.location(blob.offset),
            _ => place.unpacked(blob).location(0),
        };
        self.tell(
            Image {
                kind,
                location,
                compression: blob.compression,
                size: stored,
                unpacked_size: size,
                sha256: None,
                label: place.label.clone(),
                content: None,
            },
            None,
        );
    }

    fn tell(&mut self, image: Image, bytes: Option<&[u8]>) {
        self.images += 1;
        self.sink.image(image, bytes);
    }

    pub fn problem(&mut self, error: Error, place: &Place) {
        self.problems += 1;
        self.sink.problem(Problem {
            member: place.member.clone(),
            unpacked_from: place.packed.map(|packed| packed.offset),
            error,
        });
    }

    /// How many images have been told.
    pub fn told(&self) -> usize {
        self.images
    }
}

/// Whether broken ELF says that it is for a GPU.
fn is_device(bytes: Bytes<'_>) -> bool {
    bytes
        .u16(18, "ELF machine")
        .is_ok_and(elf::is_device_machine)
}
