//! A crate of several files, whose root has a name of its own.
#![no_std]
#![feature(abi_gpu_kernel)]

use offload_device as _;

mod inner;

/// # Safety
/// `out` is device memory of one element.
#[no_mangle]
pub unsafe extern "gpu-kernel" fn in_root(out: *mut u32) {
    *out = inner::VALUE;
}
