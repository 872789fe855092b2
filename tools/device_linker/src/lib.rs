//! Links one Rust device crate into one image.
//!
//! rustc hands a linker the crate's own object and every rlib that it depends on. For NVIDIA's GPUs
//! these hold LLVM bitcode, and the result is PTX: [`ptx`] runs `llvm-link`, `opt` and `llc`. For
//! AMD's they are ELF objects, and the result is an ELF shared object: [`elf`] runs `ld.lld`.
//!
//! Nothing is looked up: each tool's path is an argument, so that a build action which forgot to
//! declare a tool fails here, naming it, and never picks up some other LLVM from the machine.
#![forbid(unsafe_code)]

pub mod args;
pub mod bitcode;
pub mod elf;
pub mod error;
pub mod inputs;
pub mod ptx;
pub mod response;
#[cfg(test)]
mod testing;
pub mod tool;
pub mod workspace;

use std::ffi::OsString;

pub use error::{LinkError, UsageError};

/// Does what a command line (without the program's name) asks for.
///
/// Returns the text for standard output, which is empty unless help or the version was asked for.
pub fn run(argv: impl IntoIterator<Item = OsString>) -> Result<String, LinkError> {
    match args::parse(response::expand(argv)?)? {
        args::Request::Help => Ok(args::HELP.to_owned()),
        args::Request::Version => Ok(format!("device_linker {}\n", env!("CARGO_PKG_VERSION"))),
        args::Request::Ptx(job) => ptx::link(&job).map(|()| String::new()),
        args::Request::Elf(job) => elf::link(&job).map(|()| String::new()),
    }
}
