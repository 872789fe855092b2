//! A device's primary context: the one that every library in the process shares.

use super::api::Api;
use super::codes;
use crate::backend::{Context, Handle, LoadError, Shape, Slot};
use crate::error::Error;
use crate::images::Image;
use offload_image::image::Kind;
use std::borrow::Cow;
use std::ffi::{c_int, c_void, CString};

const NONE: Handle = Handle(0);

/// More than the 32,764 bytes of parameters that a kernel may have could hold.
const MOST_PARAMETERS: usize = 1 << 15;

pub(super) struct CudaContext {
    api: &'static Api,
    device: c_int,
    context: Handle,
}

impl CudaContext {
    pub(super) fn retain(api: &'static Api, device: c_int) -> Result<CudaContext, Error> {
        let mut context = NONE;
        // SAFETY: the pointer is to a live handle, the device is the driver's own.
        unsafe { api.primary_retain(&mut context, device) }
            .map_err(|e| e.while_doing("starting the GPU"))?;
        Ok(CudaContext {
            api,
            device,
            context,
        })
    }

    /// Makes this context the calling thread's own until the guard is dropped. The one before is
    /// put back then: other libraries in the process rely on theirs.
    fn enter(&self) -> Result<Entered<'_>, Error> {
        let mut before = NONE;
        // SAFETY: the pointer is to a live handle; the context is retained.
        unsafe {
            self.api.current(&mut before)?;
            if before != self.context {
                self.api.set_current(self.context)?;
            }
        }
        Ok(Entered {
            context: self,
            before,
        })
    }
}

struct Entered<'c> {
    context: &'c CudaContext,
    before: Handle,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if self.before != self.context.context {
            // SAFETY: it was current on this thread a moment ago. There is nobody to tell of a
            // failure.
            let _ = unsafe { self.context.api.set_current(self.before) };
        }
    }
}

impl Context for CudaContext {
    fn identity(&self) -> usize {
        self.context.0
    }

    fn load(&self, image: &Image<'_>) -> Result<Handle, LoadError> {
        let _entered = self.enter()?;
        let bytes = loadable(image);
        let mut module = NONE;
        // SAFETY: the driver reads PTX up to its NUL, or a whole cubin, whose structure
        // `Image::kernels` has checked to lie within its bytes.
        match unsafe { self.api.module_load(&mut module, bytes.as_ptr().cast()) } {
            Ok(()) => Ok(module),
            Err(Error::Driver {
                code: codes::UNSUPPORTED_PTX_VERSION,
                ..
            }) => Err(LoadError::PtxTooNew),
            Err(error) => Err(error
                .while_doing(&format!("loading the image {}", image.name()))
                .into()),
        }
    }

    fn unload(&self, module: Handle) {
        let Ok(_entered) = self.enter() else { return };
        // SAFETY: the handle is of this context, and dropped here. A failure would have nobody to
        // be told to, and every later call reports it as well.
        unsafe {
            let _ = self.api.synchronize();
            let _ = self.api.module_unload(module);
        }
    }

    fn function(&self, module: Handle, name: &str) -> Result<Option<Handle>, Error> {
        // No kernel has a NUL in its name.
        let Ok(c_name) = CString::new(name) else {
            return Ok(None);
        };
        let _entered = self.enter()?;
        let mut function = NONE;
        // SAFETY: a live handle, a module of this context, a C string.
        match unsafe {
            self.api
                .module_function(&mut function, module, c_name.as_ptr())
        } {
            Ok(()) => Ok(Some(function)),
            Err(Error::Driver {
                code: codes::NOT_FOUND,
                ..
            }) => Ok(None),
            Err(error) => Err(error.while_doing(&format!("looking for kernel `{name}`"))),
        }
    }

