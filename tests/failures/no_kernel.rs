//! A function that is no kernel, for nobody exported it.
#![no_std]
#![feature(abi_gpu_kernel)]

use offload_device as _;

/// # Safety
/// `out` is device memory of one element.
pub unsafe extern "gpu-kernel" fn forgotten(out: *mut u32) {
    *out = 1;
}
