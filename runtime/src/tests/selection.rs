//! Which image, which kernel, and what is said where there is none.

use super::fake::Fake;
use super::{cubin, images, ptx};
use crate::backend::LoadError;
use crate::{Error, Module, PtxPolicy};
use offload_image::select;

#[test]
fn an_image_for_another_gpu_is_refused_before_anything_is_started() {
    let gpu = Fake::nvidia(9, 0);
    let images = images(vec![
        cubin("sm_75", &["saxpy"]),
        cubin("sm_100", &["saxpy"]),
    ]);
    let error = Module::load(&gpu.device(0), &images).expect_err("neither fits");
    assert!(matches!(&error, Error::NoImage { have, .. } if have.len() == 2));
    assert_eq!(
        error.to_string(),
        "no image for GPU 0 (Fake GPU, sm_90): this program has sm_75 (cubin), sm_100 (cubin); add \"sm_90\" to `archs` \
         of the target that builds it"
    );
    assert!(gpu.log().is_empty());
}

/// No image and no such kernel are two errors, and minor versions go up alone: what is for 8.0 runs on
/// 8.7, what is for 8.7 not on 8.0.
#[test]
fn no_image_is_not_no_kernel() {
    let (older, newer) = (Fake::nvidia(8, 0), Fake::nvidia(8, 7));
    let sm_80 = images(vec![cubin("sm_80", &["saxpy"])]);
    let sm_87 = images(vec![cubin("sm_87", &["saxpy"])]);

    let module = Module::load(&newer.device(0), &sm_80).expect("a lower minor version fits");
    let kernel = module.kernel("saxpy").expect("it is there");
    assert_eq!(kernel.image().to_string(), "sm_80 (cubin)");
    let error = module.kernel("gemm").expect_err("it has another kernel");
    assert!(
        matches!(&error, Error::KernelNotFound { kernel, .. } if kernel == "gemm"),
        "{error}"
    );
    assert!(error.to_string().starts_with("no kernel `gemm` for GPU 0"));

    let error = Module::load(&older.device(0), &sm_87).expect_err("a higher one does not");
    assert!(
        matches!(&error, Error::NoImage { have, .. } if have[0].arch == "sm_87"),
        "{error}"
    );
    assert!(error.to_string().starts_with("no image for GPU 0"));
    assert!(older.log().is_empty());
}

#[test]
fn a_program_without_images_says_so() {
    let error =
        Module::load(&Fake::nvidia(9, 0).device(0), &images(Vec::new())).expect_err("nothing fits");
    assert!(
        error
            .to_string()
            .contains("this program has no image at all"),
        "{error}"
    );
}

#[test]
fn each_device_is_decided_by_itself() {
    let (old, new) = (Fake::nvidia(7, 5).device(0), Fake::nvidia(9, 0).device(1));
    let images = images(vec![cubin("sm_90", &["saxpy"])]);
    for order in [[&old, &new], [&new, &old]] {
        let loaded: Vec<_> = order
            .map(|device| Module::load(device, &images).is_ok())
            .to_vec();
        assert_eq!(loaded, order.map(|device| device.index() == 1));
    }
}

#[test]
fn a_device_that_cannot_be_asked_fails_alone() {
    let fault = Error::Driver {
        code: 999,
        name: "CUDA_ERROR_UNKNOWN".to_owned(),
        call: "cuDeviceGetAttribute".to_owned(),
        doing: String::new(),
    };
    let broken = Fake {
        target: Err(fault),
        ..Fake::nvidia(9, 0)
    };
    let images = images(vec![cubin("sm_90", &["saxpy"])]);
    let error = Module::load(&broken.device(3), &images).expect_err("its arch is unknown");
    assert!(
        error
            .to_string()
            .contains("while asking GPU 3 for its arch"),
        "{error}"
    );
    assert!(broken.device(3).to_string().contains("unknown arch"));
    assert!(Module::load(&Fake::nvidia(9, 0).device(1), &images).is_ok());
}

#[test]
fn the_best_image_runs() {
    let gpu = Fake::nvidia(8, 6);
    let images = images(vec![
        ptx("sm_70", 7, 0, PtxPolicy::Embed),
        cubin("sm_80", &["saxpy"]),
        cubin("sm_86", &["saxpy"]),
    ]);
    let module = Module::load(&gpu.device(0), &images).expect("three fit");
    assert_eq!(
        format!("{module:?}"),
        "Module on GPU 0 (Fake GPU, sm_86): sm_86 (cubin) sm_80 (cubin) sm_70 (ptx)"
    );
    let kernel = module.kernel("saxpy").expect("it is there");
    assert_eq!(kernel.image().to_string(), "sm_86 (cubin)");
    assert_eq!(gpu.log(), ["open", "load sm_86 (cubin)"]);
}

#[test]
fn the_next_image_that_has_the_kernel_runs() {
    let gpu = Fake::nvidia(9, 0);
    let images = images(vec![cubin("sm_90", &["gemm"]), cubin("sm_90", &["saxpy"])]);
    let module = Module::load(&gpu.device(0), &images).expect("both fit");
    assert!(module.kernel("saxpy").is_ok());
    assert_eq!(
        gpu.log(),
        ["open", "load sm_90 (cubin)"],
        "the one without the kernel is not loaded"
    );
}

