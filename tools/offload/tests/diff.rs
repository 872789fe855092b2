//! `offload diff`.

mod common;
use common::*;

use std::fs;
use std::io::{Cursor, Write};

use offload_image::offload_binary::{self, image_kind, offload_kind, NewImage};
use serde_json::{json, Value};
use zip::write::SimpleFileOptions;
use zip::ZipWriter;

fn ptx(kernels: &[&str], body: &str) -> Vec<u8> {
    let mut text = ".version 7.0\n.target sm_70\n.address_size 64\n".to_owned();
    for kernel in kernels {
        text.push_str(&format!(".visible .entry {kernel}() {{ {body} ret; }}\n"));
    }
    text.into_bytes()
}

/// One file with these images of PTX, in that order.
fn binary(images: &[&[u8]]) -> Vec<u8> {
    let images: Vec<NewImage<'_>> = images
        .iter()
        .map(|data| NewImage {
            image_kind: image_kind::PTX,
            offload_kind: offload_kind::CUDA,
            strings: vec![("triple", "nvptx64-nvidia-cuda"), ("arch", "sm_70")],
            data,
        })
        .collect();
    offload_binary::write(&images)
}

fn diff(old: &str, new: &str) -> Ran {
    run(&["diff", old, new])
}

/// The JSON, with the exit code that goes with it.
fn json_of(old: &str, new: &str) -> Value {
    let ran = run(&["diff", "--format=json", old, new]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let lists = ["added", "lost", "changed"].map(|list| report[list].as_array().unwrap().len());
    assert_eq!(
        ran.code,
        u8::from(lists.iter().any(|length| *length > 0)),
        "{ran:#?}"
    );
    assert_eq!((&report["schema"], ran.err.as_str()), (&json!(1), ""));
    report
}

#[test]
fn the_same() {
    let room = Room::new();
    let raw = room.file("raw", RAW_FATBIN);
    diff(&raw, &raw).fine();
    // Stored in another way, and in a file of another name: the images are the same.
    let packed = room.file("packed", SPEED_FATBIN);
    let ran = diff(&raw, &packed);
    ran.fine();
    let summary = "0 added, 0 lost, 0 changed, 2 the same; 4612 -> 1456 bytes stored (-3156)\n";
    assert_eq!(ran.out, summary);
    let report = json_of(&raw, &packed);
    assert_eq!(report["same"], 2);
    assert_eq!(report["stored_bytes"], json!({"old": 4612, "new": 1456}));
}

#[test]
fn added_and_lost() {
    let room = Room::new();
    let (old, new) = (room.file("old", SM_90), room.file("new", SM_90A));
    let ran = diff(&old, &new);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    let line = |sign: &str| ran.out.lines().find(|line| line.starts_with(sign)).unwrap();
    for (sign, arch, length) in [("-", "sm_90 ", SM_90.len()), ("+", "sm_90a", SM_90A.len())] {
        for text in [
            arch,
            "cubin",
            "fill, nothing",
            "file @ 0x0",
            &length.to_string(),
        ] {
            assert!(line(sign).contains(text), "no {text:?} in {}", ran.out);
        }
    }
    assert!(
        ran.out
            .contains("\n1 added, 1 lost, 0 changed, 0 the same; "),
        "{}",
        ran.out
    );
    let report = json_of(&old, &new);
    assert_eq!(report["added"][0]["arch"], "sm_90a");
    assert_eq!(report["added"][0]["path"], json!(new));
    assert_eq!(report["lost"][0]["arch"], "sm_90");
    assert_eq!(report["lost"][0]["path"], json!(old));
    // The other way around.
    let back = json_of(&new, &old);
    assert_eq!(
        (&back["added"], &back["lost"]),
        (&report["lost"], &report["added"])
    );
}

#[test]
fn one_of_two_that_are_the_same_is_lost() {
    let room = Room::new();
    let image = ptx(&["a"], "");
    let twice = room.file("twice", &binary(&[&image, &image]));
    let once = room.file("once", &binary(&[&image]));
    let report = json_of(&twice, &once);
    assert_eq!(report["same"], 1);
    assert_eq!(report["lost"].as_array().unwrap().len(), 1);
    assert_eq!(json_of(&once, &twice)["added"].as_array().unwrap().len(), 1);
}

#[test]
fn changed_images_are_paired_by_bytes_then_kernels_then_order() {
    let room = Room::new();
    let (same, same_kernels) = (ptx(&["s"], ""), ptx(&["k"], ""));
    let old = binary(&[
        &same_kernels,
        &ptx(&["a", "both"], ""),
        &ptx(&["gone"], ""),
        &same,
    ]);
    let new = binary(&[&same, &ptx(&["b", "both"], ""), &ptx(&["k"], "// more\n")]);
    let (old, new) = (room.file("old", &old), room.file("new", &new));
    let report = json_of(&old, &new);
    assert_eq!(report["same"], 1);
    assert_eq!(report["added"], json!([]));
    assert_eq!(report["lost"][0]["kernels"], json!(["gone"]));
    let changed = report["changed"].as_array().unwrap();
    assert_eq!(changed.len(), 2);
    assert_eq!(changed[0]["old"]["kernels"], json!(["k"]));
    assert_eq!(changed[0]["new"]["kernels"], json!(["k"]));
    assert_eq!(
        (&changed[0]["kernels_added"], &changed[0]["kernels_lost"]),
        (&json!([]), &json!([]))
    );
    let grown =
        changed[0]["new"]["size"].as_u64().unwrap() - changed[0]["old"]["size"].as_u64().unwrap();
    assert_eq!(grown, "// more\n".len() as u64);
    assert_eq!(changed[1]["kernels_added"], json!(["b"]));
    assert_eq!(changed[1]["kernels_lost"], json!(["a"]));
    let ran = diff(&old, &new);
    let (from, to) = (&changed[0]["old"]["size"], &changed[0]["new"]["size"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[1].starts_with("~  ptx 7.0  sm_70"), "{}", ran.out);
    assert!(lines[1].contains(&format!("{from} -> {to}")), "{}", ran.out);
    assert!(lines[2].contains("added b; lost a"), "{}", ran.out);
    assert!(lines[3].starts_with('-'), "{}", ran.out);
    assert!(
        lines[4].starts_with("0 added, 1 lost, 2 changed, 1 the same; "),
        "{}",
        ran.out
    );
    assert!(lines[4].contains(" bytes stored (-"), "{}", ran.out);
}

#[test]
fn folders_and_wheels() {
    let room = Room::new();
    for (folder, files) in [
        (
            "old",
            [("x/a.cubin", SM_90), ("b.elf", GFX90A), ("gone", SM_75)],
        ),
        (
            "new",
            [
                ("x/a.cubin", SM_90),
                ("b.elf", GFX90A_MODES),
                ("x/new", SM_75),
            ],
        ),
    ] {
        fs::create_dir_all(room.path(folder).join("x")).unwrap();
        for (name, bytes) in files {
            room.file(&format!("{folder}/{name}"), bytes);
        }
        room.file(&format!("{folder}/notes.txt"), b"no code");
    }
    let path = |name: &str| room.path(name).display().to_string();
    let ran = diff(&path("old"), &path("new"));
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    // Another target, another image; and the same image in another place is another one too.
    for text in [
        "2 added, 2 lost, 0 changed, 1 the same",
        "gone: file @ 0x0",
        "x/new: file @ 0x0",
    ] {
        assert!(ran.out.contains(text), "no {text:?} in {}", ran.out);
    }
    assert!(!ran.out.contains("x/a.cubin"), "{}", ran.out);
    diff(&path("old"), &path("old/")).fine();
    // A wheel against the folder that it unpacks to.
    let mut wheel = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    for (name, bytes) in [("x/a.cubin", SM_90), ("b.elf", GFX90A), ("gone", SM_75)] {
        wheel.start_file(name, options).unwrap();
        wheel.write_all(bytes).unwrap();
    }
    let wheel = room.file("p-1.whl", &wheel.finish().unwrap().into_inner());
    diff(&wheel, &path("old")).fine();
    diff(&path("old"), &wheel).fine();
    assert_eq!(diff(&wheel, &path("new")).code, 1);
}

#[test]
fn exit_codes() {
    let room = Room::new();
    let (plain, a) = (room.file("plain.o", PLAIN), room.file("a", SM_90));
    let none = diff(&plain, &plain);
    assert_eq!(
        (none.code, none.out.as_str(), none.err.as_str()),
        (4, "no GPU code\n", "")
    );
    assert_eq!(diff(&plain, &a).code, 1);
    let gone = room.path("gone").display().to_string();
    let ran = diff(&gone, &a);
    ran.says(3, &["gone: cannot read it"]);
    // Not that all of the other is new.
    assert_eq!(ran.out, "");
    let text = room.file("text", b"hello");
    diff(&a, &text).says(3, &["text: unknown format"]);
    let cut = room.file("cut", &RAW_FATBIN[..4000]);
    diff(&cut, &cut).says(3, &["truncated"]);
    run(&["diff", &a]).says(2, &["<B>"]);
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let room = Room::new();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let hostile = ptx(&["\u{1b}[31m"], "");
    for (name, bytes) in [("\u{1b}[32m", SM_90), ("b", &hostile)] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    fs::create_dir(room.path("folder")).unwrap();
    room.file("folder/\u{1b}[33m", &zip.finish().unwrap().into_inner());
    fs::create_dir(room.path("empty")).unwrap();
    let path = |name: &str| room.path(name).display().to_string();
    let ran = diff(&path("empty"), &path("folder"));
    assert!(ran.code == 1 || ran.code == 3, "{ran:#?}");
    assert!(
        ran.out.contains("\\u{1b}[33m: \\u{1b}[32m: file"),
        "{}",
        ran.out
    );
    assert!(
        !ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'),
        "{ran:#?}"
    );
}
