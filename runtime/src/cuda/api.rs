//! The driver's library and its functions, opened and looked up at run time.

use super::codes;
use crate::backend::Handle;
use crate::error::Error;
use libloading::Library;
use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::sync::OnceLock;

/// The driver's own name for itself. A toolkit's `libcuda.so` is a stub to link against, which
/// fails every call; it is never opened.
const LIBRARY: &str = "libcuda.so.1";

/// `CUresult`: 0 is success.
pub(super) type Code = c_int;

/// Declares driver functions. Each is looked up when first called: an old driver without a new
/// function serves everyone who does not need that function.
macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident = $symbol:literal ($($arg:ident: $type:ty),*);)*) => {
        /// The opened driver.
        pub(super) struct Api {
            library: Library,
            $($name: OnceLock<unsafe extern "system" fn($($type),*) -> Code>,)*
        }

        impl Api {
            fn new(library: Library) -> Api {
                Api { library, $($name: OnceLock::new(),)* }
            }

            $(
                $(#[$doc])*
                ///
                /// # Safety
                /// The pointers and handles must be what the function of this name wants.
                #[allow(clippy::too_many_arguments)] // As many as the driver wants.
                pub(super) unsafe fn $name(&self, $($arg: $type),*) -> Result<(), Error> {
                    let function = match self.$name.get() {
                        Some(function) => *function,
                        None => {
                            // SAFETY: the type is that of the function of this name in the driver's
                            // public header.
                            let function = unsafe { self.symbol($symbol) }?;
                            *self.$name.get_or_init(|| function)
                        }
                    };
                    // SAFETY: the caller's promise.
                    self.check($symbol, unsafe { function($($arg),*) })
                }
            )*
        }
    };
}

functions! {
    fn init = "cuInit" (flags: c_uint);
    fn driver_version = "cuDriverGetVersion" (version: *mut c_int);
    fn device_count = "cuDeviceGetCount" (count: *mut c_int);
    fn device_get = "cuDeviceGet" (device: *mut c_int, ordinal: c_int);
    fn device_name = "cuDeviceGetName" (name: *mut c_char, length: c_int, device: c_int);
    fn device_attribute = "cuDeviceGetAttribute" (value: *mut c_int, attribute: c_int, device: c_int);
    fn primary_retain = "cuDevicePrimaryCtxRetain" (context: *mut Handle, device: c_int);
    fn primary_release = "cuDevicePrimaryCtxRelease_v2" (device: c_int);
    fn current = "cuCtxGetCurrent" (context: *mut Handle);
    fn set_current = "cuCtxSetCurrent" (context: Handle);
    fn synchronize = "cuCtxSynchronize" ();
    fn module_load = "cuModuleLoadData" (module: *mut Handle, image: *const c_void);
    fn module_unload = "cuModuleUnload" (module: Handle);
    fn module_function = "cuModuleGetFunction" (function: *mut Handle, module: Handle, name: *const c_char);
    /// CUDA 12.4 and later.
    fn parameter_info = "cuFuncGetParamInfo" (function: Handle, index: usize, offset: *mut usize, size: *mut usize);
    fn alloc = "cuMemAlloc_v2" (address: *mut u64, bytes: usize);
    fn free = "cuMemFree_v2" (address: u64);
    fn upload = "cuMemcpyHtoD_v2" (to: u64, from: *const c_void, bytes: usize);
    fn download = "cuMemcpyDtoH_v2" (to: *mut c_void, from: u64, bytes: usize);
    fn launch = "cuLaunchKernel" (
        function: Handle,
        grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
        group_x: c_uint, group_y: c_uint, group_z: c_uint,
        shared_bytes: c_uint,
        stream: Handle,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void
    );
}

impl Api {
    /// The driver, opened and started once for the life of the process: it does not survive being
    /// closed. A failure is not kept, so a later call may succeed.
    pub(super) fn open() -> Result<&'static Api, Error> {
        static API: OnceLock<Api> = OnceLock::new();
        if let Some(api) = API.get() {
            return Ok(api);
        }
        let library = library(LIBRARY)?;
        let api = Api::new(library);
        // SAFETY: no pointers; 0 is the only flag there is.
        if let Err(error) = unsafe { api.init(0) } {
            // Closing a driver that has run is asking for trouble.
            std::mem::forget(api);
            return Err(match error {
                Error::Driver { code: codes::NO_DEVICE, .. } => no_device(),
                Error::Driver { code: codes::STUB_LIBRARY, name, .. } => Error::NoDriver {
                    tried: vec![LIBRARY.to_owned()],
                    reason: format!("what was opened is a toolkit's stub for linking: {name}; take it off the library path"),
                },
                other => other,
            });
        }
        Ok(API.get_or_init(|| api))
    }

    /// # Safety
    /// `T` must be the type of the function of this name.
    unsafe fn symbol<T: Copy>(&self, name: &str) -> Result<T, Error> {
        // SAFETY: the caller's promise; the library stays open, for `Api` is never dropped once it
        // has been used.
        match unsafe { self.library.get::<T>(name.as_bytes()) } {
            Ok(symbol) => Ok(*symbol),
            Err(_) => Err(Error::MissingSymbol {
                symbol: name.to_owned(),
                library: LIBRARY.to_owned(),
            }),
        }
    }

    fn check(&self, call: &str, code: Code) -> Result<(), Error> {
        if code == codes::SUCCESS {
            return Ok(());
        }
        Err(Error::Driver {
            code,
            name: self.describe(code),
            call: call.to_owned(),
            doing: String::new(),
        })
    }

    /// The driver's name for an error, and its sentence.
    fn describe(&self, code: Code) -> String {
        match (
            self.error_text("cuGetErrorName", code),
            self.error_text("cuGetErrorString", code),
        ) {
            (Some(name), Some(sentence)) => format!("{name} ({sentence})"),
            (Some(name), None) => name,
            _ => codes::name(code).to_owned(),
        }
    }

    fn error_text(&self, function: &str, code: Code) -> Option<String> {
        type ErrorText = unsafe extern "system" fn(Code, *mut *const c_char) -> Code;
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: both functions have this type; on success they set the pointer to a static C
        // string.
        unsafe {
            let function = self.symbol::<ErrorText>(function).ok()?;
            if function(code, &mut text) != codes::SUCCESS || text.is_null() {
                return None;
            }
            Some(CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    }
}

fn library(name: &str) -> Result<Library, Error> {
    // SAFETY: the library's initialisers are those of the GPU driver that the machine's owner
    // installed.
    unsafe { Library::new(name) }.map_err(|error| Error::NoDriver {
        tried: vec![name.to_owned()],
        reason: error.to_string(),
    })
}

pub(super) fn no_device() -> Error {
    Error::NoDevice {
        driver: LIBRARY.to_owned(),
        visible: std::env::var("CUDA_VISIBLE_DEVICES").ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_the_library_has_no_driver() {
        let error = library("liboffload_no_such_driver.so.1").err();
        let Some(Error::NoDriver { tried, reason }) = error else {
            panic!("{error:?}");
        };
        assert_eq!(tried, ["liboffload_no_such_driver.so.1"]);
        assert!(reason.contains("liboffload_no_such_driver"), "{reason}");
    }

    #[test]
    fn a_function_that_the_library_lacks_is_an_error_with_its_name() {
        // Any library that is always there will do.
        let Ok(library) = library("libc.so.6") else {
            return;
        };
        let api = Api::new(library);
        // SAFETY: nothing is called, for there is no such function.
        let error = unsafe { api.init(0) };
        assert!(matches!(error, Err(Error::MissingSymbol { symbol, .. }) if symbol == "cuInit"));
    }
}
