//! Everything that can go wrong, as data. The texts say what, where, what was wanted, what was
//! found, and what mends it.

use crate::text;
use std::fmt;

/// An image as errors name it: `sm_90 (cubin)`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageName {
    /// `sm_90`, `gfx1100`, …
    pub arch: String,
    /// `cubin`, `ptx`, `gfx`, …
    pub kind: String,
}

impl fmt::Display for ImageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.arch, self.kind)
    }
}

/// A device as errors name it: `GPU 0 (NVIDIA H200, sm_90)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceName {
    /// The driver's number for it.
    pub index: usize,
    /// The vendor's name for it.
    pub name: String,
    /// `sm_90`, `gfx1100`, …; `unknown arch` where the driver would not say.
    pub arch: String,
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GPU {} ({}, {})", self.index, self.name, self.arch)
    }
}

/// What this crate's functions fail with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No GPU driver could be opened on this machine.
    #[error("{}", text::no_driver(.tried, .reason))]
    NoDriver {
        /// The libraries that were tried.
        tried: Vec<String>,
        /// The dynamic loader's words.
        reason: String,
    },

    /// There is a driver, and it has no GPU to offer.
    #[error("{}", text::no_device(.driver, .visible.as_deref()))]
    NoDevice {
        /// The driver's library.
        driver: String,
        /// `CUDA_VISIBLE_DEVICES`, if it is set: it may hide every GPU.
        visible: Option<String>,
    },

    /// The GPU is there, and no image of this program fits it.
    #[error("{}", text::no_image(.device, .have))]
    NoImage {
        /// The GPU.
        device: Box<DeviceName>,
        /// Every image that this program has.
        have: Vec<ImageName>,
    },

    /// No image that fits the GPU has the kernel.
    #[error("{}", text::kernel_not_found(.kernel, .device, .image, .others, .have))]
    KernelNotFound {
        /// The name that was asked for.
        kernel: String,
        /// The GPU.
        device: Box<DeviceName>,
        /// The image that fits it best.
        image: Box<ImageName>,
        /// Further images that fit, which were searched too.
        others: Vec<ImageName>,
        /// The kernels of all these images, sorted.
        have: Vec<String>,
    },

    /// Two images have the kernel, neither fits the GPU better, and their code differs: which of them
    /// would run is an accident of linking.
    #[error("{}", text::kernel_ambiguous(.kernel, .device, .images))]
    KernelAmbiguous {
        /// The name that was asked for.
        kernel: String,
        /// The GPU.
        device: Box<DeviceName>,
        /// The two, each with the sha256 of its bytes, which `offload inspect` tells too.
        images: Box<[(ImageName, String); 2]>,
    },

    /// Only PTX fits, and it is written in a newer PTX ISA than the driver compiles.
    #[error("{}", text::ptx_too_new(.device, .image, .ptx, .driver))]
    PtxTooNew {
        /// The GPU.
        device: Box<DeviceName>,
        /// The image that would fit.
        image: Box<ImageName>,
        /// The PTX ISA version that the image needs.
        ptx: String,
        /// The driver, and the newest PTX ISA that it compiles.
        driver: String,
    },

    /// A call to the driver failed.
    #[error("{}", text::driver(*.code, .name, .call, .doing))]
    Driver {
        /// The driver's number for the error.
        code: i32,
        /// The driver's name for it, and its own text.
        name: String,
        /// The function called.
        call: String,
        /// On what it was called; may be empty.
        doing: String,
    },

    /// The driver is too old to have a function that is needed.
    #[error("the driver {library} has no function `{symbol}`: it is older than this program needs; update the GPU driver")]
    MissingSymbol {
        /// The function.
        symbol: String,
        /// The driver's library.
        library: String,
    },

    /// The kernel takes other arguments than it was launched with.
    #[error("cannot launch kernel `{kernel}`: {problem}; the arguments must be the kernel's parameters, in number, order and type")]
    Argument {
        /// The kernel.
        kernel: String,
        /// Which argument, and what is wrong with it.
        problem: String,
    },

    /// A copy between host and device memory of different lengths.
    #[error("cannot copy between a host slice of {host} elements and a device buffer of {device}: the lengths must be equal")]
    Length {
        /// Elements of the host's slice.
        host: usize,
        /// Elements of the device's buffer.
        device: usize,
    },

    /// The size in bytes does not fit in the address space.
    #[error("cannot allocate {elements} elements of {size} bytes on the GPU: more bytes than can be counted")]
    TooLarge {
        /// Elements asked for.
        elements: usize,
        /// Bytes of one element.
        size: usize,
    },

    /// The images in this program are damaged.
    #[error("{}", text::malformed(.place, *.offset, .problem))]
    Malformed {
        /// Where: the section, or the image.
        place: String,
        /// Bytes from the start of that place.
        offset: u64,
        /// What is wrong there.
        problem: String,
    },
}

impl Error {
    /// Whether this machine has no GPU to run on at all ([`Error::NoDriver`], [`Error::NoDevice`]).
    ///
    /// A program may then do its work on the CPU. For every other error that would hide a fault: a
    /// GPU is there, and something is wrong.
    pub fn is_no_gpu(&self) -> bool {
        matches!(self, Error::NoDriver { .. } | Error::NoDevice { .. })
    }

    /// Adds what was being done, where the error is the driver's and does not say yet.
    pub(crate) fn while_doing(mut self, what: &str) -> Error {
        if let Error::Driver { doing, .. } = &mut self {
            if doing.is_empty() {
                *doing = what.to_owned();
            }
        }
        self
    }
}
