//! A kernel, for tests of how it is built; most of them never build it.
#![cfg_attr(offload_device, no_std, no_main, feature(abi_gpu_kernel))]

#[cfg(offload_device)]
use offload_device as _;

/// # Safety
/// `out` is device memory of one element.
#[cfg(offload_device)]
#[no_mangle]
pub unsafe extern "gpu-kernel" fn subject(out: *mut u32) {
    *out = helper::answer();
}

#[cfg(offload_host)]
fn main() {
    println!("{}", helper::answer());
}
