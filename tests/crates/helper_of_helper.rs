//! What the library itself depends on.
#![no_std]

// Out of line, so that it is linked as any function is.
#[inline(never)]
pub fn square(x: u32) -> u32 {
    x.wrapping_mul(x)
}
