//! A crate between the program and the one with the device code.
#![no_std]
pub use planted_crate::bytes;
