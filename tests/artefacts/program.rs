//! A program that only carries its images: nothing in it calls the runtime.
#![cfg_attr(offload_device, no_std, no_main, feature(abi_gpu_kernel))]

#[cfg(offload_device)]
use offload_device as _;

/// # Safety
/// `out` is device memory of one element.
#[cfg(offload_device)]
#[no_mangle]
pub unsafe extern "gpu-kernel" fn carried(out: *mut u32) {
    *out = 7;
}

#[cfg(offload_host)]
fn main() {}
