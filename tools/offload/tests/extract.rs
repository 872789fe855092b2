//! `offload extract`.

mod common;
use common::*;

use std::collections::BTreeSet;
use std::fs;
use std::io::{Cursor, Write};

use offload_image::offload_binary::{self, image_kind, offload_kind, NewImage};
use serde_json::{json, Value};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Where the tests extract to.
const OUT: &str = "out/images";

fn extract(room: &Room, args: &[&str]) -> Ran {
    let output = format!("--output-dir={}", room.path(OUT).display());
    run(&[&["extract", &output], args].concat())
}

/// What was written, by name.
fn written(room: &Room) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(room.path(OUT))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

fn written_names(room: &Room) -> Vec<String> {
    written(room).into_iter().map(|(name, _)| name).collect()
}

/// A zip file with members of these names, packed or not.
fn zip(members: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in members {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// An OffloadBinary of one image of that kind, for whatever architecture it says.
fn labelled(image_kind: u16, arch: &str, data: &[u8]) -> Vec<u8> {
    offload_binary::write(&[NewImage {
        image_kind,
        offload_kind: offload_kind::CUDA,
        strings: vec![("triple", "nvptx64-nvidia-cuda"), ("arch", arch)],
        data,
    }])
}

const SM_90_NAME: &str = "sm_90.74d35e47f914";
const SM_80_CUBIN: &str = "sm_80.9cdc7c123279fa40.cubin";
const SM_80_PTX: &str = "sm_80.701fa0e47532133e.ptx";

#[test]
fn every_image_is_a_file_of_its_own_bytes() {
    let room = Room::new();
    let raw = room.file("raw.fatbin", RAW_FATBIN);
    let packed = room.file("packed.fatbin", SPEED_FATBIN);
    let amd = room.file("k.elf", GFX90A_MODES);
    let ran = extract(&room, &[&raw, &packed, &amd]);
    ran.fine();
    let files = written(&room);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let amd_name = names[0].to_owned();
    assert!(
        amd_name.starts_with("k.elf.gfx90a_sramecc+_xnack-."),
        "{amd_name}"
    );
    assert!(amd_name.ends_with(".hsaco"), "{amd_name}");
    assert_eq!(
        names[1..],
        [
            format!("packed.fatbin.{SM_80_PTX}"),
            format!("packed.fatbin.{SM_80_CUBIN}"),
            format!("raw.fatbin.{SM_80_PTX}"),
            format!("raw.fatbin.{SM_80_CUBIN}"),
        ]
    );
    assert_eq!(files[0].1, GFX90A_MODES);
    // Unpacked, and without the padding of the container: the same out of both.
    assert_eq!(files[1].1, files[3].1);
    assert_eq!(files[2].1, files[4].1);
    assert_eq!(files[2].1, RAW_FATBIN[0x50..0x50 + 4328]);
    assert!(files[1].1.starts_with(b".version 8.8") || files[1].1.starts_with(b"//"));
    // A line for each, with where it came from.
    for text in [
        names[1],
        "kind",
        "ptx 8.8",
        "4328",
        "packed.fatbin: file @ 0x50",
    ] {
        assert!(ran.out.contains(text), "no {text:?} in {}", ran.out);
    }
    assert_eq!(ran.out.lines().count(), 6);
}

#[test]
fn json_is_that_of_inspect_with_the_file() {
    let room = Room::new();
    let host = room.file("host.o", HOST);
    let ran = extract(&room, &["--format=json", &host]);
    ran.fine();
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["schema"], 1);
    let found = report["images"].as_array().unwrap();
    assert_eq!(found.len(), 4);
    for (found, inspected) in found.iter().zip(images(host.as_ref())) {
        let mut found = found.as_object().unwrap().clone();
        let file = found.remove("file").unwrap();
        assert_eq!(found.remove("path").unwrap(), json!(host));
        assert_eq!(Value::Object(found), inspected);
        let bytes = room.read(&format!("{OUT}/{}", file.as_str().unwrap()));
        assert_eq!(
            bytes.len() as u64,
            inspected["unpacked_size"].as_u64().unwrap()
        );
    }
    // The fatbin of sm_80 is in it twice.
    assert_eq!(found[1]["file"], found[2]["file"]);
    assert_eq!(written(&room).len(), 3);
}

#[test]
fn names_depend_on_nothing_else() {
    let room = Room::new();
    let (one, two) = (
        room.file("a.cubin", SM_90),
        room.file("b.fatbin", RAW_FATBIN),
    );
    extract(&room, &[&one, &two]).fine();
    let before = written(&room);
    // Again, in another order, and beside what is there.
    extract(&room, &[&two, &one]).fine();
    assert_eq!(written(&room), before);
    // From another folder, inside an archive, the name is that of the file it is in.
    fs::create_dir(room.path("other")).unwrap();
    let again = room.file("other/a.cubin", SM_90);
    extract(&room, &[&again, &one, &again]).fine();
    assert_eq!(written(&room), before);
    let members = [("b/a.cubin", SM_90), ("c/a.cubin", SM_90)];
    let archive = room.file("x.zip", &zip(&members, CompressionMethod::Deflated));
    extract(&room, &[&archive]).fine();
    assert_eq!(written(&room).len(), before.len() + 1);
    assert!(written_names(&room)
        .iter()
        .any(|name| name.starts_with("x.zip.sm_90.")));
}

#[test]
fn filters() {
    let room = Room::new();
    let host = room.file("host.o", HOST);
    let fatbin = room.file("f", RAW_FATBIN);
    let modes = room.file("modes", GFX90A_MODES);
    let of = |filters: &[&str]| -> BTreeSet<String> {
        let _ = fs::remove_dir_all(room.path("out"));
        extract(&room, &[filters, &[&host, &fatbin, &modes]].concat()).fine();
        let shorten = |name: String| {
            let parts: Vec<&str> = name.split('.').collect();
            format!("{} {}", parts[parts.len() - 3], parts[parts.len() - 1])
        };
        written_names(&room).into_iter().map(shorten).collect()
    };
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let gfx = "gfx90a_sramecc+_xnack- hsaco";
    let all = ["sm_70 ptx", "sm_80 ptx", "sm_80 cubin", "sm_90 ptx", gfx];
    assert_eq!(of(&[]), set(&all));
    assert_eq!(of(&["--kind=cubin"]), set(&["sm_80 cubin"]));
    assert_eq!(
        of(&["--kind=cubin", "--kind=gfx"]),
        set(&["sm_80 cubin", gfx])
    );
    assert_eq!(of(&["--arch=sm_80"]), set(&["sm_80 cubin", "sm_80 ptx"]));
    assert_eq!(of(&["--arch=sm_80", "--kind=ptx"]), set(&["sm_80 ptx"]));
    // Modes that are not named may be any; those that are have to be so.
    assert_eq!(
        of(&["--arch=gfx90a", "--arch=sm_90"]),
        set(&["sm_90 ptx", gfx])
    );
    assert_eq!(of(&["--arch=gfx90a:xnack-"]), set(&[gfx]));
    let _ = fs::remove_dir_all(room.path("out"));
    let none = extract(&room, &["--arch=gfx90a:xnack+", &host, &modes]);
    assert_eq!((none.code, none.err.as_str()), (4, ""));
    assert!(
        none.out.contains("5 images, of which none was asked for"),
        "{}",
        none.out
    );
    assert!(written(&room).is_empty());
    extract(&room, &["--arch=gfx90b", &host]).says(2, &["did you mean"]);
    extract(&room, &["--kind=elf", &host]).says(2, &["cubin, gfx, ptx, bitcode"]);
}

#[test]
fn no_name_leads_out_of_the_folder() {
    let room = Room::new();
    let long = "d/".repeat(200) + &"n".repeat(2000);
    let hostile = [
        "../../evil",
        "/evil",
        "..",
        "C:\\evil",
        "\u{1b}[31m\u{7}\n.cubin",
        "é/漢字.so",
        long.as_str(),
    ];
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let members: Vec<(&str, &[u8])> = hostile.iter().map(|name| (*name, SM_90)).collect();
        let archive = room.file("x.zip", &zip(&members, method));
        let ran = extract(&room, &[&archive]);
        ran.fine();
        assert_eq!(ran.out.lines().count(), 1 + hostile.len());
        assert!(!ran.out.contains(['\u{1b}', '\u{7}']), "{:?}", ran.out);
    }
    // What a label says is in the name, in so far as it can be.
    let spirv = b"\x03\x02\x23\x07 and so on";
    let label = format!("../../{}", "y".repeat(300));
    for (file, arch) in [
        ("1", "../../evil"),
        ("2", "/evil\u{1b}é"),
        ("3", &label),
        ("4", ""),
    ] {
        let path = room.file(file, &labelled(image_kind::SPIRV, arch, spirv));
        extract(&room, &[&path]).fine();
    }
    // The name of the file itself as well.
    let odd = room.file(&format!(".\u{1b}é {}", "n".repeat(200)), SM_90);
    extract(&room, &[&odd]).fine();
    let names = written_names(&room);
    let starts = [
        "1._._.._evil.",
        "2._evil__.",
        "3._._.._yyy",
        "4.unknown.",
        "____nnn",
        "x.zip.",
    ];
    assert_eq!(names.len(), starts.len(), "{names:?}");
    for (name, start) in names.iter().zip(starts) {
        assert!(name.starts_with(start), "{name} {start}");
        assert!(name.len() < 200 && name.is_ascii(), "{name}");
        assert!(
            name.contains(SM_90_NAME) || name.ends_with(".spv"),
            "{name}"
        );
    }
    assert_eq!(fs::read_dir(room.path("out")).unwrap().count(), 1);
    assert!(!room.path("evil").exists());
}

