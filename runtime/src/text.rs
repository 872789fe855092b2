//! The longer error texts.

use crate::error::{DeviceName, ImageName};
use offload_image::near::nearest;

pub(crate) fn no_driver(tried: &[String], reason: &str) -> String {
    format!(
        "no GPU driver on this machine: could not open {} ({reason}); install the vendor's GPU driver, or, in a \
         container, have the host's driver mounted (for example `--gpus all`)",
        tried.join(" or ")
    )
}

pub(crate) fn no_device(driver: &str, visible: Option<&str>) -> String {
    let mend = match visible {
        Some(list) => format!(
            "CUDA_VISIBLE_DEVICES is \"{list}\", and only the GPUs that it names can be seen: unset it or correct it"
        ),
        None => "check that the GPU is in this machine and passed through to this container (`nvidia-smi -L` lists it)"
            .to_owned(),
    };
    format!("no GPU: the driver {driver} is there and has no device to offer; {mend}")
}

pub(crate) fn no_image(device: &DeviceName, have: &[ImageName]) -> String {
    let have = if have.is_empty() {
        "no image at all".to_owned()
    } else {
        list(have)
    };
    format!(
        "no image for {device}: this program has {have}; add \"{}\" to `archs` of the target that builds it",
        device.arch
    )
}

pub(crate) fn kernel_not_found(
    kernel: &str,
    device: &DeviceName,
    image: &ImageName,
    others: &[ImageName],
    have: &[String],
) -> String {
    let mut text = match others {
        [] => format!("no kernel `{kernel}` for {device}: the image {image} has "),
        others => format!(
            "no kernel `{kernel}` for {device}: the image {image}, and {} after it, have ",
            list(others)
        ),
    };
    // A library may have thousands of kernels.
    const SHOWN: usize = 12;
    if have.is_empty() {
        text += "no kernels at all";
    } else {
        let shown = have
            .iter()
            .take(SHOWN)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ");
        text += &shown;
        if have.len() > SHOWN {
            text += &format!(" and {} more", have.len() - SHOWN);
        }
    }
    let names = have.iter().map(String::as_str);
    // A mangled name contains the plain one.
    let near =
        nearest(kernel, names.clone()).or_else(|| names.clone().find(|name| name.contains(kernel)));
    text += &match near {
        Some(name) => format!("; did you mean `{name}`?"),
        None => "; export it from the device crate with `#[no_mangle]`, and name it in `kernels` of the target, so that \
                 the build checks it"
            .to_owned(),
    };
    text
}

pub(crate) fn kernel_ambiguous(
    kernel: &str,
    device: &DeviceName,
    images: &[(ImageName, String); 2],
) -> String {
    let [one, other] = images.each_ref().map(|(image, sha256)| {
        format!("{image} with sha256 {}", sha256.get(..12).unwrap_or(sha256))
    });
    format!(
        "two kernels `{kernel}` for {device}: the images {one} and {other} both have it, and their code differs; rename \
         it in one of the two, or link one of them alone (`offload inspect --kernels` lists the images of a program)"
    )
}

pub(crate) fn ptx_too_new(
    device: &DeviceName,
    image: &ImageName,
    ptx: &str,
    driver: &str,
) -> String {
    format!(
        "no image for {device}: the image {image} needs PTX ISA {ptx}, and {driver}; update the GPU driver, or add \
         \"{}\" to `archs` of the target that builds the program, so that it needs no compiling at run time",
        device.arch
    )
}

pub(crate) fn driver(code: i32, name: &str, call: &str, doing: &str) -> String {
    let doing = if doing.is_empty() {
        String::new()
    } else {
        format!(" while {doing}")
    };
    format!("the GPU driver's {call} failed{doing}: error {code}, {name}")
}

pub(crate) fn malformed(place: &str, offset: u64, problem: &str) -> String {
    format!(
        "{place} is malformed at byte {offset:#x}: {problem}; the file is damaged, or was written by another version: \
         build it again"
    )
}

fn list(images: &[ImageName]) -> String {
    images
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}
