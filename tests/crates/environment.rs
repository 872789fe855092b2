//! What the build hands in: a variable and a file.
#![no_std]
#![feature(abi_gpu_kernel)]

use offload_device as _;

const SALT: &[u8] = env!("SALT").as_bytes();
const TEXT: &str = include_str!("data.txt");
const BYTES: &[u8] = include_bytes!("data.txt");
const _: () = assert!(SALT.len() == 2 && SALT[0] == b'1' && SALT[1] == b'7');
const _: () = assert!(TEXT.len() == BYTES.len() && BYTES[0] == b'd');

/// # Safety
/// `out` is device memory of one element.
#[no_mangle]
pub unsafe extern "gpu-kernel" fn environment(out: *mut u32) {
    *out = SALT[0] as u32 + BYTES[0] as u32;
}
