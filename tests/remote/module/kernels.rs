//! A kernel that adds one to each element.
#![no_std]
#![feature(abi_gpu_kernel)]

use offload_device::global_id_x;

/// # Safety
/// `x` is device memory of at least `n` elements.
#[no_mangle]
pub unsafe extern "gpu-kernel" fn count(n: u32, x: *mut u32) {
    let i = global_id_x();
    if i < n {
        *x.add(i as usize) += 1;
    }
}