#[test]
fn a_kernel_that_the_driver_does_not_find_is_sought_in_the_next_image() {
    let gpu = Fake {
        kernels: Vec::new(),
        ..Fake::nvidia(9, 0)
    };
    let images = images(vec![
        cubin("sm_90", &["saxpy", "gemm"]),
        ptx("sm_80", 7, 0, PtxPolicy::Embed),
    ]);
    let module = Module::load(&gpu.device(0), &images).expect("both fit");
    let error = module.kernel("saxpy").expect_err("the driver finds none");
    assert_eq!(
        gpu.log(),
        ["open", "load sm_90 (cubin)", "load sm_80 (ptx)"]
    );
    assert!(matches!(error, Error::KernelNotFound { others, .. } if others.len() == 1));
}

#[test]
fn a_missing_kernel_names_itself_the_image_and_what_is_there() {
    let images = images(vec![cubin("sm_90", &["saxpy", "gemm"])]);
    let module = Module::load(&Fake::nvidia(9, 0).device(0), &images).expect("it fits");
    assert_eq!(
        module.kernel("saxpi").expect_err("a slip").to_string(),
        "no kernel `saxpi` for GPU 0 (Fake GPU, sm_90): the image sm_90 (cubin) has gemm, saxpy; did you mean `saxpy`?"
    );
    let unlike = module
        .kernel("softmax")
        .expect_err("nothing is near")
        .to_string();
    assert!(
        unlike.contains("name it in `kernels` of the target"),
        "{unlike}"
    );
}

#[test]
fn ptx_beyond_the_driver_is_told_apart_from_no_image() {
    let gpu = Fake::nvidia(9, 0);
    let images = images(vec![
        cubin("sm_75", &["saxpy"]),
        ptx("sm_90", 9, 9, PtxPolicy::Embed),
    ]);
    let error = Module::load(&gpu.device(0), &images).expect_err("the PTX is too new");
    assert!(matches!(&error, Error::PtxTooNew { ptx, .. } if ptx == "9.9"));
    assert_eq!(
        error.to_string(),
        "no image for GPU 0 (Fake GPU, sm_90): the image sm_90 (ptx) needs PTX ISA 9.9, and the driver (CUDA 13.0) \
         compiles up to 9.0; update the GPU driver, or add \"sm_90\" to `archs` of the target that builds the program, \
         so that it needs no compiling at run time"
    );
}

#[test]
fn ptx_of_a_build_that_forbids_it_is_never_compiled() {
    let gpu = Fake::nvidia(9, 0);
    let images = images(vec![ptx("sm_90", 7, 0, PtxPolicy::Forbid)]);
    let error = Module::load(&gpu.device(0), &images).expect_err("forbidden");
    assert!(matches!(error, Error::NoImage { .. }), "{error}");
}

#[test]
fn an_image_that_the_driver_refuses_is_not_hidden_by_the_next() {
    let refused = Error::Driver {
        code: 200,
        name: "CUDA_ERROR_INVALID_IMAGE".to_owned(),
        call: "cuModuleLoadData".to_owned(),
        doing: String::new(),
    };
    let gpu = Fake {
        load_error: Some(refused.clone().into()),
        ..Fake::nvidia(9, 0)
    };
    let images = images(vec![
        cubin("sm_90", &["saxpy"]),
        ptx("sm_80", 7, 0, PtxPolicy::Embed),
    ]);
    let module = Module::load(&gpu.device(0), &images).expect("both fit");
    assert_eq!(module.kernel("saxpy").expect_err("refused"), refused);
    assert_eq!(gpu.log(), ["open", "load sm_90 (cubin)"]);
}

#[test]
fn a_driver_newer_than_our_table_has_the_last_word_on_ptx() {
    let gpu = Fake {
        target: Ok(select::Device::Nvidia {
            major: 9,
            minor: 0,
            max_ptx: None,
        }),
        load_error: Some(LoadError::PtxTooNew),
        ..Fake::nvidia(9, 0)
    };
    let images = images(vec![ptx("sm_90", 9, 9, PtxPolicy::Embed)]);
    let module = Module::load(&gpu.device(0), &images).expect("nothing speaks against it");
    let error = module.kernel("saxpy").expect_err("the driver refuses");
    assert!(
        matches!(&error, Error::PtxTooNew { ptx, .. } if ptx == "9.9"),
        "{error}"
    );
}

#[test]
fn an_image_is_loaded_once_and_unloaded_once() {
    let gpu = Fake {
        kernels: vec!["saxpy", "gemm"],
        ..Fake::nvidia(9, 0)
    };
    let images = images(vec![cubin("sm_90", &["saxpy", "gemm"])]);
    let module = Module::load(&gpu.device(0), &images).expect("it fits");
    let kernel = module.kernel("saxpy").expect("it is there");
    drop(module.kernel("gemm").expect("it is there"));
    drop(module);
    assert_eq!(
        gpu.log(),
        ["open", "load sm_90 (cubin)"],
        "a kernel keeps its image"
    );
    drop(kernel);
    assert_eq!(gpu.log(), ["open", "load sm_90 (cubin)", "unload"]);
}
