//! One device image: what kinds there are, and what its own bytes say.

use std::fmt;

use crate::arch::Suffix;
use crate::bytes::Bytes;
use crate::cubin::Cubin;
use crate::elf::{Elf, EM_AMDGPU, EM_CUDA};
use crate::error::{Error, Result};
use crate::gfx::CodeObject;
use crate::ptx::Ptx;
use crate::target::Sm;

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
    /// A zlib stream.
    Zlib,
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
            Self::Zlib => "zlib",
            Self::Unknown => "unknown",
        }
    }
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
        Err(Error::unrecognised(bytes))
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

    /// The letter of an SM number (`sm_90a`); `None` where nothing in the bytes tells, and for AMD.
    #[must_use]
    pub fn suffix(&self) -> Option<Suffix> {
        match self {
            Self::Cubin(cubin) => cubin.suffix,
            Self::Gfx(_) => None,
            Self::Ptx(ptx) => ptx.sm.map(|sm| sm.suffix),
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
                    suffix: suffix.unwrap_or(Suffix::Plain),
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
