//! `offload verify`.

mod common;
use common::*;

#[test]
fn every_breach_is_told_with_its_place() {
    let room = Room::new();
    let host = room.file("host.o", HOST);
    let ran = run(&[
        "verify",
        "--ptx=forbid",
        "--label=//x:y",
        &room.output("stamp"),
        &host,
    ]);
    ran.says(
        1,
        &[
            "//x:y: ptx = \"forbid\" is breached by",
            "ptx for sm_70, PTX ISA 7.0, 293 bytes, in .rodata @ 0x",
            "ptx for sm_80, PTX ISA 8.8, 203 bytes (zstd), in .nv_fatbin @ 0x",
            "ptx for sm_90, PTX ISA 8.8, 232 bytes (lz4), in __nv_relfatbin @ 0x",
            "set `ptx = \"embed\"` on //x:y",
        ],
    );
    assert_eq!(ran.err.matches("is breached by").count(), 4);
    assert!(!room.path("stamp").exists());
    run(&["verify", "--ptx=embed", &host]).fine();
    run(&["verify", "--ptx=only", &host]).fine();
}

/// What is beside a program need not be a file that can hold code; what can is held against the rules.
#[test]
fn files_beside_others() {
    let room = Room::new();
    let cubin = room.file("c", SM_90);
    let host = format!("--beside={}", room.file("host.o", HOST));
    let text = room.file("libm.so", b"INPUT(-lm)\n");
    let beside = format!("--beside={text}");
    let gone = format!("--beside={}", room.path("gone").display());
    run(&["verify", "--ptx=forbid", &beside, &cubin]).fine();
    run(&["verify", "--ptx=forbid", &host, &cubin]).says(1, &["is breached by", "host.o"]);
    run(&["verify", "--ptx=forbid", &cubin, &text]).says(3, &["libm.so: unknown format"]);
    run(&["verify", "--ptx=forbid", &gone, &cubin]).says(3, &["gone: cannot read it"]);
}

#[test]
fn files_without_ptx_pass_and_leave_a_stamp() {
    let room = Room::new();
    let cubin = room.file("c", SM_90);
    let plain = room.file("plain.o", PLAIN);
    let output = room.output("stamp");
    let label = "--label=//x:y";
    let required = ["--require-arch=sm_90", "--require-kernel=fill"];
    let ran = run(&[
        "verify",
        "--ptx=forbid",
        label,
        required[0],
        required[1],
        &output,
        &cubin,
        &plain,
    ]);
    ran.fine();
    let stamp: serde_json::Value = serde_json::from_slice(&room.read("stamp")).unwrap();
    assert_eq!(stamp["ptx"], "forbid");
    assert_eq!(stamp["archs"], serde_json::json!(["sm_90"]));
    assert_eq!(stamp["files"][0]["images"], 1);
    assert_eq!(stamp["files"][0]["ptx"], 0);
    assert_eq!(stamp["files"][1]["images"], 0);
    run(&["verify", "--ptx=only", &cubin])
        .says(1, &["wanted: PTX and no cubin", "cubin for sm_90"]);
}

#[test]
fn compressed_ptx_is_found_by_its_entry() {
    let room = Room::new();
    let fatbin = room.file("f", SPEED_FATBIN);
    run(&["verify", "--ptx=forbid", &fatbin]).says(1, &["ptx for sm_80", "(lz4)"]);
}

#[test]
fn how_to_mend_it_depends_on_what_is_too_much() {
    let room = Room::new();
    let fatbin = room.file("f", RAW_FATBIN);
    let (cubins, ptx) = ("with cubins only", "with PTX only");
    for (rule, says, not) in [
        ("--ptx=forbid", "code=sm_NN", ptx),
        ("--ptx=only", "code=compute_NN", cubins),
    ] {
        let ran = run(&["verify", rule, &fatbin]);
        ran.says(1, &["the object or library that brings this fatbin", says]);
        assert!(!ran.err.contains(not), "{}", ran.err);
    }
    let ran = run(&["verify", "--forbid-arch=sm_80", &fatbin]);
    ran.says(1, &["remove sm_80 from the archs of the object or library"]);
    assert!(!ran.err.contains("only"), "{}", ran.err);
}

