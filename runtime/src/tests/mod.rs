//! Everything above the driver, against a fake one. Needs no GPU.

mod ambiguous;
mod bytes;
mod fake;
mod launch;
mod selection;

use crate::{Device, Error, Image, Images, PtxIsa, PtxPolicy};
use offload_image::cubin::Cubin;
use offload_image::image::Content;
use offload_image::ptx::Ptx;
use offload_image::target::Sm;

#[test]
fn a_machine_without_a_gpu_is_told_apart() {
    match Device::all() {
        Ok(devices) => assert!(!devices.is_empty()),
        Err(error) => assert!(
            error.is_no_gpu()
                || matches!(error, Error::Driver { .. } | Error::MissingSymbol { .. }),
            "{error}"
        ),
    }
}

#[test]
fn texts_say_what_mends_it() {
    let no_driver = Error::NoDriver {
        tried: vec!["libcuda.so.1".to_owned()],
        reason: "cannot open shared object file".to_owned(),
    };
    assert_eq!(
        no_driver.to_string(),
        "no GPU driver on this machine: could not open libcuda.so.1 (cannot open shared object file); install the \
         vendor's GPU driver, or, in a container, have the host's driver mounted (for example `--gpus all`)"
    );
    let hidden = Error::NoDevice {
        driver: "libcuda.so.1".to_owned(),
        visible: Some(String::new()),
    };
    assert!(
        hidden.to_string().contains("CUDA_VISIBLE_DEVICES is \"\""),
        "{hidden}"
    );
    assert!(no_driver.is_no_gpu() && hidden.is_no_gpu());

    let failed = Error::Driver {
        code: 700,
        name: "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)".to_owned(),
        call: "cuCtxSynchronize".to_owned(),
        doing: String::new(),
    };
    assert!(!failed.is_no_gpu());
    assert_eq!(
        failed.while_doing("waiting").to_string(),
        "the GPU driver's cuCtxSynchronize failed while waiting: error 700, CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory \
         access was encountered)"
    );
}

fn images(images: Vec<Image<'static>>) -> Images<'static> {
    Images::of_images(images)
}

fn cubin(arch: &str, kernels: &[&str]) -> Image<'static> {
    let sm = Sm::parse(arch).expect("the tests name real GPUs");
    let content = Content::Cubin(Cubin {
        sm: sm.number,
        suffix: Some(sm.suffix),
        kernels: kernels.iter().map(|&name| name.to_owned()).collect(),
    });
    Image::with_content(arch, None, content)
}

/// PTX of that ISA version, with the kernel `saxpy`.
fn ptx(arch: &str, major: u16, minor: u16, policy: PtxPolicy) -> Image<'static> {
    let content = Content::Ptx(Ptx {
        isa: PtxIsa { major, minor },
        target: arch.to_owned(),
        sm: Sm::parse(arch),
        address_size: Some(64),
        kernels: vec!["saxpy".to_owned()],
    });
    Image::with_content(arch, Some(policy), content)
}
