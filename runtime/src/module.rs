//! The images of a program that fit one device, and the kernels in them.

use crate::backend::{Context, Handle, LoadError};
use crate::choose;
use crate::device::Device;
use crate::error::{Error, ImageName};
use crate::images::{Image, Images};
use crate::kernel::Kernel;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The images that fit a device, best first. Each is loaded when a kernel of it is first asked for.
pub struct Module<'i> {
    device: Device,
    /// Never empty.
    fitting: Vec<Candidate<'i>>,
}

struct Candidate<'i> {
    image: Image<'i>,
    loaded: Mutex<Option<Arc<Loaded>>>,
}

/// An image that the driver has loaded; unloaded when the last kernel of it is dropped.
pub(crate) struct Loaded {
    image: ImageName,
    context: Arc<dyn Context>,
    handle: Handle,
}

impl Loaded {
    pub(crate) fn image(&self) -> &ImageName {
        &self.image
    }

    pub(crate) fn context(&self) -> &Arc<dyn Context> {
        &self.context
    }

    pub(crate) fn handle(&self) -> Handle {
        self.handle
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.context.unload(self.handle);
    }
}

impl<'i> Module<'i> {
    /// Picks the images that fit the device. What does not fit is never loaded, so a wrong image
    /// can do nothing silently.
    ///
    /// # Errors
    /// [`Error::NoImage`]; [`Error::PtxTooNew`] where only PTX would fit and the driver is too old
    /// for it; [`Error::Driver`] where this device's arch cannot be asked for. Each concerns this
    /// device only.
    pub fn load(device: &Device, images: &Images<'i>) -> Result<Module<'i>, Error> {
        let fitting = choose::fitting(device, images)?
            .into_iter()
            .map(|image| Candidate {
                image,
                loaded: Mutex::new(None),
            })
            .collect();
        Ok(Module {
            device: device.clone(),
            fitting,
        })
    }

    /// The images that fit the device, best first.
    pub fn images(&self) -> impl Iterator<Item = &Image<'i>> {
        self.fitting.iter().map(|candidate| &candidate.image)
    }

    /// The kernel, from the best of the fitting images that has it ([`Kernel::image`] tells which).
    ///
    /// # Errors
    /// [`Error::KernelNotFound`]; [`Error::KernelAmbiguous`]; [`Error::Driver`] where the driver
    /// refuses an image that fits: no other is tried then, for a damaged image is not to be hidden by a
    /// worse one.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        let mut have = BTreeSet::new();
        for (at, candidate) in self.fitting.iter().enumerate() {
            // An image whose kernels are known and others is not loaded for nothing.
            if let Some(kernels) = candidate.image.kernels()? {
                have.extend(kernels.iter().cloned());
                if !kernels.iter().any(|kernel| kernel == name) {
                    continue;
                }
                self.unambiguous(name, at)?;
            }
            if let Some(kernel) = Kernel::find(name, &self.loaded(candidate)?)? {
                return Ok(kernel);
            }
            have.remove(name);
        }
        let mut names = self.images().map(Image::name);
        Err(Error::KernelNotFound {
            kernel: name.to_owned(),
            device: Box::new(self.device.label()),
            image: Box::new(
                names
                    .next()
                    .expect("choose::fitting gives at least one image"),
            ),
            others: names.collect(),
            have: have.into_iter().collect(),
        })
    }

    /// Refuses a kernel for which the order of linking would decide.
    fn unambiguous(&self, name: &str, at: usize) -> Result<(), Error> {
        let mut images = self.images().skip(at);
        let Some(image) = images.next() else {
            return Ok(());
        };
        match images.find(|other| image.clashes(other, name)) {
            None => Ok(()),
            Some(other) => Err(Error::KernelAmbiguous {
                kernel: name.to_owned(),
                device: Box::new(self.device.label()),
                images: Box::new([image, other].map(|i| (i.name(), i.sha256()))),
            }),
        }
    }

    fn loaded(&self, candidate: &Candidate<'i>) -> Result<Arc<Loaded>, Error> {
        let mut loaded = candidate
            .loaded
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = &*loaded {
            return Ok(loaded.clone());
        }
        let context = self.device.context()?;
        let image = candidate.image.name();
        let handle = context
            .load(&candidate.image)
            .map_err(|error| match error {
                LoadError::Other(error) => error,
                LoadError::PtxTooNew => Error::PtxTooNew {
                    device: Box::new(self.device.label()),
                    image: Box::new(image.clone()),
                    ptx: candidate
                        .image
                        .ptx_isa()
                        .map_or("unknown".to_owned(), |isa| isa.to_string()),
                    driver: format!(
                        "the driver ({}) does not compile it",
                        self.device.backend().driver()
                    ),
                },
            })?;
        Ok(loaded
            .insert(Arc::new(Loaded {
                image,
                context,
                handle,
            }))
            .clone())
    }
}

impl fmt::Debug for Module<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module on {}:", self.device)?;
        self.images()
            .try_for_each(|image| write!(f, " {}", image.name()))
    }
}
