//! The panic handler of a device crate.

/// Stops the whole launch with a trap. There is nobody to unwind to, and no place to print to on
/// both vendors; the host sees the driver's error at the next synchronisation.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::intrinsics::abort()
}
