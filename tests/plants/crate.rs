//! Device code as plain data of a crate.
#![no_std]

#[used]
static PLANTED: &[u8] = include_bytes!(env!("PLANTED"));

/// Keeps the crate from being left out of the link.
pub fn bytes() -> &'static [u8] {
    PLANTED
}
