//! A feature makes the kernel.
#![no_std]
#![feature(abi_gpu_kernel)]

use offload_device as _;

/// # Safety
/// `out` is device memory of one element.
#[cfg(feature = "wanted")]
#[no_mangle]
pub unsafe extern "gpu-kernel" fn wanted(out: *mut u32) {
    *out = 1;
}

/// # Safety
/// `out` is device memory of one element.
#[cfg(feature = "unwanted")]
#[no_mangle]
pub unsafe extern "gpu-kernel" fn unwanted(out: *mut u32) {
    *out = 2;
}
