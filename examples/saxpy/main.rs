//! saxpy, `y = a * x + y`, on the GPU: one file, compiled twice.
//!
//! The device pass (`--cfg offload_device`) makes one image per GPU arch of the kernel. The host
//! pass (`--cfg offload_host`) makes the program, and the images are linked into it.
#![cfg_attr(offload_device, no_std, no_main, feature(abi_gpu_kernel))]

/// What both passes share: one element.
fn axpy(a: f32, x: f32, y: f32) -> f32 {
    a * x + y
}

#[cfg(offload_device)]
mod device {
    use offload_device::global_id_x;

    /// # Safety
    /// `x` and `y` are device memory of at least `n` elements each, and do not overlap.
    #[no_mangle]
    pub unsafe extern "gpu-kernel" fn saxpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
        let i = global_id_x();
        // The last group reaches past the end whenever `n` is no multiple of its size.
        if i < n {
            let i = i as usize;
            *y.add(i) = super::axpy(a, *x.add(i), *y.add(i));
        }
    }
}

#[cfg(offload_host)]
fn main() -> std::process::ExitCode {
    match host::run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("saxpy: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(offload_host)]
mod host {
    use offload::{Device, Module};
    use std::error::Error;

    /// No multiple of the group size, so that the check in the kernel is put to use.
    const N: u32 = 100_003;
    const GROUP_SIZE: u32 = 256;
    const A: f32 = 2.0;

    pub fn run() -> Result<(), Box<dyn Error>> {
        let images = offload::images!()?;
        print!("{images}");

        // Whole numbers: a fused multiply-add then rounds to the same bits as two steps.
        let x: Vec<f32> = (0..N).map(|i| (i % 1000) as f32).collect();
        let y: Vec<f32> = (0..N).map(|i| (i % 7) as f32).collect();
        let expected = on_cpu(&x, &y);

        let devices = match Device::all() {
            Ok(devices) => devices,
            // To have no GPU is no fault. Any other error is one, and the CPU must not hide it.
            Err(lack) if lack.is_no_gpu() => {
                println!("{lack}");
                println!("computed {N} elements on the CPU instead");
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };

        let mut ran = 0;
        for device in &devices {
            match Module::load(device, &images) {
                Ok(module) => {
                    let kernel = module.kernel("saxpy")?;
                    if on_gpu(device, &kernel, &x, &y)? != expected {
                        return Err(format!("{device} and the CPU disagree").into());
                    }
                    let image = kernel.image();
                    println!("ran {N} elements on {device} from the {image} image: as on the CPU");
                    ran += 1;
                }
                // Each GPU is decided by itself: one without an image does not stop the others.
                Err(error) => eprintln!("saxpy: {error}"),
            }
        }
        match ran {
            0 => Err("ran on no GPU of this machine".into()),
            _ => Ok(()),
        }
    }

    fn on_cpu(x: &[f32], y: &[f32]) -> Vec<f32> {
        let pairs = x.iter().zip(y);
        pairs.map(|(&x, &y)| super::axpy(A, x, y)).collect()
    }

    fn on_gpu(
        device: &Device,
        kernel: &offload::Kernel,
        x: &[f32],
        y: &[f32],
    ) -> Result<Vec<f32>, offload::Error> {
        let x = device.upload(x)?;
        let mut y = device.upload(y)?;
        // SAFETY: the arguments are the kernel's, in its order, and both buffers hold N elements.
        unsafe { kernel.launch(N.div_ceil(GROUP_SIZE), GROUP_SIZE, (N, A, &x, &mut y))? };
        device.synchronize()?;
        let mut result = vec![0.0; y.len()];
        y.copy_to_host(&mut result)?;
        Ok(result)
    }
}
