//! A value of the wrong type.
#![no_std]
#![feature(abi_gpu_kernel)]

use offload_device as _;

/// # Safety
/// `out` is device memory of one element.
#[no_mangle]
pub unsafe extern "gpu-kernel" fn wrong(out: *mut u32) {
    *out = "text";
}