    fn parameter_sizes(&self, function: Handle) -> Result<Option<Vec<usize>>, Error> {
        let _entered = self.enter()?;
        let mut sizes = Vec::new();
        while sizes.len() < MOST_PARAMETERS {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: live integers, a function of this context.
            match unsafe {
                self.api
                    .parameter_info(function, sizes.len(), &mut offset, &mut size)
            } {
                Ok(()) => sizes.push(size),
                // Past the last one. At the first it may as well mean that the image does not tell.
                Err(Error::Driver {
                    code: codes::INVALID_VALUE,
                    ..
                }) if !sizes.is_empty() => return Ok(Some(sizes)),
                // Only a check is lost, which a driver before CUDA 12.4 does not offer either.
                Err(_) => return Ok(None),
            }
        }
        Ok(None)
    }

    fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        let _entered = self.enter()?;
        let mut address = 0;
        // SAFETY: the pointer is to a live integer.
        unsafe { self.api.alloc(&mut address, bytes) }
            .map_err(|e| e.while_doing(&format!("allocating {bytes} bytes on the GPU")))?;
        Ok(address)
    }

    fn free(&self, address: u64) {
        let Ok(_entered) = self.enter() else { return };
        // SAFETY: `alloc` gave the address, and its owner drops it here. As for failures, see
        // `unload`.
        let _ = unsafe { self.api.free(address) };
    }

    fn upload(&self, to: u64, from: &[u8]) -> Result<(), Error> {
        let _entered = self.enter()?;
        // SAFETY: the slice is readable; the driver checks the device's side.
        unsafe { self.api.upload(to, from.as_ptr().cast(), from.len()) }
            .map_err(|e| e.while_doing(&format!("copying {} bytes to the GPU", from.len())))
    }

    fn download(&self, to: &mut [u8], from: u64) -> Result<(), Error> {
        let _entered = self.enter()?;
        // SAFETY: the slice is writable; the driver checks the device's side.
        unsafe { self.api.download(to.as_mut_ptr().cast(), from, to.len()) }
            .map_err(|e| e.while_doing(&format!("copying {} bytes from the GPU", to.len())))
    }

    fn launch(&self, function: Handle, shape: Shape, arguments: &[Slot]) -> Result<(), Error> {
        let _entered = self.enter()?;
        let mut arguments = arguments.to_vec();
        let mut pointers: Vec<*mut c_void> = arguments
            .iter_mut()
            .map(|slot| (slot as *mut Slot).cast())
            .collect();
        let Shape { grid, group } = shape;
        // SAFETY: the driver copies the arguments before it returns, and reads no further than the
        // parameters' sizes, which the caller of `Kernel::launch` answers for. Stream 0 is the
        // context's own.
        unsafe {
            self.api.launch(
                function,
                grid[0],
                grid[1],
                grid[2],
                group[0],
                group[1],
                group[2],
                0,
                NONE,
                pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        }
    }

    fn synchronize(&self) -> Result<(), Error> {
        let _entered = self.enter()?;
        // SAFETY: no arguments.
        unsafe { self.api.synchronize() }
            .map_err(|e| e.while_doing("waiting for the kernels started before"))
    }
}

impl Drop for CudaContext {
    fn drop(&mut self) {
        // SAFETY: retained once, released once. Nobody is left to be told of a failure.
        let _ = unsafe { self.api.primary_release(self.device) };
    }
}

/// The bytes as the driver wants them: PTX up to a NUL, which the image does not have; a cubin
/// aligned like the ELF structures that it consists of, which is so unless a container packed it
/// otherwise.
fn loadable<'i>(image: &'i Image<'_>) -> Cow<'i, [u8]> {
    let bytes = image.bytes();
    if image.kind() == Kind::Ptx {
        let mut text = Vec::with_capacity(bytes.len() + 1);
        text.extend_from_slice(bytes);
        text.push(0);
        Cow::Owned(text)
    } else if bytes.as_ptr() as usize % std::mem::align_of::<u64>() == 0 {
        Cow::Borrowed(bytes)
    } else {
        Cow::Owned(bytes.to_vec())
    }
}
