//! A crate with a C library among its dependencies.
extern "C" {
    static planted: u8;
}

pub fn bytes() -> &'static [u8] {
    // SAFETY: the library defines it, and nobody writes to it.
    unsafe { core::slice::from_ref(&planted) }
}
