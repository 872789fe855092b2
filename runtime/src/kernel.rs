//! Kernels and launches.

use crate::args::{ArgList, Args};
use crate::backend::{Handle, Shape};
use crate::error::{Error, ImageName};
use crate::module::Loaded;
use std::fmt;
use std::sync::Arc;

/// How many groups, or how many items in a group, along x, y and z. A number, a pair or a triple
/// will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dim(pub [u32; 3]);

impl From<u32> for Dim {
    fn from(x: u32) -> Self {
        Dim([x, 1, 1])
    }
}

impl From<(u32, u32)> for Dim {
    fn from((x, y): (u32, u32)) -> Self {
        Dim([x, y, 1])
    }
}

impl From<(u32, u32, u32)> for Dim {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Dim([x, y, z])
    }
}

/// A kernel, loaded on a device. Keeps its image loaded.
#[derive(Clone)]
pub struct Kernel {
    name: String,
    function: Handle,
    loaded: Arc<Loaded>,
    parameter_sizes: Option<Vec<usize>>,
}

impl Kernel {
    /// The kernel, if the loaded image has it.
    pub(crate) fn find(name: &str, loaded: &Arc<Loaded>) -> Result<Option<Kernel>, Error> {
        let context = loaded.context();
        let Some(function) = context.function(loaded.handle(), name)? else {
            return Ok(None);
        };
        Ok(Some(Kernel {
            name: name.to_owned(),
            function,
            loaded: loaded.clone(),
            parameter_sizes: context.parameter_sizes(function)?,
        }))
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The image that the kernel runs from.
    pub fn image(&self) -> &ImageName {
        self.loaded.image()
    }

    /// Starts the kernel with `grid` groups of `group` items each, and returns without waiting for
    /// it. Launches, copies and frees on one device happen in the order of the calls.
    ///
    /// # Errors
    /// [`Error::Argument`] where the number of arguments, or the size of one, is not the kernel's
    /// (known for CUDA drivers from 12.4 on), or a buffer lives on another device;
    /// [`Error::Driver`], for instance where the group is larger than the device allows. A fault
    /// *in* the kernel is reported by the next call that waits for it.
    ///
    /// # Safety
    /// The arguments must be the kernel's parameters, in number, order and type: `u32` for `u32`, a
    /// buffer of `f32` for `*const f32`. The kernel must keep to the lengths of the buffers, write
    /// only to buffers that are lent mutably here, and not race with itself.
    #[allow(unsafe_code)] // Declares what only the caller can know. Nothing in it is unsafe by itself.
    pub unsafe fn launch(
        &self,
        grid: impl Into<Dim>,
        group: impl Into<Dim>,
        args: impl Args,
    ) -> Result<(), Error> {
        let shape = Shape {
            grid: grid.into().0,
            group: group.into().0,
        };
        let list = args.list();
        self.check(&list)?;
        self.loaded
            .context()
            .launch(self.function, shape, &list.slots)
    }

    fn check(&self, list: &ArgList) -> Result<(), Error> {
        let wrong = |problem: String| Error::Argument {
            kernel: self.name.clone(),
            problem,
        };
        if let Some(wanted) = &self.parameter_sizes {
            if wanted.len() != list.sizes.len() {
                let (wanted, given) = (wanted.len(), list.sizes.len());
                return Err(wrong(format!(
                    "it has {wanted} parameters, and {given} arguments were given"
                )));
            }
            for (index, (wanted, given)) in wanted.iter().zip(&list.sizes).enumerate() {
                if wanted != given {
                    return Err(wrong(format!(
                        "argument {index} has {given} bytes, and its parameter {wanted}"
                    )));
                }
            }
        }
        let own = self.loaded.context().identity();
        match list.contexts.iter().find(|(_, context)| *context != own) {
            Some((index, _)) => Err(wrong(format!(
                "argument {index} is a buffer on another device"
            ))),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({} from {})", self.name, self.image())
    }
}
