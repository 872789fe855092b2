//! A chain of `let` and a condition: a syntax error before the edition of 2024.
#![no_std]
#![feature(abi_gpu_kernel)]

use offload_device as _;

/// # Safety
/// `out` is device memory of one element.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn edition(x: u32, out: *mut u32) {
    if let Some(half) = x.checked_sub(2)
        && half > 1
    {
        unsafe { *out = half };
    }
}
