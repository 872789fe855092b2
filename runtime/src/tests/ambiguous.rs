//! A kernel that two images have for the same GPUs.

use super::fake::Fake;
use crate::{Error, Images, Module};
use offload_image::offload_binary::{self, image_kind, offload_kind, NewImage};

/// PTX whose kernels are of the given linkage and body.
fn ptx(arch: &str, linkage: &str, kernel: &str, body: &str) -> Vec<u8> {
    let head = format!(".version 7.0\n.target {arch}\n.address_size 64\n");
    let text = format!("{head}{linkage} .entry {kernel}() {{ {body} ret; }}\n");
    offload_binary::write(&[NewImage {
        image_kind: image_kind::PTX,
        offload_kind: offload_kind::CUDA,
        strings: vec![("arch", arch), ("ptx_policy", "embed")],
        data: text.as_bytes(),
    }])
}

/// What asking for `saxpy` comes to, and how many images were loaded for it.
fn ask(blobs: [&[u8]; 2]) -> (Result<(), Error>, usize) {
    let gpu = Fake::nvidia(8, 0);
    let images = Images::of_blobs(&blobs).expect("sound blobs");
    let module = Module::load(&gpu.device(0), &images).expect("both fit");
    let asked = module.kernel("saxpy").map(|_| ());
    let loads = gpu.log();
    let loads = loads.iter().filter(|call| call.starts_with("load"));
    (asked, loads.count())
}

#[test]
fn other_code_under_the_same_name_is_refused() {
    let (one, other) = (
        ptx("sm_80", ".visible", "saxpy", ""),
        ptx("sm_80", ".visible", "saxpy", "trap;"),
    );
    for blobs in [[&one, &other], [&other, &one]] {
        let (asked, loads) = ask(blobs.map(Vec::as_slice));
        let error = asked.expect_err("which of the two is not known");
        assert!(
            matches!(&error, Error::KernelAmbiguous { kernel, images, .. }
                if kernel == "saxpy" && images[0].1 != images[1].1),
            "{error}"
        );
        let text = error.to_string();
        assert!(
            text.starts_with("two kernels `saxpy` for GPU 0 (Fake GPU, sm_80): the images sm_80 (ptx) with sha256 "),
            "{text}"
        );
        assert!(text.contains("rename it in one of the two"), "{text}");
        assert_eq!(loads, 0, "nothing is started");
    }
}

#[test]
fn what_is_not_ambiguous_runs() {
    let one = ptx("sm_80", ".visible", "saxpy", "");
    for (case, other) in [
        ("the same image twice", one.clone()),
        ("another kernel", ptx("sm_80", ".visible", "gemm", "trap;")),
        (
            "a GPU it fits less well",
            ptx("sm_70", ".visible", "saxpy", "trap;"),
        ),
        (
            "a template, of which all are alike",
            ptx("sm_80", ".weak", "saxpy", "trap;"),
        ),
    ] {
        for blobs in [[&one, &other], [&other, &one]] {
            assert_eq!(ask(blobs.map(Vec::as_slice)), (Ok(()), 1), "{case}");
        }
    }
}
