//! A program with a kernel of its own, beside those of the libraries that it is linked with.
#![cfg_attr(offload_device, no_std, no_main, feature(abi_gpu_kernel))]

#[cfg(offload_device)]
use offload_device as _;

/// # Safety
/// `out` is device memory of one element.
#[cfg(offload_device)]
#[no_mangle]
pub unsafe extern "gpu-kernel" fn own(out: *mut u32) {
    *out = 1;
}

#[cfg(offload_host)]
fn main() {}
