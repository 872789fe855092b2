//! NVIDIA: the CUDA driver behind [`crate::backend`].
//!
//! The only place that calls a driver, so the only one, with the linker's section and the byte
//! views, that needs `unsafe`.

mod api;
mod codes;
mod context;

use crate::backend::{Backend, Context};
use crate::error::Error;
use api::Api;
use context::CudaContext;
use offload_image::{ptx_isa, select};
use std::ffi::{c_char, c_int};
use std::sync::Arc;

/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `…_MINOR`.
const CAPABILITY_MAJOR: c_int = 75;
const CAPABILITY_MINOR: c_int = 76;

/// Every device that the driver offers; at least one.
pub(crate) fn devices() -> Result<Vec<Box<dyn Backend>>, Error> {
    let api = Api::open()?;
    let mut count: c_int = 0;
    // SAFETY: the pointer is to a live integer.
    unsafe { api.device_count(&mut count) }?;
    if count <= 0 {
        return Err(api::no_device());
    }
    let cuda = driver_version(api)?;
    Ok((0..count)
        .map(|ordinal| -> Box<dyn Backend> {
            Box::new(CudaDevice {
                api,
                ordinal,
                name: name(api, ordinal).unwrap_or_else(|_| "unnamed".to_owned()),
                cuda,
            })
        })
        .collect())
}

struct CudaDevice {
    api: &'static Api,
    ordinal: c_int,
    name: String,
    /// The newest CUDA version that the driver supports, major and minor.
    cuda: (u16, u16),
}

impl Backend for CudaDevice {
    fn name(&self) -> &str {
        &self.name
    }

    fn target(&self) -> Result<select::Device, Error> {
        let device = device(self.api, self.ordinal)?;
        let attribute = |attribute| {
            let mut value: c_int = 0;
            // SAFETY: the pointer is to a live integer, the device is the driver's own.
            unsafe { self.api.device_attribute(&mut value, attribute, device) }?;
            Ok::<_, Error>(value.unsigned_abs())
        };
        Ok(select::Device::Nvidia {
            major: attribute(CAPABILITY_MAJOR)?,
            minor: attribute(CAPABILITY_MINOR)?,
            max_ptx: ptx_isa::newest_of_cuda(self.cuda),
        })
    }

    fn driver(&self) -> String {
        format!("CUDA {}.{}", self.cuda.0, self.cuda.1)
    }

    fn open(&self) -> Result<Arc<dyn Context>, Error> {
        let device = device(self.api, self.ordinal)?;
        Ok(Arc::new(CudaContext::retain(self.api, device)?))
    }
}

fn driver_version(api: &Api) -> Result<(u16, u16), Error> {
    let mut version: c_int = 0;
    // SAFETY: the pointer is to a live integer.
    unsafe { api.driver_version(&mut version) }?;
    // 1000 × major + 10 × minor.
    let part = |number: c_int| u16::try_from(number).unwrap_or(0);
    Ok((part(version / 1000), part(version % 1000 / 10)))
}

fn device(api: &Api, ordinal: c_int) -> Result<c_int, Error> {
    let mut device: c_int = 0;
    // SAFETY: the pointer is to a live integer.
    unsafe { api.device_get(&mut device, ordinal) }?;
    Ok(device)
}

fn name(api: &Api, ordinal: c_int) -> Result<String, Error> {
    let device = device(api, ordinal)?;
    let mut name = [0u8; 256];
    // SAFETY: the driver writes at most `name.len()` bytes.
    unsafe {
        api.device_name(
            name.as_mut_ptr().cast::<c_char>(),
            name.len() as c_int,
            device,
        )
    }?;
    let end = name
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(name.len());
    Ok(String::from_utf8_lossy(&name[..end]).into_owned())
}
