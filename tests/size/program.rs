//! A program with ordinary code and data, which reads what is linked into it.

use std::sync::atomic::{AtomicU32, Ordering};

static INITIALISED: AtomicU32 = AtomicU32::new(40);
static ZERO: [AtomicU32; 4096] = [const { AtomicU32::new(0) }; 4096];

/// Prints each image, and the last bytes of it.
#[no_mangle]
pub extern "C" fn main() -> i32 {
    ZERO[4095].fetch_add(2, Ordering::Relaxed);
    let sum = INITIALISED.load(Ordering::Relaxed) + ZERO[4095].load(Ordering::Relaxed);
    println!("data: {sum}");
    let images = match offload::images!() {
        Ok(images) => images,
        Err(error) => {
            println!("{error}");
            return 1;
        }
    };
    for image in images.iter() {
        let bytes = image.bytes();
        let end = bytes.len().saturating_sub(7);
        let end = String::from_utf8_lossy(&bytes[end..]);
        println!("image: {} {} {end}", image.arch(), bytes.len());
    }
    0
}
