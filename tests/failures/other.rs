//! A kernel of its own, for programs that have it for fewer architectures than they need.
#![no_std]
#![feature(abi_gpu_kernel)]

use offload_device as _;

/// # Safety
/// `out` is device memory of at least one element.
#[no_mangle]
pub unsafe extern "gpu-kernel" fn other(out: *mut u32) {
    *out = 2;
}
