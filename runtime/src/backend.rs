//! The seam between what users call and a vendor's driver. CUDA stands behind it today; the unit
//! tests put a fake driver there.

use crate::error::Error;
use crate::images::Image;
use offload_image::select;
use std::sync::Arc;

/// A module or function of a driver, as the driver numbers it. Means something to the context that
/// gave it only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Handle(pub(crate) usize);

/// One kernel argument, by value. 16 bytes hold every scalar and every pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Slot(pub(crate) [u8; 16]);

/// Groups in a grid and items in a group, along x, y and z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub grid: [u32; 3],
    pub group: [u32; 3],
}

/// One GPU before anything is started on it.
pub(crate) trait Backend: Send + Sync {
    /// The device's name as the vendor markets it.
    fn name(&self) -> &str;

    /// What selection needs to know of it; an error where this one device could not be asked.
    fn target(&self) -> Result<select::Device, Error>;

    /// The driver, in words: `CUDA 13.0`.
    fn driver(&self) -> String;

    /// Starts the device. Called at most once for as long as the context it gave is alive.
    fn open(&self) -> Result<Arc<dyn Context>, Error>;
}

/// Why an image was not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoadError {
    /// It is PTX of a newer ISA than the driver compiles.
    PtxTooNew,
    Other(Error),
}

impl From<Error> for LoadError {
    fn from(error: Error) -> Self {
        LoadError::Other(error)
    }
}

/// A started GPU. Addresses and handles given to a context must come from the same context.
pub(crate) trait Context: Send + Sync {
    /// Equal for two contexts exactly if addresses and handles of one mean the same in the other.
    fn identity(&self) -> usize;

    fn load(&self, image: &Image<'_>) -> Result<Handle, LoadError>;

    /// Waits for running kernels first, so that none loses its code.
    fn unload(&self, module: Handle);

    /// `None` if the module has no kernel of that name.
    fn function(&self, module: Handle, name: &str) -> Result<Option<Handle>, Error>;

    /// The size in bytes of each parameter of the kernel; `None` where the driver cannot tell.
    fn parameter_sizes(&self, function: Handle) -> Result<Option<Vec<usize>>, Error>;

    /// `bytes` is not 0.
    fn alloc(&self, bytes: usize) -> Result<u64, Error>;

    /// Waits for running kernels first.
    fn free(&self, address: u64);

    fn upload(&self, to: u64, from: &[u8]) -> Result<(), Error>;

    fn download(&self, to: &mut [u8], from: u64) -> Result<(), Error>;

    /// Starts the kernel and returns. The caller answers for the arguments: see
    /// [`crate::Kernel::launch`].
    fn launch(&self, function: Handle, shape: Shape, arguments: &[Slot]) -> Result<(), Error>;

    /// Waits until everything started so far is done.
    fn synchronize(&self) -> Result<(), Error>;
}
