//! A kernel that calls a library, which calls another.
#![no_std]
#![feature(abi_gpu_kernel)]

use offload_device as _;

/// # Safety
/// `out` is device memory of one element.
#[no_mangle]
pub unsafe extern "gpu-kernel" fn uses_library(x: u32, out: *mut u32) {
    *out = helper::fourth(x);
}
