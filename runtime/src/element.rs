//! What may stand in device memory and travel to it.

/// A type whose values are plain bytes: no padding, every bit pattern valid, no pointers of the
/// host.
///
/// # Safety
/// Implement it for a `#[repr(C)]` struct of such types only where the struct has no padding. The
/// kernel must lay the type out in the same way.
pub unsafe trait Element: Copy + Send + Sync + 'static {}

macro_rules! elements {
    ($($type:ty)*) => {$(
        // SAFETY: a number without padding; every bit pattern is one.
        unsafe impl Element for $type {}
    )*};
}

elements!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

// SAFETY: arrays have no padding of their own.
unsafe impl<T: Element, const N: usize> Element for [T; N] {}

pub(crate) fn bytes<T: Element>(elements: &[T]) -> &[u8] {
    // SAFETY: `Element` promises bytes without padding; the slice covers exactly these.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), std::mem::size_of_val(elements)) }
}

pub(crate) fn bytes_mut<T: Element>(elements: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and whatever is written is a valid `T`.
    unsafe {
        std::slice::from_raw_parts_mut(
            elements.as_mut_ptr().cast(),
            std::mem::size_of_val(elements),
        )
    }
}
