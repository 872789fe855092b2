//! One device image, wherever it was found.

use std::fmt;

use crate::bytes::Bytes;
use crate::cubin::Cubin;
use crate::elf::{Elf, EM_AMDGPU, EM_CUDA};
use crate::error::{Error, Result};
use crate::gfx::CodeObject;
use crate::ptx::Ptx;
use crate::select::PtxIsa;
use crate::target::{Sm, Target};

/// What an image is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// NVIDIA machine code.
    Cubin,
    /// AMD machine code.
    Gfx,
    /// Text that NVIDIA's driver compiles at run time.
    Ptx,
    /// LLVM bitcode.
    Bitcode,
    /// SPIR-V.
    Spirv,
    /// A kind number that this crate has no name for, as its container gives it.
    Unknown(u16),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cubin => "cubin",
            Self::Gfx => "gfx",
            Self::Ptx => "ptx",
            Self::Bitcode => "bitcode",
            Self::Spirv => "spirv",
            Self::Unknown(number) => return write!(f, "unknown kind {number}"),
        })
    }
}

/// How an image's bytes are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// As they are.
    None,
    /// An LZ4 block.
    Lz4,
    /// A zstd frame.
    Zstd,
    /// Compressed in a way that the container's flags do not tell.
    Unknown,
}

impl Compression {
    /// The word used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
            Self::Unknown => "unknown",
        }
    }
}

/// Where an image was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Location {
    /// The formats around it, outermost first, joined by `/`: `elf/fatbin`; empty for a bare image.
    pub container: String,
    /// The section of the host file.
    pub section: Option<String>,
    /// Where its stored bytes start in the file.
    pub offset: u64,
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
pub struct Image<'a> {
    /// What it is.
    pub kind: Kind,
    /// Where it was found.
    pub location: Location,
    /// How its bytes are stored.
    pub compression: Compression,
    /// The bytes as stored.
    pub data: &'a [u8],
    /// Its size in bytes when unpacked.
    pub unpacked_size: u64,
    /// What its container says of it.
    pub label: Label,
    /// What its own bytes say; `None` where they were not or could not be read.
    pub content: Option<Content>,
}

/// What an image's own bytes say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// From a cubin.
    Cubin(Cubin),
    /// From an AMD code object.
    Gfx(CodeObject),
    /// From PTX.
    Ptx(Ptx),
}

impl Content {
    /// Reads the bytes of one image, whatever of the three it is.
    ///
    /// # Errors
    /// The bytes are none of them, or malformed.
    pub fn parse(bytes: Bytes<'_>) -> Result<Self> {
        if bytes.data().starts_with(crate::elf::MAGIC) {
            let elf = Elf::parse(bytes)?;
            return match elf.machine {
                EM_CUDA => Cubin::from_elf(&elf).map(Self::Cubin),
                EM_AMDGPU => CodeObject::from_elf(&elf).map(Self::Gfx),
                other => Err(Error::malformed(
                    "device image",
                    bytes.file_offset(18),
                    format!("an ELF file for machine {other}, which is no GPU"),
                )),
            };
        }
        if crate::ptx::is_ptx(bytes.data()) {
            return Ptx::parse(bytes.data(), bytes.base()).map(Self::Ptx);
        }
        Err(crate::scan::unrecognised(bytes))
    }

    /// What the image is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Cubin(_) => Kind::Cubin,
            Self::Gfx(_) => Kind::Gfx,
            Self::Ptx(_) => Kind::Ptx,
        }
    }

    /// The kernels that can be launched by name, sorted.
    #[must_use]
    pub fn kernels(&self) -> &[String] {
        match self {
            Self::Cubin(cubin) => &cubin.kernels,
            Self::Gfx(code) => &code.kernels,
            Self::Ptx(ptx) => &ptx.kernels,
        }
    }

    /// The architecture that the bytes name, given what a label says where they leave it open.
    #[must_use]
    pub fn arch(&self, label: Option<&str>) -> String {
        match self {
            Self::Cubin(cubin) => match (cubin.suffix, label.and_then(Sm::parse)) {
                (None, Some(label)) if label.number == cubin.sm => label.to_string(),
                (suffix, _) => Sm {
                    number: cubin.sm,
                    suffix: suffix.unwrap_or(crate::arch::Suffix::Plain),
                }
                .to_string(),
            },
            Self::Gfx(code) => match (&code.target, &code.noted) {
                (Some(target), _) => target.to_string(),
                (None, Some(noted)) => noted.clone(),
                (None, None) => format!("unknown MACH {:#04x}", code.mach),
            },
            Self::Ptx(ptx) => ptx.target.clone(),
        }
    }
}

impl Image<'_> {
    /// The architecture: what the bytes say, or else the label.
    #[must_use]
    pub fn arch(&self) -> Option<String> {
        let label = self.label.arch.as_deref();
        match &self.content {
            Some(content) => Some(content.arch(label)),
            None => label.map(str::to_owned),
        }
    }

    /// The label where it contradicts the bytes.
    #[must_use]
    pub fn false_label(&self) -> Option<&str> {
        let label = self.label.arch.as_deref()?;
        let canonical = Target::parse(label).map_or_else(|_| label.to_owned(), |t| t.to_string());
        let content = self.content.as_ref()?;
        (content.arch(Some(label)) != canonical).then_some(label)
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
