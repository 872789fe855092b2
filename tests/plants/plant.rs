//! `plant CONTAINER PACKING KIND SECTION PTX CUBIN OUT`: device code in a container, as an assembler's source
//! that puts it into a section; with `-` for the section, as it is.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{Cursor, Write as _};

use offload_audit::unpack::zstd_frame;
use offload_image::arch::Suffix;
use offload_image::bundle;
use offload_image::fatbin::{self, EntryKind, NewEntry};
use offload_image::image::Compression;
use offload_image::offload_binary::{self, image_kind, offload_kind, NewImage};
use offload_image::ptx_isa::PtxIsa;
use offload_image::target::Sm;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

struct Image {
    bytes: Vec<u8>,
    kind: EntryKind,
    number: u32,
}

fn main() -> Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [container, packing, kind, section, ptx, cubin, out] = &args[..] else {
        return Err("CONTAINER PACKING KIND SECTION PTX CUBIN OUT".into());
    };
    let cubin = Image {
        bytes: fs::read(cubin)?,
        kind: EntryKind::Cubin,
        number: 90,
    };
    let image = match kind.as_str() {
        "ptx" => Image {
            bytes: fs::read(ptx)?,
            kind: EntryKind::Ptx,
            number: 70,
        },
        _ => Image {
            bytes: cubin.bytes.clone(),
            ..cubin
        },
    };
    let planted = match container.as_str() {
        "bare" => image.bytes,
        "fatbin" => fatbin(&image, packing)?,
        // Behind a first one, as the linker puts those of two objects.
        "fatbins" => [fatbin(&cubin, "none")?, fatbin(&image, packing)?].concat(),
        "offload_v1" => offload_binary::write(&[of_image(&image)]),
        "offload_v2" => offload_binary::write_v2(&[of_image(&image)]),
        "offload_of_fatbin" => offload_binary::write(&[NewImage {
            image_kind: image_kind::FATBIN,
            ..of_image(&Image {
                bytes: fatbin(&image, packing)?,
                ..image
            })
        }]),
        "bundle" => bundle_of(&image),
        "ccob" => ccob(&bundle_of(&image), packing)?,
        "zip" => zip(&image.bytes)?,
        other => return Err(format!("no container `{other}`").into()),
    };
    if section == "-" {
        fs::write(out, planted)?;
        return Ok(());
    }
    fs::write(out, assembly(section, &planted)?)?;
    Ok(())
}

/// The section is kept although nothing may refer to it.
fn assembly(section: &str, bytes: &[u8]) -> Result<String> {
    let kind = match section {
        ".llvm.offloading" => "@0x6fff4c0b",
        _ => "@progbits",
    };
    let flags = if section == ".data" { "awR" } else { "aR" };
    let mut text = format!(
        ".section {section},\"{flags}\",{kind}\n.balign 4096\n.globl planted\n.type planted, @object\nplanted:\n"
    );
    for line in bytes.chunks(16) {
        let numbers: Vec<String> = line.iter().map(u8::to_string).collect();
        writeln!(text, ".byte {}", numbers.join(","))?;
    }
    writeln!(text, ".size planted, .-planted")?;
    writeln!(text, ".section .note.GNU-stack,\"\",@progbits")?;
    Ok(text)
}

fn fatbin(image: &Image, packing: &str) -> Result<Vec<u8>> {
    let (compression, payload) = match packing {
        "none" => (Compression::None, image.bytes.clone()),
        "zstd" => (Compression::Zstd, zstd_frame(&image.bytes)),
        "lz4" => (Compression::Lz4, lz4_flex::block::compress(&image.bytes)),
        other => return Err(format!("fatbins are not packed by `{other}`").into()),
    };
    Ok(fatbin::write(&[NewEntry {
        kind: image.kind,
        sm: Sm {
            number: image.number,
            suffix: Suffix::Plain,
        },
        version: match image.kind {
            EntryKind::Ptx => PtxIsa { major: 7, minor: 0 },
            _ => PtxIsa { major: 1, minor: 8 },
        },
        compression,
        unpacked_size: image.bytes.len() as u64,
        payload: &payload,
    }]))
}

fn of_image(image: &Image) -> NewImage<'_> {
    let (image_kind, arch) = match image.kind {
        EntryKind::Ptx => (image_kind::PTX, "sm_70"),
        _ => (image_kind::CUBIN, "sm_90"),
    };
    NewImage {
        image_kind,
        offload_kind: offload_kind::CUDA,
        strings: vec![("triple", "nvptx64-nvidia-cuda"), ("arch", arch)],
        data: &image.bytes,
    }
}

fn bundle_of(image: &Image) -> Vec<u8> {
    let id = format!("cuda-nvptx64-nvidia-cuda--sm_{}", image.number);
    bundle::write(&[("host-x86_64-unknown-linux--", b""), (&id, &image.bytes)])
}

/// A compressed bundle of version 2: the sizes of the whole and of what it unpacks to, and a hash that nobody
/// looks at.
fn ccob(bundle: &[u8], packing: &str) -> Result<Vec<u8>> {
    let (method, packed): (u16, _) = match packing {
        "zlib" => {
            let mut packer =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
            packer.write_all(bundle)?;
            (0, packer.finish()?)
        }
        "zstd" => (1, zstd_frame(bundle)),
        other => return Err(format!("bundles are not packed by `{other}`").into()),
    };
    let mut out = b"CCOB".to_vec();
    out.extend_from_slice(&2_u16.to_le_bytes());
    out.extend_from_slice(&method.to_le_bytes());
    for size in [24 + packed.len(), bundle.len()] {
        out.extend_from_slice(&u32::try_from(size)?.to_le_bytes());
    }
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(&packed);
    Ok(out)
}

fn zip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("kernels/k", zip::write::SimpleFileOptions::default())?;
    writer.write_all(bytes)?;
    Ok(writer.finish()?.into_inner())
}
