//! What the format library writes, read by NVIDIA's and LLVM's tools.

use std::path::{Path, PathBuf};

use offload_audit::unpack::zstd_frame;
use offload_image::arch::Suffix;
use offload_image::bundle;
use offload_image::fatbin::{self, EntryKind, NewEntry};
use offload_image::image::Compression;
use offload_image::offload_binary::{self, image_kind, offload_kind, NewImage};
use offload_image::ptx_isa::PtxIsa;
use offload_image::target::Sm;
use support::{images, kinds, path, paths, scratch, stdout};

/// The saxpy images that have this in their path.
fn image(of: &str, name: &str) -> Vec<u8> {
    let files = paths(of);
    let found = files
        .iter()
        .find(|path| path.display().to_string().contains(name));
    std::fs::read(found.unwrap_or_else(|| panic!("no {name} in {files:?}"))).unwrap()
}

struct Image {
    kind: EntryKind,
    number: u32,
    suffix: Suffix,
    bytes: Vec<u8>,
}

fn fatbin(images: &[Image], packed: bool) -> Vec<u8> {
    let payloads: Vec<Vec<u8>> = images
        .iter()
        .map(|image| match packed {
            true => zstd_frame(&image.bytes),
            false => image.bytes.clone(),
        })
        .collect();
    let entries: Vec<NewEntry<'_>> = images
        .iter()
        .zip(&payloads)
        .map(|(image, payload)| NewEntry {
            kind: image.kind,
            sm: Sm {
                number: image.number,
                suffix: image.suffix,
            },
            version: match image.kind {
                EntryKind::Ptx => PtxIsa { major: 7, minor: 0 },
                _ => PtxIsa { major: 1, minor: 8 },
            },
            compression: match packed {
                true => Compression::Zstd,
                false => Compression::None,
            },
            unpacked_size: image.bytes.len() as u64,
            payload,
        })
        .collect();
    fatbin::write(&entries)
}

/// A folder to run an extraction in, and the files that it left.
fn extracted(flag: &str, file: &Path) -> Vec<Vec<u8>> {
    let folder = file.with_extension(flag.trim_start_matches('-'));
    std::fs::create_dir_all(&folder).unwrap();
    let output = std::process::Command::new(path("CUOBJDUMP"))
        .args([flag, "all"])
        .arg(file)
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| std::fs::read(file).unwrap())
        .collect()
}

#[test]
fn cuobjdump_reads_our_fatbins() {
    let mut ptx = image("PTX", "sm_80");
    ptx.push(0);
    let images_in = [
        Image {
            kind: EntryKind::Cubin,
            number: 80,
            suffix: Suffix::Plain,
            bytes: image("IMAGES", "sm_80"),
        },
        Image {
            kind: EntryKind::Cubin,
            number: 90,
            suffix: Suffix::Plain,
            bytes: image("IMAGES", "sm_90"),
        },
        Image {
            kind: EntryKind::Ptx,
            number: 80,
            suffix: Suffix::Plain,
            bytes: ptx.clone(),
        },
    ];
    for packed in [false, true] {
        let bytes = fatbin(&images_in, packed);
        assert_eq!(
            bytes,
            fatbin(&images_in, packed),
            "the same bytes each time"
        );
        let file = scratch(if packed {
            "packed.fatbin"
        } else {
            "raw.fatbin"
        });
        std::fs::write(&file, &bytes).unwrap();
        let text = file.to_str().unwrap();
        let list = stdout("CUOBJDUMP", ["-lelf", "-lptx", text]);
        for arch in ["1.sm_80.cubin", "2.sm_90.cubin", "1.sm_80.ptx"] {
            assert!(list.contains(arch), "no {arch} in {list}");
        }
        assert_eq!(list.matches(".cubin").count(), 2, "{list}");
        assert_eq!(list.matches(".ptx").count(), 1, "{list}");
        let mut cubins = extracted("-xelf", &file);
        let mut wanted = vec![images_in[0].bytes.clone(), images_in[1].bytes.clone()];
        cubins.sort();
        wanted.sort();
        // cuobjdump keeps the padding of what is not packed.
        for (cubin, wanted) in cubins.iter().zip(&wanted) {
            assert!(cubin.starts_with(wanted) && cubin.len() - wanted.len() < 8);
        }
        assert_eq!(cubins.len(), 2);
        let text = String::from_utf8(extracted("-xptx", &file).remove(0)).unwrap();
        assert!(text.contains(".visible .entry saxpy("), "{text}");
        assert_eq!(
            kinds(&images(&file)),
            ["sm_80 cubin", "sm_80 ptx", "sm_90 cubin"]
        );
    }
}

#[test]
fn llvm_reads_our_offload_binaries() {
    let gfx = image("IMAGES", "gfx90a");
    let cubin = image("IMAGES", "sm_90");
    let given = [
        NewImage {
            image_kind: image_kind::OBJECT,
            offload_kind: offload_kind::HIP,
            strings: vec![("triple", "amdgcn-amd-amdhsa"), ("arch", "gfx90a")],
            data: &gfx,
        },
        NewImage {
            image_kind: image_kind::CUBIN,
            offload_kind: offload_kind::CUDA,
            strings: vec![("triple", "nvptx64-nvidia-cuda"), ("arch", "sm_90")],
            data: &cubin,
        },
    ];
    let file = scratch("v1.offload");
    std::fs::write(&file, offload_binary::write(&given)).unwrap();
    for (arch, triple, bytes) in [
        ("gfx90a", "amdgcn-amd-amdhsa", &gfx),
        ("sm_90", "nvptx64-nvidia-cuda", &cubin),
    ] {
        let out = scratch(arch);
        let wanted = format!("--image=file={},triple={triple},arch={arch}", out.display());
        stdout("OFFLOAD_BINARY", [&wanted, file.to_str().unwrap()]);
        assert_eq!(&std::fs::read(&out).unwrap(), bytes, "{arch}");
    }
    assert_eq!(kinds(&images(&file)), ["gfx90a gfx", "sm_90 cubin"]);
}

#[test]
fn llvm_reads_our_bundles() {
    let (older, newer) = (image("IMAGES", "gfx90a"), image("IMAGES", "gfx1100"));
    let bundle = bundle::write(&[
        ("host-x86_64-unknown-linux-gnu-", b""),
        ("hipv4-amdgcn-amd-amdhsa--gfx90a", &older),
        ("hipv4-amdgcn-amd-amdhsa--gfx1100", &newer),
    ]);
    let (file, object) = (scratch("bundle"), scratch("bundle.o"));
    std::fs::write(&file, &bundle).unwrap();
    assert_eq!(kinds(&images(&file)), ["gfx1100 gfx", "gfx90a gfx"]);
    // LLVM looks for bundles in the section where hipcc puts them.
    let section = format!("--add-section=.hip_fatbin={}", file.display());
    let program = path("PROGRAM");
    stdout(
        "OBJCOPY",
        [
            &section,
            program.to_str().unwrap(),
            object.to_str().unwrap(),
        ],
    );
    let list = stdout("READELF", ["--offloading", object.to_str().unwrap()]);
    for (arch, size) in [("gfx90a", older.len()), ("gfx1100", newer.len())] {
        assert!(
            list.contains(&format!("hipv4-amdgcn-amd-amdhsa--{arch}")),
            "{list}"
        );
        assert!(list.contains(&format!("size={size}")), "{arch}: {list}");
    }
}
