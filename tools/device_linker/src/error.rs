//! Everything that can go wrong, as data.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use thiserror::Error;

use crate::bitcode::BitcodeError;

/// Where a mistake in the toolchain's definition is mended.
const MEND_TOOL: &str = "the device toolchain has to pass it: -Clink-arg=";

/// A command line that cannot be carried out as it stands.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UsageError {
    #[error("`{0}` is not an argument that this linker knows; see --help. Own link arguments of a crate are not supported on a GPU, except -Wl,… for amdgcn")]
    Unknown(String),
    #[error("`{0}` needs a value after it")]
    NoValue(String),
    #[error("`{0}` was given twice, as `{1}` and as `{2}`")]
    Twice(&'static str, String, String),
    #[error("no `{0}` was given")]
    Missing(&'static str),
    #[error(
        "no path to `{tool}` was given; {MEND_TOOL}--{tool}=PATH (nothing is searched on PATH)"
    )]
    MissingTool { tool: &'static str },
    #[error("target `{0}` is linked by another linker; this one makes PTX for nvptx64-nvidia-cuda, and with --lld=PATH code objects for amdgcn-amd-amdhsa")]
    Target(String),
    #[error("`{0}` is for PTX only, but --lld asks for an amdgcn link")]
    PtxOnly(String),
    #[error("the output {path} is also an input, and would be lost; name another file")]
    OutputIsInput { path: PathBuf },
    #[error("the output {path} is a folder or a device; name a file")]
    OutputIsNoFile { path: PathBuf },
    #[error("no input files were given")]
    NoInputs,
    #[error("the exported name `{0}` cannot be written in PTX: use letters, digits, `_`, `$` and `.` only")]
    ExportName(String),
    #[error("the response file {path} nests another one, `{inner}`")]
    NestedResponse { path: PathBuf, inner: String },
    #[error("the response file {path} is larger than {limit} bytes")]
    ResponseTooLarge { path: PathBuf, limit: u64 },
}

/// Any failure of a link.
#[derive(Debug, Error)]
pub enum LinkError {
    #[error(transparent)]
    Usage(#[from] UsageError),

    #[error("cannot {what} {path}: {source}")]
    Io {
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },

    #[error("{path}: {problem}")]
    Input { path: PathBuf, problem: InputError },

    #[error(
        "{file} was written by {producer}, which is newer than {tool} {have} at {path}; \
         the device toolchain's rustc and LLVM tools have to be of one major version: \
         take LLVM {want} tools, or the rustc that goes with LLVM {have}"
    )]
    ToolTooOld {
        file: String,
        producer: String,
        tool: &'static str,
        path: PathBuf,
        have: u32,
        want: u32,
    },

    #[error("{tool} at {path} does not say which LLVM it is; `--version` printed: {printed:?}")]
    ToolVersion {
        tool: &'static str,
        path: PathBuf,
        printed: String,
    },

    #[error("{tool} ({path}) failed: {status}\n{stderr}")]
    Tool {
        tool: &'static str,
        path: PathBuf,
        status: ExitStatus,
        stderr: String,
    },

    #[error("{tool} succeeded but wrote {what}")]
    Output { tool: &'static str, what: String },

    #[error("llc was asked for `{wanted}` but wrote PTX for `{got}`")]
    WrongTarget { wanted: String, got: String },

    #[error(
        "llc does not know `{name}` ({why}) and would carry on with a default; \
         check how the arch or feature is spelled, and whether this LLVM is new enough for it"
    )]
    UnknownToLlc { name: String, why: String },
}

/// What is wrong with an input file.
#[derive(Debug, Error)]
pub enum InputError {
    #[error("neither LLVM bitcode nor an archive (it begins with {begins:02x?}); was it compiled for another target?")]
    NotBitcode { begins: Vec<u8> },
    #[error("member `{member}`: {source}")]
    Member {
        member: String,
        source: BitcodeError,
    },
    #[error(transparent)]
    Bitcode(#[from] BitcodeError),
    #[error("broken archive: {0}")]
    Archive(String),
}

impl LinkError {
    /// 2 for a wrong command line, 3 for a file that cannot be understood, 1 for the rest.
    pub fn exit_code(&self) -> u8 {
        match self {
            LinkError::Usage(_) => 2,
            LinkError::Input { .. } => 3,
            _ => 1,
        }
    }

    /// For `map_err` on an I/O call.
    pub fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> LinkError {
        let path = path.into();
        move |source| LinkError::Io { what, path, source }
    }
}
