//! `offload inspect` and `offload archs`.

mod common;
use common::*;
use offload_image::offload_binary::{self, image_kind, offload_kind, NewImage};

#[test]
fn a_table_for_people() {
    let room = Room::new();
    let packed = packed(&room);
    let host = room.file("host.o", HOST);
    let ran = run(&["inspect", &packed, &host]);
    ran.fine();
    for text in [
        "sm_90a",
        "ptx 7.0",
        "fill, nothing",
        "embed",
        "2 images, 1 PTX",
        "4 images, 4 PTX",
    ] {
        assert!(ran.out.contains(text), "no {text:?} in {}", ran.out);
    }
    assert!(ran.out.contains(".nv_fatbin @ 0x"), "{}", ran.out);
    let cubin = room.file("c", SM_90);
    assert!(run(&["inspect", &cubin]).out.contains("1 image, no PTX"));
}

#[test]
fn many_kernels_are_elided_unless_asked_for() {
    let room = Room::new();
    let mut text = String::from(".version 7.0\n.target sm_70\n.address_size 64\n");
    for index in 0..5 {
        text.push_str(&format!(".visible .entry k{index}() {{ ret; }}\n"));
    }
    let ptx = room.file("k.ptx", text.as_bytes());
    let few = run(&["inspect", &ptx]).out;
    assert!(few.contains("k0, k1, k2, and 2 more"), "{few}");
    let all = run(&["inspect", "--kernels", &ptx]).out;
    assert!(all.contains("k0, k1, k2, k3, k4"), "{all}");
}

#[test]
fn json_has_the_names_that_others_rely_on() {
    let room = Room::new();
    let found = images(room.file("f", RAW_FATBIN).as_ref());
    let image = found[1].as_object().unwrap();
    assert_eq!(image["kind"], "ptx");
    assert_eq!(image["arch"], "sm_80");
    assert_eq!(image["container"], "fatbin");
    assert_eq!(image["compression"], "none");
    assert_eq!(image["ptx_isa"], "8.8");
    assert!(image["policy"].is_null() && image["section"].is_null());
    let packed = images(room.file("s", SPEED_FATBIN).as_ref());
    assert_eq!(packed[0]["compression"], "lz4");
    assert_eq!(packed[0]["kernels"], serde_json::json!(["fill", "nothing"]));
    assert_eq!(packed[0]["sha256"].as_str().unwrap().len(), 64);
    assert!(images(room.file("bare", SM_90).as_ref())[0]["container"].is_null());
}

#[test]
fn a_table_reads_no_more_than_it_shows() {
    let room = Room::new();
    let fatbin = room.file("f", SPEED_FATBIN);
    let quick = run(&["inspect", &fatbin]);
    assert_eq!(quick.code, 0);
    assert!(
        !quick.out.contains("fill") && !quick.out.contains("sha256"),
        "{}",
        quick.out
    );
    assert!(
        quick.out.contains("the contents were not read"),
        "{}",
        quick.out
    );
    let full = run(&["inspect", "--sha256", &fatbin]).out;
    assert!(
        full.contains("fill, nothing") && full.contains("sha256"),
        "{full}"
    );
    assert!(!full.contains("not read"), "{full}");
    // The kind is read in any case: a cubin by its label that is PTX.
    let mut bytes = SPEED_FATBIN.to_vec();
    let at = bytes[16..].windows(2).position(|w| w == [1, 0]).unwrap() + 16;
    bytes[at] = 2;
    let lied = run(&["inspect", &room.file("l", &bytes)]).out;
    assert!(lied.contains("1 PTX"), "{lied}");
}

