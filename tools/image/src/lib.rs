//! Reads and writes GPU code and the formats made for it: PTX text, cubins, AMD code objects,
//! fatbins, LLVM OffloadBinary, clang's offload bundles.
//!
//! It unpacks nothing and looks into no other file: finding images in executables, archives and
//! wheels is the work of the crate `offload_audit`, which the runtime does without.
//!
//! - [`image`] tells what an image is, by its own bytes.
//! - [`arch`] is the table of GPU architectures, [`target`] one of them with its modes.
//! - [`ptx_isa`] is the table of PTX versions and the drivers that compile them.
//! - [`select`] ranks images for a device: the rules that the runtime follows.
//! - [`strong`] tells which kernels no other image may have under the same name.
//! - [`offload_binary`], [`fatbin`], [`bundle`] and [`relocatable`] also write.
//!
//! Parsers take bytes and never trust them: every read is bounds-checked, nothing is allocated by
//! a length that the input names, and a fault is an [`Error`] with its offset, never a panic.
#![forbid(unsafe_code)]

pub mod arch;
mod arch_table;
pub mod bundle;
pub mod bytes;
pub mod ccob;
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
pub mod policy_note;
pub mod ptx;
pub mod ptx_isa;
mod ptx_tokens;
pub mod relocatable;
pub mod select;
pub mod strong;
pub mod target;

pub use error::{Error, Result};
