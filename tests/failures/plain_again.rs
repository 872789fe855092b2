//! A kernel of a name that another crate has too, and other code.
#![no_std]
#![feature(abi_gpu_kernel)]

use offload_device as _;

/// # Safety
/// `out` is device memory of at least one element.
#[no_mangle]
pub unsafe extern "gpu-kernel" fn plain(out: *mut u32) {
    *out = 3;
}
