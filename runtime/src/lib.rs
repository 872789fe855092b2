//! Runs GPU kernels from the images that are linked into this program.
//!
//! ```ignore
//! let images = offload::images!()?;
//! for device in offload::Device::all()? {
//!     let kernel = offload::Module::load(&device, &images)?.kernel("saxpy")?;
//!     let x = device.upload(&x)?;
//!     let mut y = device.upload(&y)?;
//!     // SAFETY: the arguments are the kernel's, and both buffers hold `n` elements.
//!     unsafe { kernel.launch(n.div_ceil(256), 256, (n, 2.0f32, &x, &mut y))? };
//!     y.copy_to_host(&mut result)?;
//! }
//! ```
//!
//! The driver is opened at run time, so the same program starts where there is no GPU, and
//! [`Error`] says what is lacking. An image that does not fit the GPU is never loaded, and nothing
//! falls back to another way of computing by itself.
#![deny(unsafe_code)]
#![warn(missing_docs)]

mod args;
mod backend;
mod blob;
mod buffer;
mod choose;
#[allow(unsafe_code)] // Calls the driver.
mod cuda;
mod device;
#[allow(unsafe_code)] // Promises of types about their bytes, and views of these bytes.
mod element;
mod error;
mod images;
mod kernel;
mod module;
#[allow(unsafe_code)] // Reads what the linker laid out.
mod registry;
mod table;
#[cfg(test)]
mod tests;
mod text;

pub use args::{Arg, ArgList, Args};
pub use buffer::Buffer;
pub use device::Device;
pub use element::Element;
pub use error::{DeviceName, Error, ImageName};
pub use images::{Image, Images};
pub use kernel::{Dim, Kernel};
pub use module::Module;
pub use offload_image::image::Kind;
pub use offload_image::policy::PtxPolicy;
pub use offload_image::ptx_isa::PtxIsa;

/// The images linked into the program or shared library that this line is compiled into:
/// `Result<Images<'static>, Error>`.
///
/// Needs the object that `offload link` writes. Without it the link fails, and names
/// `__start_offload_images`.
#[macro_export]
macro_rules! images {
    () => {{
        extern "C" {
            #[link_name = "__start_offload_images"]
            static START: $crate::__private::Record;
            #[link_name = "__stop_offload_images"]
            static STOP: $crate::__private::Record;
        }
        // SAFETY: the linker defines both as the bounds of one section, which `offload link` alone
        // writes.
        #[allow(unsafe_code)]
        unsafe {
            $crate::__private::linked(::core::ptr::addr_of!(START), ::core::ptr::addr_of!(STOP))
        }
    }};
}

#[doc(hidden)]
pub mod __private {
    pub use crate::registry::Record;

    /// What [`images!`](crate::images) calls.
    ///
    /// # Safety
    /// The two are the bounds of this program's `offload_images` section.
    #[allow(unsafe_code)]
    pub unsafe fn linked(
        start: *const Record,
        stop: *const Record,
    ) -> Result<crate::Images<'static>, crate::Error> {
        // SAFETY: the caller's promise.
        crate::Images::of_blobs(&unsafe { crate::registry::blobs(start, stop) }?)
    }
}