/// The name that the cubin for sm_90 in the file `a` gets.
fn name_of_a(room: &Room) -> String {
    let a = room.file("a", SM_90);
    extract(room, &[&a]).fine();
    let name = written_names(room).remove(0);
    fs::remove_file(room.path(&format!("{OUT}/{name}"))).unwrap();
    format!("{OUT}/{name}")
}

#[test]
fn nothing_is_written_over() {
    let room = Room::new();
    let name = name_of_a(&room);
    let b = room.file("b", RAW_FATBIN);
    let a = room.path("a").display().to_string();
    for planted in [
        b"mine".as_slice(),
        b"",
        &SM_90[..SM_90.len() - 1],
        &[SM_90, b"x"].concat(),
    ] {
        room.file(&name, planted);
        let ran = extract(&room, &[&a, &b]);
        ran.says(
            3,
            &[
                &name,
                "with other bytes than the image",
                "name another folder",
            ],
        );
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(ran.out.contains("(not written)"), "{}", ran.out);
        assert_eq!(room.read(&name), planted);
        // The others are written all the same, and no temporary file stays.
        assert_eq!(written(&room).len(), 3);
    }
    // One that is named as an input is the same: another image would need its name.
    let input = room.path(&name).display().to_string();
    room.file(&name, SM_90A);
    extract(&room, &[&a, &input]).says(3, &["with other bytes"]);
    assert_eq!(room.read(&name), SM_90A);
    let json = extract(&room, &["--format=json", &a]);
    assert_eq!(json.code, 3);
    let report: Value = serde_json::from_str(&json.out).unwrap();
    assert!(report["images"][0]["file"].is_null());
    assert_eq!(report["images"][0]["arch"], "sm_90");
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let room = Room::new();
    let name = name_of_a(&room);
    let a = room.path("a").display().to_string();
    let planted = room.path(&name);
    room.file("precious", b"precious");
    for target in ["precious", "new", "a", "out"] {
        symlink(room.path(target), &planted).unwrap();
        extract(&room, &[&a]).says(3, &["it is a link", &name]);
        assert!(planted.is_symlink());
        fs::remove_file(&planted).unwrap();
    }
    assert_eq!(room.read("precious"), b"precious");
    assert_eq!(room.read("a"), SM_90);
    assert!(!room.path("new").exists());
    fs::create_dir(&planted).unwrap();
    extract(&room, &[&a]).says(3, &["it is a folder"]);
    fs::remove_dir(&planted).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(&planted).unwrap();
    extract(&room, &[&a]).says(3, &["it is a pipe, a socket or a device"]);
    drop(socket);
    fs::remove_file(&planted).unwrap();
    assert!(written(&room).is_empty());
}

