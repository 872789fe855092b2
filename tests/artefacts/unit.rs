//! One of two units: the feature names its kernel.
#![no_std]
#![feature(abi_gpu_kernel)]

use offload_device as _;

/// # Safety
/// `out` is device memory of one element.
#[cfg_attr(feature = "first", export_name = "first")]
#[cfg_attr(feature = "second", export_name = "second")]
pub unsafe extern "gpu-kernel" fn unit(out: *mut u32) {
    *out = 1;
}
