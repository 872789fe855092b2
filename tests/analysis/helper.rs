//! An ordinary library, for host and GPU.
#![no_std]

pub fn answer() -> u32 {
    42
}
