//! Finds every GPU image in a file, whatever the file is: executables and libraries (ELF, PE, COFF,
//! Mach-O), `ar` archives, zip files and wheels, and GPU containers inside any of them, packed or
//! not.
//!
//! - [`scan::scan`] for bytes, [`files`] for paths and folders.
//! - [`scan::Sink`] takes images one at a time, with their unpacked bytes for who asks, so that a large
//!   library needs no memory for all of them at once.
//! - [`limits::Limits`] bound what may be unpacked, and how deep.
//!
//! The formats of GPU code themselves are read by [`offload_image`]; here are the files around them
//! and the decompressors. Content decides, never a name or a label.
#![deny(unsafe_code)]

mod batch;
mod fatbins;
pub mod files;
mod format;
mod gpu;
mod hints;
mod host;
pub mod image;
pub mod limits;
mod map;
mod member;
mod packs;
mod place;
mod reading;
pub mod scan;
mod source;
mod sweep;
pub mod unpack;
mod walker;
mod zip_file;
