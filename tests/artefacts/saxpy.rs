//! What is in `//examples/saxpy`, by our account and by those of NVIDIA's and LLVM's tools.

use std::path::{Path, PathBuf};

use support::{contains, images, kinds, path, paths, scratch, stdout};

const NVIDIA: [&str; 3] = ["sm_80", "sm_90", "sm_100"];
const AMD: [&str; 2] = ["gfx90a", "gfx1100"];
const KINDS: [&str; 5] = [
    "gfx1100 gfx",
    "gfx90a gfx",
    "sm_100 cubin",
    "sm_80 cubin",
    "sm_90 cubin",
];

fn image(arch: &str) -> PathBuf {
    let folder = format!("saxpy.kernels.{arch}");
    let is_it = |path: &PathBuf| {
        path.parent()
            .is_some_and(|parent| parent.ends_with(&folder))
    };
    let mut found: Vec<PathBuf> = paths("IMAGES").into_iter().filter(is_it).collect();
    assert_eq!(found.len(), 1, "{arch}: {found:?}");
    found.remove(0)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn inspect_finds_one_image_for_each_arch_and_no_ptx() {
    let program = path("PROGRAM");
    let found = images(&program);
    assert_eq!(kinds(&found), KINDS);
    let bytes = std::fs::read(&program).unwrap();
    for image in &found {
        assert_eq!(image["container"], "elf/offload_binary", "{image}");
        assert_eq!(image["section"], ".llvm.offloading", "{image}");
        assert_eq!(image["compression"], "none", "{image}");
        assert_eq!(image["size"], image["unpacked_size"], "{image}");
        assert_eq!(image["kernels"], serde_json::json!(["saxpy"]), "{image}");
        assert_eq!(image["policy"], "forbid", "{image}");
        assert!(image["ptx_isa"].is_null(), "{image}");
        assert_eq!(image["sha256"].as_str().unwrap().len(), 64, "{image}");
        let number = |key: &str| image[key].as_u64().unwrap() as usize;
        let at = number("offset");
        assert_eq!(bytes[at..at + 4], *b"\x7fELF", "{image}");
        assert!(at + number("size") <= bytes.len(), "{image}");
    }
}

#[test]
fn the_program_holds_the_very_bytes_of_the_images() {
    let program = std::fs::read(path("PROGRAM")).unwrap();
    assert_eq!(paths("IMAGES").len(), KINDS.len());
    for image in paths("IMAGES") {
        let bytes = std::fs::read(&image).unwrap();
        assert!(contains(&program, &bytes), "{}", image.display());
    }
}

#[test]
fn cuobjdump_reads_each_cubin() {
    for arch in NVIDIA {
        let out = stdout("CUOBJDUMP", ["-elf", text(&image(arch))]);
        let sm = |arch: &str| format!(" {},", arch.replace('_', "="));
        assert!(out.contains(&sm(arch)), "{arch}: {out}");
        assert!(out.contains(".text.saxpy"), "{arch}: {out}");
        for other in NVIDIA.iter().filter(|other| **other != arch) {
            assert!(!out.contains(&sm(other)), "{arch}: {out}");
        }
    }
}

#[test]
fn nvdisasm_disassembles_each_cubin() {
    for arch in NVIDIA {
        let out = stdout("NVDISASM", [text(&image(arch))]);
        let sm = arch.trim_start_matches("sm_");
        assert!(out.contains(&format!(".target\tsm_{sm}")), "{arch}: {out}");
        assert!(out.contains(".text.saxpy"), "{arch}: {out}");
        assert!(out.contains("EXIT"), "{arch}: {out}");
    }
}

#[test]
fn readelf_reads_each_code_object() {
    for arch in AMD {
        let file = image(arch);
        let out = stdout("READELF", ["-h", "-n", "--symbols", "-W", text(&file)]);
        assert!(
            out.contains("AMD GPU") || out.contains("EM_AMDGPU"),
            "{out}"
        );
        assert!(
            out.contains(&format!("amdgcn-amd-amdhsa--{arch}\n")),
            "{out}"
        );
        assert!(out.contains(" saxpy.kd"), "{out}");
    }
}

#[test]
fn llvm_lists_the_images_of_the_program() {
    let out = stdout("OBJDUMP", ["--offloading", text(&path("PROGRAM"))]);
    let mut archs: Vec<&str> = out
        .lines()
        .filter_map(|line| line.strip_prefix("arch")?.trim().into())
        .collect();
    archs.sort_unstable();
    let mut wanted = [NVIDIA.as_slice(), &AMD].concat();
    wanted.sort_unstable();
    assert_eq!(archs, wanted, "{out}");
    let is_ptx = |line: &str| line.starts_with("kind") && line.ends_with("ptx");
    assert!(!out.lines().any(is_ptx), "{out}");
}

#[test]
fn llvm_takes_each_image_out_of_the_pack() {
    for (triple, archs) in [
        ("nvptx64-nvidia-cuda", NVIDIA.as_slice()),
        ("amdgcn-amd-amdhsa", &AMD),
    ] {
        for arch in archs {
            let out = scratch(arch);
            let wanted = format!("--image=file={},triple={triple},arch={arch}", out.display());
            stdout("OFFLOAD_BINARY", [text(&path("PACKED")), &wanted]);
            let same = std::fs::read(&out).unwrap() == std::fs::read(image(arch)).unwrap();
            assert!(same, "{arch}");
        }
    }
}

#[test]
fn the_section_is_loaded_and_outlives_strip() {
    let stripped = scratch("stripped");
    stdout(
        "STRIP",
        ["--strip-all", "-o", text(&stripped), text(&path("PROGRAM"))],
    );
    assert_eq!(kinds(&images(&stripped)), KINDS);
    for program in [path("PROGRAM"), stripped] {
        let out = stdout("READELF", ["-S", "-W", text(&program)]);
        let line = out
            .lines()
            .find(|line| line.contains(" .llvm.offloading "))
            .expect(&out);
        // The flags are the fourth word from the end: `A` for allocated, `E` for excluded.
        let flags = line.split_whitespace().rev().nth(3).unwrap();
        assert!(flags.contains('A') && !flags.contains('E'), "{line}");
    }
}

#[test]
fn ptx_can_still_be_asked_for() {
    let files = paths("PTX");
    let mut targets: Vec<String> = files
        .iter()
        .map(|file| {
            let ptx = std::fs::read_to_string(file).unwrap();
            assert!(ptx.contains(".visible .entry saxpy("), "{ptx}");
            ptx.lines()
                .find(|line| line.starts_with(".target"))
                .unwrap()
                .to_owned()
        })
        .collect();
    targets.sort();
    assert_eq!(
        targets,
        [".target sm_100", ".target sm_80", ".target sm_90"]
    );
}

#[test]
fn paths_count_from_where_the_user_is() {
    let folder = scratch("here");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(image("sm_90"), folder.join("k.cubin")).unwrap();
    let output = |here: &std::path::Path| {
        std::process::Command::new(path("OFFLOAD"))
            .args(["inspect", "k.cubin"])
            .env("BUILD_WORKING_DIRECTORY", here)
            .output()
            .unwrap()
    };
    assert!(output(&folder).status.success());
    assert_eq!(output(&folder.join("..")).status.code(), Some(3));
}
