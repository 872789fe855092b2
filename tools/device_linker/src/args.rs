//! The command line, as rustc writes it.
//!
//! rustc has no one dialect: for nvptx64 it uses long options with the value after a space, for
//! amdgcn (linker flavour `gcc`) a C compiler's. No option parser speaks both, so this one is by
//! hand; an argument that it does not know is refused rather than dropped.

mod amdgcn;
mod nvptx;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::error::UsageError;

/// What `--help` prints.
pub const HELP: &str = "\
Links one Rust device crate; called by rustc, not by hand.

NVIDIA (rustc --target nvptx64-nvidia-cuda -Clinker=device_linker, each of these as a -Clink-arg):
  --llvm-link=PATH --opt=PATH --llc=PATH   the LLVM tools; nothing is searched on PATH
  --keep-debug                             keep line tables (off: they name source paths)

AMD (rustc --target amdgcn-amd-amdhsa -Clinker-flavor=gcc -Clinker=device_linker):
  --lld=PATH                               the ELF linker

From rustc: --export-symbol NAME, --target TRIPLE, --target-cpu CPU, --target-feature LIST,
  -O0 -O1 -O2 -O3 -Os -Oz, --debug, -L DIR, -o FILE, -Wl,ARG, @FILE and the input files.
";

/// What one command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Request {
    Help,
    Version,
    Ptx(PtxJob),
    Elf(ElfJob),
}

/// A link of bitcode to PTX.
#[derive(Debug, PartialEq, Eq)]
pub struct PtxJob {
    pub inputs: Vec<PathBuf>,
    pub output: PathBuf,
    /// The kernels; everything else becomes internal to the module.
    pub exports: Vec<String>,
    pub cpu: String,
    pub features: Option<String>,
    pub level: OptLevel,
    pub keep_debug: bool,
    pub llvm_link: PathBuf,
    pub opt: PathBuf,
    pub llc: PathBuf,
}

/// A link of ELF objects to an AMD code object.
#[derive(Debug, PartialEq, Eq)]
pub struct ElfJob {
    /// ld.lld's arguments in their order, without `-o`.
    pub arguments: Vec<OsString>,
    pub output: PathBuf,
    pub lld: PathBuf,
}

/// rustc's `-Copt-level`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OptLevel {
    #[default]
    O0,
    O1,
    O2,
    O3,
    Os,
    Oz,
}

impl OptLevel {
    fn parse(letter: &str) -> Option<Self> {
        Some(match letter {
            "0" => OptLevel::O0,
            "1" => OptLevel::O1,
            "2" => OptLevel::O2,
            "3" => OptLevel::O3,
            "s" => OptLevel::Os,
            "z" => OptLevel::Oz,
            _ => return None,
        })
    }

    /// As LLVM's pass pipelines spell it.
    pub fn llvm(self) -> &'static str {
        match self {
            OptLevel::O0 => "O0",
            OptLevel::O1 => "O1",
            OptLevel::O2 => "O2",
            OptLevel::O3 => "O3",
            OptLevel::Os => "Os",
            OptLevel::Oz => "Oz",
        }
    }
}

/// Reads a command line without the program's name.
pub fn parse(argv: Vec<OsString>) -> Result<Request, UsageError> {
    let has = |name: &str| argv.iter().any(|arg| arg == name);
    if has("--help") || has("-h") {
        return Ok(Request::Help);
    }
    if has("--version") {
        return Ok(Request::Version);
    }
    let starts = |prefix: &str| {
        let mut texts = argv.iter().filter_map(|arg| arg.to_str());
        texts.any(|text| text.starts_with(prefix))
    };
    if has("--lld") || starts("--lld=") {
        amdgcn::parse(argv).map(Request::Elf)
    } else if has("-shared") || starts("-Wl,") {
        Err(UsageError::MissingTool { tool: "lld" })
    } else {
        nvptx::parse(argv).map(Request::Ptx)
    }
}

/// Walks the arguments and takes the values of options.
struct Cursor(std::vec::IntoIter<OsString>);

impl Cursor {
    /// The value of option `name`, if `arg` is that option: `NAME VALUE` or `NAME=VALUE`.
    fn value(&mut self, arg: &str, name: &str) -> Result<Option<OsString>, UsageError> {
        let Some(rest) = arg.strip_prefix(name) else {
            return Ok(None);
        };
        if rest.is_empty() {
            let missing = || UsageError::NoValue(name.to_owned());
            return self.0.next().ok_or_else(missing).map(Some);
        }
        match rest.strip_prefix('=') {
            Some("") => Err(UsageError::NoValue(name.to_owned())),
            Some(value) => Ok(Some(value.into())),
            None => Ok(None),
        }
    }
}

/// Sets an option that may be given once, or again with the same value: a toolchain's flags and a
/// target's can both name a tool.
fn set<T: AsRef<OsStr> + Into<OsString>>(
    slot: &mut Option<OsString>,
    name: &'static str,
    value: T,
) -> Result<(), UsageError> {
    match slot {
        Some(old) if old.as_os_str() != value.as_ref() => {
            Err(UsageError::Twice(name, lossy(old), lossy(value.as_ref())))
        }
        _ => {
            *slot = Some(value.into());
            Ok(())
        }
    }
}

fn lossy(text: &OsStr) -> String {
    text.to_string_lossy().into_owned()
}
