//! What a build script hands on: a cfg, a variable, a source.
#![no_std]
#![feature(abi_gpu_kernel)]

use offload_device as _;

mod generated {
    include!(concat!(env!("OUT_DIR"), "/value.rs"));
}

const _: () = assert!(env!("SCRIPT_TARGET").len() > 1);

/// The image holds where its source lay.
///
/// # Safety
/// `out` is device memory of one element, `at` less than the length of a path.
#[cfg(script_ran)]
#[no_mangle]
pub unsafe extern "gpu-kernel" fn from_build_script(out: *mut u32, at: usize) {
    *out = generated::VALUE + u32::from(*generated::FILE.as_ptr().add(at));
}
