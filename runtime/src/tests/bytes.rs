//! From real bytes to images, and what is said of bytes that are none.

use crate::{Error, Images, Kind, PtxPolicy};
use offload_image::offload_binary::{self, image_kind, offload_kind, NewImage};

const PTX: &str = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry saxpy(.param .u32 n) { ret; }\n";

fn packed(kind: u16, arch: &str, policy: &str, data: &str) -> Vec<u8> {
    offload_binary::write(&[NewImage {
        image_kind: kind,
        offload_kind: offload_kind::CUDA,
        strings: vec![
            ("triple", "nvptx64-nvidia-cuda"),
            ("arch", arch),
            (PtxPolicy::KEY, policy),
        ],
        data: data.as_bytes(),
    }])
}

#[test]
fn an_image_tells_what_it_is() {
    let blob = packed(image_kind::PTX, "sm_80", "embed", PTX);
    let images = Images::parse(&blob).expect("a sound blob");
    let image = images.iter().next().expect("one image");
    assert_eq!(
        (image.arch(), image.kind(), image.policy()),
        ("sm_80", Kind::Ptx, Some(PtxPolicy::Embed))
    );
    assert_eq!(image.bytes(), PTX.as_bytes());
    assert_eq!(
        image.kernels().expect("readable"),
        Some(&["saxpy".to_owned()][..])
    );
    assert_eq!(
        image.ptx_isa().map(|isa| isa.to_string()).as_deref(),
        Some("7.0")
    );
    assert_eq!(image.sha256().len(), 64);
    assert_eq!(
        images.to_string(),
        format!(
            "arch   kind  size  sha256        ptx policy  kernels\n\
             sm_80  ptx     90  {}  embed       saxpy\n",
            &image.sha256()[..12]
        )
    );
}

#[test]
fn blobs_stand_one_after_another() {
    let blob = packed(image_kind::PTX, "sm_80", "embed", PTX);
    let images = Images::of_blobs(&[&[blob.clone(), blob.clone()].concat(), &blob])
        .map(|images| images.len());
    assert_eq!(images, Ok(3));
}

#[test]
fn a_label_that_the_bytes_contradict_is_an_error() {
    let blob = packed(image_kind::PTX, "sm_90", "embed", PTX);
    let images = Images::parse(&blob).expect("the container is sound");
    let error = images
        .iter()
        .next()
        .expect("one image")
        .kernels()
        .expect_err("it is for sm_80");
    assert!(
        error
            .to_string()
            .contains("the image sm_90 (ptx) is malformed"),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains("its own bytes say that it is sm_80 (ptx)"),
        "{error}"
    );
    assert!(
        images.to_string().contains("its own bytes say"),
        "the table goes on"
    );
}

#[test]
fn an_unknown_policy_is_an_error() {
    let blob = packed(image_kind::PTX, "sm_80", "maybe", PTX);
    let error = Images::parse(&blob).expect_err("no such policy");
    assert!(error.to_string().contains("maybe"), "{error}");
}

#[test]
fn a_blob_cut_anywhere_is_an_error_and_no_panic() {
    let blob = packed(image_kind::PTX, "sm_80", "embed", PTX);
    for length in 1..blob.len() {
        let cut = Images::parse(&blob[..length]);
        assert!(
            matches!(cut, Err(Error::Malformed { .. })),
            "cut to {length} bytes"
        );
    }
}

#[test]
fn a_blob_with_any_byte_changed_is_no_panic() {
    let mut blob = packed(image_kind::PTX, "sm_80", "embed", PTX);
    for at in 0..blob.len() {
        let sound = std::mem::replace(&mut blob[at], 0xff);
        if let Ok(images) = Images::parse(&blob) {
            let _ = images.to_string();
        }
        blob[at] = sound;
    }
}