#[test]
fn what_is_required_and_missing() {
    let room = Room::new();
    let packed = packed(&room);
    let verify = |ptx: &str, more: &[&str]| {
        let ptx = format!("--ptx={ptx}");
        let mut args = vec!["verify", "--label=//x:y", &ptx];
        args.extend(more);
        args.push(&packed);
        run(&args)
    };
    verify(
        "embed",
        &["--require-arch=sm_90a", "--require-kernel=nothing"],
    )
    .fine();
    // PTX for an architecture is no machine code for it.
    verify(
        "embed",
        &[
            "--require-arch=sm_70",
            "--require-arch=sm_100",
            "--require-kernel=fil",
        ],
    )
    .says(
        1,
        &[
            "no image for sm_70",
            "no image for sm_100",
            "found:  images for: sm_90a",
            "add \"sm_100\" to the archs of //x:y",
        ],
    );
    verify("embed", &["--require-arch=sm_90a", "--require-kernel=fil"]).says(
        1,
        &[
            "kernel `fil` is in no image in",
            "kernels: fill, nothing",
            "did you mean `fill`?",
        ],
    );
    verify("embed", &["--require-kernel=gemm"]).says(1, &["kernel `gemm` is in no image in"]);
    verify("embed", &["--require-arch=sm_91"]).says(2, &["did you mean `sm_90`?"]);
    let ptx = room.file("p", TINY_PTX);
    run(&["verify", "--ptx=only", "--require-arch=sm_70", &ptx]).fine();
}

#[test]
fn the_policy_inside_an_image_counts_too() {
    let room = Room::new();
    let packed = packed(&room);
    let mut bytes = std::fs::read(&packed).unwrap();
    let mut replace = |from: &[u8], to: &[u8]| {
        while let Some(at) = bytes.windows(from.len()).position(|window| window == from) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
        room.file("changed", &bytes)
    };
    let changed = replace(b"embed\0", b"what?\0");
    run(&["verify", "--ptx=embed", &changed]).says(1, &["a policy that is not known", "what?"]);
    let changed = replace(b"what?\0", b"only\0\0");
    run(&["verify", "--ptx=embed", &changed])
        .says(1, &["breaches its own policy", "cubin for sm_90a"]);
    let changed = replace(b"sm_90a\0", b"sm_90\0\0");
    run(&["verify", "--ptx=embed", &changed]).says(
        1,
        &[
            "labelled for another GPU",
            "an image for sm_90, as its container says",
        ],
    );
}

#[test]
fn what_cannot_be_read_is_no_pass() {
    let room = Room::new();
    let text = room.file("text", b"hello");
    run(&["verify", "--ptx=forbid", "--label=//x:y", &text]).says(3, &["//x:y", "unknown format"]);
    let mut bytes = HOST.to_vec();
    let at = bytes
        .windows(4)
        .position(|w| w == [0x50, 0xed, 0x55, 0xba])
        .unwrap();
    bytes[at + 4] = 9;
    let broken = room.file("broken.o", &bytes);
    let says = ["version 9", "in .rodata", "in __nv_relfatbin"];
    run(&["verify", "--ptx=forbid", &broken]).says(3, &says);
}

#[test]
fn code_of_other_kinds_is_said_not_to_be_judged() {
    let room = Room::new();
    let mut bytes = RAW_FATBIN.to_vec();
    bytes[16] = 8;
    bytes[80..84].copy_from_slice(b"LTO!");
    let fatbin = room.file("f", &bytes);
    let ran = run(&["verify", "--ptx=embed", &fatbin]);
    ran.says(0, &["note: unknown kind 8 for sm_80", "is not judged"]);
    // Many of them are one note.
    let fatbin = room.file("g", &[bytes.clone(), bytes].concat());
    let ran = run(&["verify", "--ptx=embed", &fatbin]);
    ran.says(0, &["is not judged (2 images)"]);
    assert_eq!(ran.err.matches("note:").count(), 1);
}
