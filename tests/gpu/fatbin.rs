//! `fatbin raw|zstd KIND:ARCH:FILE...`: writes a fatbin of these images with our writer, has NVIDIA's
//! driver load it, and runs the kernel `saxpy` out of it.

use std::error::Error;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use libloading::Library;
use offload_audit::unpack::zstd_frame;
use offload_image::bytes::Bytes;
use offload_image::fatbin::{write, EntryKind, NewEntry};
use offload_image::image::{Compression, Content};
use offload_image::ptx_isa::PtxIsa;
use offload_image::target::Sm;

/// What fatbinary writes for cubins.
const CUBIN_VERSION: PtxIsa = PtxIsa { major: 1, minor: 8 };
const N: u32 = 10_000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (packing, images) = args
        .split_first()
        .ok_or("usage: fatbin raw|zstd KIND:ARCH:FILE...")?;
    let fatbin = fatbin(packing, images)?;
    run(&fatbin)?;
    println!(
        "{packing} fatbin of {}: saxpy ran on the GPU, as on the CPU",
        images.len()
    );
    Ok(())
}

fn fatbin(packing: &str, images: &[String]) -> Result<Vec<u8>> {
    let mut files = Vec::new();
    for image in images {
        let mut parts = image.splitn(3, ':');
        let mut next = || {
            parts
                .next()
                .ok_or(format!("{image}: wanted KIND:ARCH:FILE"))
        };
        let kind = match next()? {
            "cubin" => EntryKind::Cubin,
            "ptx" => EntryKind::Ptx,
            other => return Err(format!("{other}: wanted cubin or ptx").into()),
        };
        let sm = Sm::parse(next()?).ok_or(format!("{image}: no sm_NN"))?;
        let mut bytes = std::fs::read(next()?)?;
        let version = match Content::parse(Bytes::new(&bytes))? {
            Content::Ptx(ptx) => ptx.isa,
            _ => CUBIN_VERSION,
        };
        if kind == EntryKind::Ptx {
            bytes.push(0);
        }
        let size = bytes.len() as u64;
        let (compression, payload) = match packing {
            "raw" => (Compression::None, bytes),
            "zstd" => (Compression::Zstd, zstd_frame(&bytes)),
            other => return Err(format!("{other}: wanted raw or zstd").into()),
        };
        files.push((kind, sm, version, compression, size, payload));
    }
    let entries: Vec<NewEntry<'_>> = files
        .iter()
        .map(
            |(kind, sm, version, compression, unpacked_size, payload)| NewEntry {
                kind: *kind,
                sm: *sm,
                version: *version,
                compression: *compression,
                unpacked_size: *unpacked_size,
                payload,
            },
        )
        .collect();
    Ok(write(&entries))
}

/// Calls a function of the driver; anything but 0 is an error.
macro_rules! call {
    ($driver:expr, $name:literal, $($type:ty: $arg:expr),*) => {{
        // SAFETY: the types are those of the function of this name in the driver's public header,
        // and the pointers live through the call.
        let code = unsafe {
            let function = $driver.get::<unsafe extern "C" fn($($type),*) -> c_int>($name)?;
            function($($arg),*)
        };
        if code != 0 {
            let name = String::from_utf8_lossy($name);
            return Err(format!("{name}: error {code}").into());
        }
    }};
}

fn run(fatbin: &[u8]) -> Result<()> {
    let x: Vec<f32> = (0..N).map(|i| (i % 1000) as f32).collect();
    let mut y: Vec<f32> = (0..N).map(|i| (i % 7) as f32).collect();
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.0 * x + y).collect();
    let bytes = x.len() * 4;
    let mut a = 2.0_f32;
    let mut n = N;
    let (mut device, mut context, mut module, mut kernel) = (0, null_mut(), null_mut(), null_mut());
    let (mut dx, mut dy) = (0_u64, 0_u64);

    // SAFETY: the driver's initialisers may be run at any time.
    let driver = unsafe { Library::new("libcuda.so.1") }?;
    call!(driver, b"cuInit", c_uint: 0);
    call!(driver, b"cuDeviceGet", *mut c_int: &mut device, c_int: 0);
    call!(driver, b"cuDevicePrimaryCtxRetain", *mut *mut c_void: &mut context, c_int: device);
    call!(driver, b"cuCtxSetCurrent", *mut c_void: context);
    call!(driver, b"cuModuleLoadData", *mut *mut c_void: &mut module, *const c_void: fatbin.as_ptr().cast());
    call!(driver, b"cuModuleGetFunction", *mut *mut c_void: &mut kernel, *mut c_void: module,
        *const c_char: c"saxpy".as_ptr());
    call!(driver, b"cuMemAlloc_v2", *mut u64: &mut dx, usize: bytes);
    call!(driver, b"cuMemAlloc_v2", *mut u64: &mut dy, usize: bytes);
    call!(driver, b"cuMemcpyHtoD_v2", u64: dx, *const c_void: x.as_ptr().cast(), usize: bytes);
    call!(driver, b"cuMemcpyHtoD_v2", u64: dy, *const c_void: y.as_ptr().cast(), usize: bytes);
    let mut parameters: [*mut c_void; 4] = [
        (&raw mut n).cast(),
        (&raw mut a).cast(),
        (&raw mut dx).cast(),
        (&raw mut dy).cast(),
    ];
    call!(driver, b"cuLaunchKernel", *mut c_void: kernel, c_uint: N.div_ceil(256), c_uint: 1, c_uint: 1,
        c_uint: 256, c_uint: 1, c_uint: 1, c_uint: 0, *mut c_void: null_mut(),
        *mut *mut c_void: parameters.as_mut_ptr(), *mut *mut c_void: null_mut());
    call!(driver, b"cuMemcpyDtoH_v2", *mut c_void: y.as_mut_ptr().cast(), u64: dy, usize: bytes);
    if y != expected {
        return Err("the GPU and the CPU disagree".into());
    }
    Ok(())
}