#[test]
fn the_folder() {
    let room = Room::new();
    let a = room.file("a", SM_90);
    let into = |folder: &str| {
        let folder = format!("--output-dir={}", room.path(folder).display());
        run(&["extract", &folder, &a])
    };
    into("a").says(3, &["it is no folder"]);
    into("a/b").says(3, &["cannot make this folder"]);
    assert_eq!(room.read("a"), SM_90);
    assert_eq!(room.names(), ["a"]);
    into("b/c/d").fine();
    assert!(room.path("b/c/d").is_dir());
    run(&["extract", &a]).says(2, &["--output-dir"]);
}

/// Nobody can put files there, not even root.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files() {
    let room = Room::new();
    let host = room.file("host.o", HOST);
    let ran = run(&["extract", "--output-dir=/proc/self", &host]);
    ran.says(3, &["cannot write images in the folder /proc/self"]);
    // Told once, not for each image.
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    run(&["extract", "--output-dir=/proc/self/new", &host])
        .says(3, &["/proc/self/new: cannot make this folder"]);
}

#[test]
fn what_cannot_be_unpacked_is_told_and_the_rest_is_written() {
    let room = Room::new();
    let mut bytes = SPEED_FATBIN.to_vec();
    // In the middle of the LZ4 block of the cubin.
    bytes[0x50..0x450].fill(0xff);
    let broken = room.file("broken", &bytes);
    let ran = extract(&room, &["--format=json", &broken]);
    ran.says(3, &["broken: ", "LZ4"]);
    assert_eq!(written_names(&room), [format!("broken.{SM_80_PTX}")]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert!(report["images"][0]["file"].is_null());
    assert_eq!(report["images"][0]["kind"], "cubin");
    assert_eq!(
        report["images"][1]["file"],
        json!(format!("broken.{SM_80_PTX}"))
    );
    let gone = room.path("gone").display().to_string();
    let a = room.file("a", SM_90);
    extract(&room, &[&gone, &a]).says(3, &["gone: cannot read it"]);
    assert_eq!(written(&room).len(), 2);
}

#[test]
fn without_images() {
    let room = Room::new();
    let plain = room.file("plain.o", PLAIN);
    let ran = extract(&room, &[&plain]);
    assert_eq!((ran.code, ran.err.as_str()), (4, ""));
    assert!(ran.out.contains("no GPU code"), "{}", ran.out);
    assert!(written(&room).is_empty());
    let text = room.file("text", b"hello");
    extract(&room, &[&text]).says(3, &["unknown format"]);
}

#[test]
fn a_folder_that_is_in_its_own_input() {
    let room = Room::new();
    room.file("a", SM_90);
    let here = room.path("").display().to_string();
    extract(&room, &[&here]).fine();
    let before = written(&room);
    let ran = extract(&room, &[&here]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(
        ran.err
            .contains("not looked into, as images are written there"),
        "{}",
        ran.err
    );
    assert_eq!(written(&room), before);
    // What is named is looked into.
    let name = room
        .path(&format!("{OUT}/{}", before[0].0))
        .display()
        .to_string();
    extract(&room, &[&name]).fine();
    assert_eq!(written(&room).len(), 2);
}

/// `--output-dir=.` is what people write.
#[test]
fn a_folder_below_that_of_the_images_is_looked_into() {
    let room = Room::new();
    fs::create_dir_all(room.path(&format!("{OUT}/build"))).unwrap();
    room.file(&format!("{OUT}/build/host.o"), HOST);
    let build = room.path(&format!("{OUT}/build")).display().to_string();
    extract(&room, &[&build]).fine();
    let files = |room: &Room| fs::read_dir(room.path(OUT)).unwrap().count();
    let before = files(&room);
    assert_eq!(before, 1 + 3);
    let all = room.path(OUT).display().to_string();
    assert_eq!(extract(&room, &[&all]).code, 0);
    assert_eq!(files(&room), before);
}
