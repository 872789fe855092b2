//! The GPUs of this machine.

use crate::backend::{Backend, Context};
use crate::buffer::Buffer;
use crate::cuda;
use crate::element::Element;
use crate::error::{DeviceName, Error};
use offload_image::arch::Suffix;
use offload_image::select;
use offload_image::target::Sm;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// One GPU. Cheap to clone: clones are the same GPU.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

struct Inner {
    index: usize,
    backend: Box<dyn Backend>,
    /// Started when first needed, so that a device that nobody uses costs nothing and breaks
    /// nothing.
    context: Mutex<Option<Arc<dyn Context>>>,
}

impl Device {
    /// Every GPU that a driver of this machine offers, also those that no image fits. Never an
    /// empty list.
    ///
    /// # Errors
    /// [`Error::NoDriver`] and [`Error::NoDevice`] where there is nothing to run on
    /// ([`Error::is_no_gpu`]); [`Error::Driver`] where the driver is there and does not work.
    pub fn all() -> Result<Vec<Device>, Error> {
        Ok(cuda::devices()?
            .into_iter()
            .enumerate()
            .map(|(index, backend)| Device::new(index, backend))
            .collect())
    }

    pub(crate) fn new(index: usize, backend: Box<dyn Backend>) -> Device {
        Device {
            inner: Arc::new(Inner {
                index,
                backend,
                context: Mutex::new(None),
            }),
        }
    }

    /// The driver's number for the device.
    pub fn index(&self) -> usize {
        self.inner.index
    }

    /// The vendor's name for the device.
    pub fn name(&self) -> &str {
        self.inner.backend.name()
    }

    /// The arch, as images name it: `sm_90`.
    ///
    /// # Errors
    /// [`Error::Driver`] where the driver would not tell for this device.
    pub fn arch(&self) -> Result<String, Error> {
        Ok(match self.inner.backend.target()? {
            select::Device::Nvidia { major, minor, .. } => Sm {
                number: major.saturating_mul(10).saturating_add(minor),
                suffix: Suffix::Plain,
            }
            .to_string(),
            select::Device::Amd(gfx) => gfx.to_string(),
        })
    }

    /// Room for `len` elements in the device's memory. What stands in it at first is anything.
    ///
    /// # Errors
    /// [`Error::TooLarge`]; [`Error::Driver`], for instance where the memory is full.
    pub fn alloc<T: Element>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::new(self.context()?, len)
    }

    /// A new buffer with a copy of `from`.
    ///
    /// # Errors
    /// As [`Device::alloc`].
    pub fn upload<T: Element>(&self, from: &[T]) -> Result<Buffer<T>, Error> {
        let mut buffer = self.alloc(from.len())?;
        buffer.copy_from_host(from)?;
        Ok(buffer)
    }

    /// Waits until everything started on the device is done.
    ///
    /// # Errors
    /// [`Error::Driver`], also where a kernel launched before has failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.context()?.synchronize()
    }

    pub(crate) fn context(&self) -> Result<Arc<dyn Context>, Error> {
        // A panic elsewhere leaves the option as it was, so a poisoned lock is as good as any.
        let mut context = self
            .inner
            .context
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match &*context {
            Some(context) => Ok(context.clone()),
            None => Ok(context.insert(self.inner.backend.open()?).clone()),
        }
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.inner.backend
    }

    /// How errors name the device.
    pub fn label(&self) -> DeviceName {
        DeviceName {
            index: self.index(),
            name: self.name().to_owned(),
            arch: self.arch().unwrap_or_else(|_| "unknown arch".to_owned()),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.label().fmt(f)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.label().fmt(f)
    }
}
