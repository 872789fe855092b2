//! A device image as it was found: what it is, and where it lies.

use offload_image::arch::Suffix;
use offload_image::image::{Compression, Content, Kind};
use offload_image::ptx_isa::PtxIsa;
use offload_image::target::{Sm, Target};

/// Where an image was found.
#[derive(Debug, Clone, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Location {
    /// The member of an archive or zip file, outermost first; empty for the file itself.
    pub member: Vec<String>,
    /// Where its stored bytes start, from the start of the innermost member: what a hex dump of the
    /// file shows, or of the member after `unzip` or `ar x`. Of an image in a compressed blob it is
    /// where the blob starts.
    pub offset: u64,
    /// Where the image starts in the unpacked blob.
    pub inner_offset: Option<u64>,
    /// The formats around it, outermost first, joined by `/`: `elf/fatbin`; empty for a bare image.
    pub container: String,
    /// Where the innermost container of GPU code starts, counted as `offset` is; `None` for a bare
    /// image. Images of one fatbin or bundle share it.
    pub container_offset: Option<u64>,
    /// The section of the host file.
    pub section: Option<String>,
    /// Which of the packed files that the host file was linked from: the index of its record in the
    /// section `offload_images`, which is the order in which the runtime looks through them. `None`
    /// where there is no such record.
    pub pack: Option<u64>,
}

/// What the container says of an image.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Label {
    /// The architecture.
    pub arch: Option<String>,
    /// The PTX ISA version, which fatbins know of PTX that is compressed.
    pub ptx_isa: Option<PtxIsa>,
    /// The value of the OffloadBinary key `ptx_policy`.
    pub policy: Option<String>,
}

/// A device image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// What it is.
    pub kind: Kind,
    /// Where it was found.
    pub location: Location,
    /// How its bytes, or the blob around them, are stored.
    pub compression: Compression,
    /// Its size in bytes as stored; where one compressed blob holds several images, its size in
    /// that blob.
    pub size: u64,
    /// Its size in bytes when unpacked; where that failed, what the container says.
    pub unpacked_size: u64,
    /// Of the unpacked bytes; `None` where they could not be had, or nobody asked.
    pub sha256: Option<[u8; 32]>,
    /// What its container says of it.
    pub label: Label,
    /// What its own bytes say; `None` where they were not or could not be read.
    pub content: Option<Content>,
}

impl Image {
    /// The architecture: what the bytes say, or else the label.
    #[must_use]
    pub fn arch(&self) -> Option<String> {
        let label = self.label.arch.as_deref();
        match &self.content {
            Some(content) => Some(content.arch(label)),
            None => label.map(str::to_owned),
        }
    }

    /// The architecture as the bytes alone have it.
    #[must_use]
    pub fn actual_arch(&self) -> Option<String> {
        self.content.as_ref().map(|content| content.arch(None))
    }

    /// The label where it contradicts the bytes.
    #[must_use]
    pub fn false_label(&self) -> Option<&str> {
        let label = self.label.arch.as_deref()?;
        let content = self.content.as_ref()?;
        let actual = content.arch(Some(label));
        let canonical = Target::parse(label).map_or_else(|_| label.to_owned(), |t| t.to_string());
        (actual != canonical).then_some(label)
    }

    /// The letter after the SM number; `None` where neither bytes nor label tell, and for AMD.
    #[must_use]
    pub fn suffix(&self) -> Option<Suffix> {
        let label = self.label.arch.as_deref().and_then(Sm::parse);
        match &self.content {
            Some(Content::Gfx(_)) => None,
            Some(content) => content.suffix().or(label.map(|label| label.suffix)),
            None => label.map(|label| label.suffix),
        }
    }

    /// Whether it has to be linked with other device code before it runs: in a build by `nvlink`, or
    /// at start by the driver. Its own bytes do not tell; the section does that compilers put it in.
    #[must_use]
    pub fn relocatable(&self) -> bool {
        let section = self.location.section.as_deref();
        matches!(section, Some("__nv_relfatbin" | "__nv_rel"))
    }

    /// The kernels; `None` where they could not be read.
    #[must_use]
    pub fn kernels(&self) -> Option<&[String]> {
        self.content.as_ref().map(Content::kernels)
    }

    /// The PTX ISA version, for PTX.
    #[must_use]
    pub fn ptx_isa(&self) -> Option<PtxIsa> {
        match &self.content {
            Some(Content::Ptx(ptx)) => Some(ptx.isa),
            _ => self.label.ptx_isa,
        }
    }
}
