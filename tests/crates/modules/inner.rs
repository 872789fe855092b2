//! A kernel that the root does not name.

pub const VALUE: u32 = 3;

/// # Safety
/// `out` is device memory of one element.
#[no_mangle]
pub unsafe extern "gpu-kernel" fn in_module(out: *mut u32) {
    *out = VALUE + 1;
}
