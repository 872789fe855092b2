//! The least that is a device crate.
#![no_std]
#![feature(abi_gpu_kernel)]

use offload_device as _;

/// # Safety
/// `out` is device memory of one element.
#[no_mangle]
pub unsafe extern "gpu-kernel" fn plain(out: *mut u32) {
    *out = 1;
}
