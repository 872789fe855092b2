//! `offload verify`: programs that several packed files were linked into.

mod common;
use common::*;

/// A program of packed files: `a`, `b`, … with these images.
fn program(room: &Room, packs: &[&[&str]]) -> String {
    let packed: Vec<String> = packs
        .iter()
        .zip('a'..)
        .map(|(images, name)| pack(room, &format!("{name}.offload"), images))
        .collect();
    let packed: Vec<&str> = packed.iter().map(String::as_str).collect();
    link(room, "program", &packed)
}

#[test]
fn each_pack_has_to_have_every_architecture() {
    let room = Room::new();
    let old = image(&room, "cubin", "sm_75", "old", SM_75);
    let new = image(&room, "cubin", "sm_90", "new", SM_90);
    let amd = image(&room, "gfx", "gfx90a", "amd", GFX90A);
    let verify = |file: &str| run(&["verify", "--require-arch=sm_90", file]);
    // The first has both, the second one alone.
    let file = program(&room, &[&[&old, &new], &[&old]]);
    verify(&file).says(
        1,
        &[
            "no image for sm_90 in ",
            ", pack 1 (elf/offload_binary)",
            "wanted: an image that runs on sm_90 as it is",
            "found:  images for: sm_75\n",
        ],
    );
    assert!(!verify(&file).err.contains("pack 0 (elf"));
    // What has nothing of that vendor is not asked.
    let file = program(&room, &[&[&old, &new], &[&amd]]);
    verify(&file).fine();
}

#[test]
fn a_kernel_with_other_architectures_in_another_pack() {
    let room = Room::new();
    let old = image(&room, "cubin", "sm_75", "old", SM_75);
    let new = image(&room, "cubin", "sm_90", "new", SM_90);
    let file = program(&room, &[&[&old], &[&new]]);
    let verify =
        |file: &str, more: &[&str]| run(&[&["verify", "--ptx=embed", file], more].concat());
    let ran = verify(&file, &[]);
    ran.says(0, &["note: ", "has fill, nothing more than once, for different architectures: .llvm.offloading @ 0x40, pack 0 for sm_75, and .llvm.offloading @ 0x"]);
    assert!(ran.err.contains(", pack 1 for sm_90\n"), "{}", ran.err);
    // Where that is known, with what brought them.
    let a = link(
        &room,
        "a.o",
        &[&room.path("a.offload").display().to_string()],
    );
    let b = link(
        &room,
        "b.o",
        &[&room.path("b.offload").display().to_string()],
    );
    let origins = ["--origin", "//l:a", &a, "--origin", "//l:b", &b];
    verify(&file, &origins).says(
        0,
        &[
            ", pack 0, from //l:a (a.o) for sm_75, and ",
            ", pack 1, from //l:b (b.o) for sm_90\n",
        ],
    );
    // In one pack it is one kernel for two architectures.
    verify(&program(&room, &[&[&old, &new]]), &[]).fine();
}
