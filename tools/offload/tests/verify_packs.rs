//! `offload verify`: programs that several packed files were linked into.

mod common;
use common::*;
use offload_image::elf::Elf;
use offload_image::offload_binary::{self, image_kind, NewImage};
use serde_json::json;

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

fn ptx(kernels: &[&str]) -> Vec<u8> {
    let entries = kernels
        .iter()
        .map(|k| format!(".visible .entry {k}() {{ ret; }}\n"));
    let entries: String = entries.collect();
    format!(".version 7.0\n.target sm_80\n.address_size 64\n{entries}").into_bytes()
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

#[test]
fn the_same_image_in_two_packs_or_twice_in_one() {
    let room = Room::new();
    let new = image(&room, "cubin", "sm_90", "new", SM_90);
    let amd = image(&room, "gfx", "gfx90a", "amd", GFX90A);
    let verify = |file: &str| run(&["verify", "--ptx=forbid", file]);
    let ran = verify(&program(&room, &[&[&new, &amd], &[&new, &amd]]));
    let bytes = format!("; {} bytes could be saved\n", SM_90.len() + GFX90A.len());
    ran.says(
        0,
        &[
            "has cubin for sm_90, gfx for gfx90a more than once, the same bytes: in .llvm.offloading @ 0x40, pack 0, and in .llvm.offloading @ 0x",
            ", pack 1; ",
            &bytes,
        ],
    );
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    // Either object may have brought either of them: both are named.
    let [a, b] = ["a", "b"].map(|name| {
        let packed = room.path(&format!("{name}.offload")).display().to_string();
        link(&room, &format!("{name}.o"), &[&packed])
    });
    let file = room.path("program").display().to_string();
    let origins = ["--origin", "//l:a", &*a, "--origin", "//l:b", &b];
    run(&[&["verify", "--ptx=forbid", &*file], &origins[..]].concat()).says(
        0,
        &[
            ", pack 0, from //l:a (a.o), and in ",
            ", pack 1, from //l:b (b.o); ",
        ],
    );
    // What is there once is in no note.
    verify(&program(&room, &[&[&new], &[&amd]])).fine();
    // What somebody else packed.
    let cubin = || NewImage {
        image_kind: image_kind::CUBIN,
        offload_kind: offload_binary::offload_kind::CUDA,
        strings: vec![("arch", "sm_90"), ("ptx_policy", "forbid")],
        data: SM_90,
    };
    let twice = room.file("twice", &offload_binary::write(&[cubin(), cubin()]));
    let bytes = format!("bytes: in file @ 0x0; {} bytes", SM_90.len());
    verify(&twice).says(0, &["has cubin for sm_90 more than once", &bytes]);
    let once = room.file("once", &offload_binary::write(&[cubin()]));
    verify(&once).fine();
    // Two files are two programs, and of fatbins each object has its own.
    verify(&room.file("fatbins", &[both(), both()].concat())).fine();
    let ran = run(&[
        "verify",
        "--ptx=forbid",
        &once,
        &room.path("twice").display().to_string(),
    ]);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
}

#[test]
fn two_units_are_no_conflict() {
    let room = Room::new();
    let one = image(&room, "ptx", "sm_80", "one", &ptx(&["a"]));
    let two = image(&room, "ptx", "sm_80", "two", &ptx(&["b"]));
    for packs in [&[&[&*one, &two][..]][..], &[&[&*one], &[&*two]]] {
        let file = program(&room, packs);
        run(&["verify", "--ptx=embed", &file]).fine();
    }
}

#[test]
fn two_images_of_one_program_with_the_same_kernel() {
    let room = Room::new();
    let one = image(&room, "cubin", "sm_90", "one", SM_90);
    let two = image(&room, "cubin", "sm_90", "two", &altered(SM_90));
    let file = program(&room, &[&[&one], &[&two]]);
    run(&["verify", "--label=//x:y", "--ptx=forbid", &file]).says(
        1,
        &[
            "//x:y: two images in ",
            "have the same kernels, and no GPU tells them apart: fill, nothing\n",
            "wanted: one cubin for sm_90 with these\n",
            "found:  cubin for sm_90 in .llvm.offloading @ 0x40, pack 0; and cubin for sm_90 in .llvm.offloading @ 0x",
            ", pack 1: the runtime refuses to pick one\n",
            "mend:   rename the kernels in one of the two, or take one out\n",
        ],
    );
    let (code, report) = verify_json(&["--ptx=forbid", &file]);
    assert_eq!((code, rules(&report)), (1, vec!["conflict"]));
    assert_eq!(report["breaches"][0]["image"]["pack"], json!(1));
    // Either of the two may be let through.
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
    let verify = |more: &[&str]| {
        let origins = ["--origin", "//l:a", &a, "--origin", "//l:b", &b];
        run(&[&["verify", "--ptx=forbid", &file], &origins[..], more].concat())
    };
    verify(&[]).says(
        1,
        &[
            ", pack 0, from //l:a (a.o); and",
            ", pack 1, from //l:b (b.o): the runtime refuses",
            "audit_exceptions = {\"//l:b\": \"...\"}",
        ],
    );
    for allowed in ["//l:a", "//l:b"] {
        let ran = verify(&["--allow", allowed, "told them"]);
        ran.says(0, &["exception for", &format!("({allowed}): told them")]);
    }
    verify(&["--allow", "//l:c", "no"]).says(1, &["came into use nowhere", "two images in "]);
}

#[test]
fn what_is_no_conflict() {
    let room = Room::new();
    let verify = |file: &str| run(&["verify", "--ptx=embed", file]).code;
    let cubin = image(&room, "cubin", "sm_90", "c", SM_90);
    let other = image(&room, "cubin", "sm_90", "o", &altered(SM_90));
    let exact = image(&room, "cubin", "sm_90a", "a", SM_90A);
    let text = String::from_utf8(TINY_PTX.to_vec()).unwrap();
    let ptx = |name: &str, text: String| {
        let text = text.replace("sm_70", "sm_90");
        image(&room, "ptx", "sm_90", name, text.as_bytes())
    };
    let visible = ptx("p", text.clone());
    let again = ptx("q", format!("{text}\n"));
    let weak = ptx("w", text.replace(".visible .entry", ".weak .entry"));
    for (one, two, wanted) in [
        (&cubin, &other, 1),
        // A more specific one goes before, and PTX comes last.
        (&cubin, &exact, 0),
        (&cubin, &visible, 0),
        // Text that differs behind its last brace alone is the same.
        (&visible, &again, 0),
        // Of templates every unit has its own.
        (&visible, &weak, 0),
    ] {
        let file = program(&room, &[&[one], &[two]]);
        assert_eq!(verify(&file), wanted, "{one} {two}");
    }
    // Cubins of templates.
    let at = |name: &str| {
        let bytes = offload_image::bytes::Bytes::new(SM_90);
        let elf = Elf::parse(bytes).unwrap();
        let symbols = elf.symbols(false).unwrap();
        let index = symbols.iter().position(|s| s.name == name && s.kind == 2);
        let table = elf.sections.iter().find(|s| s.kind == 2).unwrap();
        table.bytes.base() as usize + 24 * index.unwrap() + 4
    };
    let weak = |image: &[u8]| {
        let mut image = image.to_vec();
        for name in ["fill", "nothing"] {
            image[at(name)] = 0x22;
        }
        image
    };
    let one = image(&room, "cubin", "sm_90", "w1", &weak(SM_90));
    let two = image(&room, "cubin", "sm_90", "w2", &weak(&altered(SM_90)));
    assert_eq!(verify(&program(&room, &[&[&one], &[&two]])), 0);
    // Fatbins are registered one by one; so is what stands in two files.
    let fatbin =
        |cubin: &'static [u8]| offload_image::fatbin::write(&[entry(90, Suffix::Plain, cubin)]);
    let other: &'static [u8] = altered(SM_90).leak();
    let bytes = [fatbin(SM_90), fatbin(other)].concat();
    assert_eq!(verify(&room.file("fatbins", &bytes)), 0);
    let files = ["c", "o"].map(|name| room.path(name).display().to_string());
    assert_eq!(
        run(&["verify", "--ptx=embed", &files[0], &files[1]]).code,
        0
    );
}

/// What others packed into one file is one list too.
#[test]
fn a_packed_file_with_a_conflict() {
    let room = Room::new();
    let cubin = |data| NewImage {
        image_kind: image_kind::CUBIN,
        offload_kind: offload_binary::offload_kind::CUDA,
        strings: vec![("arch", "sm_90"), ("ptx_policy", "forbid")],
        data,
    };
    let other = altered(SM_90);
    let bytes = offload_binary::write(&[cubin(SM_90), cubin(&other)]);
    let verify = |file: &str| run(&["verify", "--ptx=forbid", file]);
    verify(&room.file("packed", &bytes)).says(
        1,
        &["found:  cubin for sm_90 in file @ 0x0; and cubin for sm_90 in file @ 0x"],
    );
    // Where no runtime of ours finds it, it is data.
    verify(&room.file("appended", &[PLAIN, &bytes].concat())).fine();
}
