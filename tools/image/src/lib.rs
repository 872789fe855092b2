//! Reads and writes the containers that GPU code travels in: PTX text, cubins, AMD code objects,
//! fatbins, LLVM OffloadBinary, and host ELF files that hold any of them.
//!
//! - [`scan::scan`] finds every device image in the bytes of a file, whatever it is inside of.
//! - [`arch`] is the table of GPU architectures, [`target`] one of them with its modes.
//! - [`select`] ranks images for a device: the rules that the runtime follows.
//! - [`offload_binary`] and [`relocatable`] also write.
//!
//! Parsers take bytes and never trust them: every read is bounds-checked, nothing is allocated by
//! a length that the input names, and a fault is an [`Error`] with its offset, never a panic.
#![forbid(unsafe_code)]

pub mod arch;
mod arch_table;
pub mod bytes;
pub mod cubin;
pub mod elf;
mod error;
pub mod fatbin;
pub mod gfx;
pub mod image;
pub mod msgpack;
pub mod near;
pub mod offload_binary;
pub mod policy;
pub mod ptx;
mod ptx_tokens;
pub mod relocatable;
pub mod scan;
pub mod select;
mod sweep;
pub mod target;

pub use error::{Error, Result};
