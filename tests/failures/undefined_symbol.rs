//! A call of a function that is nowhere.
#![no_std]
#![feature(abi_gpu_kernel)]

use offload_device as _;

extern "C" {
    fn nowhere(x: u32) -> u32;
}

/// # Safety
/// `out` is device memory of one element.
#[no_mangle]
pub unsafe extern "gpu-kernel" fn calls(out: *mut u32) {
    *out = nowhere(1);
}