#[test]
fn folders_and_what_is_in_them() {
    let room = Room::new();
    std::fs::create_dir_all(room.path("d/sub")).unwrap();
    room.file("d/sub/c.cubin", SM_90);
    room.file("d/plain.o", PLAIN);
    room.file("d/README", b"text");
    room.file("d/stub.o", include_bytes!("../../audit/tests/data/stub.o"));
    let outside = room.file("outside.cubin", SM_75);
    std::os::unix::fs::symlink(&outside, room.path("d/link")).unwrap();
    let folder = room.path("d").display().to_string();
    let ran = run(&["inspect", &folder]);
    ran.says(0, &["note:", "link", "is not followed"]);
    assert!(ran.out.contains("sub/c.cubin"), "{}", ran.out);
    assert!(
        ran.out.contains("2 more files have no GPU code"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("no GPU code here, but elsewhere"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("sm_75"), "{}", ran.out);
    // A link that is given by name is followed.
    let ran = run(&["inspect", &room.path("d/link").display().to_string()]);
    assert!(ran.out.contains("sm_75"), "{}", ran.out);
    let empty = room.path("d/sub/empty");
    std::fs::create_dir(&empty).unwrap();
    assert_eq!(run(&["inspect", &empty.display().to_string()]).code, 4);
}

#[test]
fn exit_codes() {
    let room = Room::new();
    let plain = room.file("plain.o", PLAIN);
    let ran = run(&["inspect", &plain]);
    assert_eq!((ran.code, ran.err.as_str()), (4, ""));
    assert!(ran.out.contains("no GPU code"), "{}", ran.out);
    let text = room.file("text", b"hello");
    run(&["inspect", &text]).says(3, &["unknown format at byte 0x0", "text"]);
    let cut = room.file("cut", &RAW_FATBIN[..4000]);
    run(&["inspect", &cut]).says(3, &["truncated: fatbin payload at byte 0x10"]);
    let gone = room.path("gone").display().to_string();
    run(&["inspect", &gone, &plain]).says(3, &["cannot read it"]);
    run(&["inspect"]).says(2, &["required"]);
}

/// Labels are whatever somebody put into a file, and so are names of files in a folder.
#[test]
fn control_characters_do_not_reach_the_terminal() {
    let room = Room::new();
    std::fs::create_dir(room.path("d")).unwrap();
    let labelled = offload_binary::write(&[NewImage {
        image_kind: image_kind::SPIRV,
        offload_kind: offload_kind::CUDA,
        strings: vec![("arch", "\x1b[30m"), ("ptx_policy", "\x1b[31m")],
        data: b"\x03\x02\x23\x07 and so on",
    }]);
    room.file("d/a\x1b[32m", &labelled);
    room.file("d/b\x1b[33m", HOST);
    let ran = run(&["inspect", &room.path("d").display().to_string()]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(!ran.out.contains('\x1b'), "{:?}", ran.out);
    for colour in 30..=33 {
        let escaped = format!("\\u{{1b}}[{colour}m");
        assert!(ran.out.contains(&escaped), "no {colour} in {}", ran.out);
    }
}

#[test]
fn archs() {
    let ran = run(&["archs", "--format=json"]);
    ran.fine();
    let rows: Vec<serde_json::Value> = serde_json::from_str(&ran.out).unwrap();
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(
        *row("sm_90a"),
        serde_json::json!({
            "name": "sm_90a", "vendor": "nvidia", "triple": "nvptx64-nvidia-cuda",
            "sm": 90, "suffix": "a", "features": [], "generic_for": []
        })
    );
    assert_eq!(
        *row("gfx9-4-generic"),
        serde_json::json!({
            "name": "gfx9-4-generic", "vendor": "amd", "triple": "amdgcn-amd-amdhsa",
            "sm": null, "suffix": "", "features": ["sramecc", "xnack"],
            "generic_for": ["gfx942", "gfx950"]
        })
    );
    assert!(run(&["archs"]).out.contains("gfx1151"));
}

#[test]
fn what_may_be_unpacked_can_be_set() {
    let room = Room::new();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let packed = zip::write::SimpleFileOptions::default();
    zip.start_file("c.cubin", packed).unwrap();
    std::io::Write::write_all(&mut zip, SM_90).unwrap();
    let wheel = room.file("w.whl", zip.finish().unwrap().get_ref());
    let fatbin = room.file("f", SPEED_FATBIN);
    for file in [&wheel, &fatbin] {
        let ran = run(&["inspect", "--kernels", "--max-unpacked-bytes=200", file]);
        ran.says(3, &["the limit is 200: see max-unpacked-bytes"]);
        let limit = format!("--max-unpacked-bytes={}", SM_90.len());
        assert_eq!(run(&["inspect", "--kernels", &limit, file]).code, 0);
    }
}
