//! `offload check`.

mod common;
use common::*;

fn check(arch: &str, kind: &str, bytes: &[u8], more: &[&str]) -> (Ran, Room) {
    let room = Room::new();
    let image = room.file("image", bytes);
    let output = room.output("meta.json");
    let (arch, kind) = (format!("--arch={arch}"), format!("--kind={kind}"));
    let mut args = vec!["check", "--label=//x:y", &arch, &kind, &output];
    args.extend(more);
    args.push(&image);
    (run(&args), room)
}

#[test]
fn what_is_declared_passes() {
    for (arch, kind, bytes, isa) in [
        ("sm_90a", "cubin", SM_90A, None),
        ("sm_90", "cubin", SM_90, None),
        ("sm_75", "cubin", SM_75, None),
        ("sm_70", "ptx", TINY_PTX, Some("7.0")),
        ("gfx90a", "gfx", GFX90A, None),
        ("gfx90a:sramecc+:xnack-", "gfx", GFX90A_MODES, None),
    ] {
        let (ran, room) = check(arch, kind, bytes, &["--kernel=fill", "--kernel", "nothing"]);
        ran.fine();
        let meta: serde_json::Value = serde_json::from_slice(&room.read("meta.json")).unwrap();
        assert_eq!(meta["schema"], 1);
        assert_eq!(meta["arch"], arch);
        assert_eq!(meta["kind"], kind);
        assert_eq!(meta["size"], bytes.len());
        assert_eq!(meta["sha256"].as_str().unwrap().len(), 64);
        assert_eq!(meta["kernels"], serde_json::json!(["fill", "nothing"]));
        assert_eq!(meta["ptx_isa"].as_str(), isa);
        assert_eq!(meta["min_driver"].as_str(), isa.map(|_| "450"));
        assert_eq!(meta["policy"], serde_json::Value::Null);
    }
}

#[test]
fn another_architecture_fails() {
    for (arch, kind, bytes, found) in [
        ("sm_90", "cubin", SM_90A, "found:  sm_90a"),
        ("sm_90a", "cubin", SM_90, "found:  sm_90,"),
        ("sm_80", "cubin", SM_75, "found:  sm_75,"),
        (
            "sm_80",
            "ptx",
            TINY_PTX,
            "found:  sm_70, in the PTX's `.target`",
        ),
        (
            "gfx90a",
            "gfx",
            GFX90A_MODES,
            "found:  gfx90a:sramecc+:xnack-",
        ),
        ("gfx90a:xnack-", "gfx", GFX90A, "found:  gfx90a,"),
        ("gfx908", "gfx", GFX90A, "found:  gfx90a,"),
    ] {
        let (ran, room) = check(arch, kind, bytes, &[]);
        let wanted = format!("wanted: {arch}\n");
        ran.says(1, &["//x:y", arch, &wanted, found, "mend:"]);
        assert_eq!(room.names(), ["image"], "nothing is written");
    }
}

#[test]
fn another_kind_fails() {
    let (ran, _) = check("sm_90", "cubin", TINY_PTX, &[]);
    ran.says(1, &["wanted: kind cubin", "found:  kind ptx, for sm_70"]);
    let (ran, _) = check("sm_90", "ptx", SM_90, &[]);
    ran.says(1, &["wanted: kind ptx", "found:  kind cubin, for sm_90"]);
}

#[test]
fn missing_kernels_are_named_with_what_is_there() {
    let (ran, _) = check("sm_90", "cubin", SM_90, &["--kernel=fil", "--kernel=gemm"]);
    ran.says(
        1,
        &[
            "kernel `fil` is not exported",
            "found:  fill, nothing",
            "did you mean `fill`?",
            "kernel `gemm` is not exported",
        ],
    );
}

#[test]
fn no_kernel_at_all() {
    let function =
        b".version 7.0\n.target sm_70\n.address_size 64\n.visible .func fill() { ret; }\n";
    let (ran, _) = check("sm_70", "ptx", function, &[]);
    let mend = "#[unsafe(no_mangle)] pub unsafe extern \"gpu-kernel\" fn";
    ran.says(1, &["no kernel is exported", mend]);
}

#[test]
fn malformed_images_give_an_offset() {
    let (ran, _) = check("sm_90", "cubin", &SM_90[..200], &[]);
    ran.says(3, &["truncated", "at byte 0x"]);
    let (ran, _) = check("sm_90", "cubin", b"hello", &[]);
    ran.says(3, &["unknown format at byte 0x0", "hello"]);
}

#[test]
fn names_that_are_none_are_wrong_usage() {
    let (ran, _) = check("sm_9O", "cubin", SM_90, &[]);
    ran.says(2, &["did you mean `sm_90`?"]);
    let (ran, _) = check("gfx90a", "cubin", GFX90A, &[]);
    ran.says(2, &["//x:y", "architecture of amd"]);
}

#[test]
fn ptx_that_is_too_new_fails() {
    let ptx = String::from_utf8(TINY_PTX.to_vec()).unwrap();
    let ptx = |isa: &str| {
        ptx.replace(".version 7.0", &format!(".version {isa}"))
            .into_bytes()
    };
    let cubin = |flags: &[&str]| check("sm_90", "cubin", SM_90, flags).0;
    let check = |bytes: &[u8], flags: &[&str]| check("sm_70", "ptx", bytes, flags).0;
    for (isa, flags, says) in [
        (
            "9.9",
            &["--max-ptx-isa=8.0"][..],
            &[
                "wanted: PTX ISA 8.0 at most",
                "found:  PTX ISA 9.9, for no driver that is known",
                "raise max_ptx_isa",
            ][..],
        ),
        (
            "8.3",
            &["--min-driver=535.104.05"],
            &[
                "wanted: PTX ISA 8.2 at most, which driver 535 compiles",
                "found:  PTX ISA 8.3, for driver 545 or newer",
                "`ptx_archs` of //x:y",
                "raise min_driver",
            ],
        ),
        (
            "8.3",
            &["--min-driver=300"],
            &["wanted: no PTX: what driver 300 compiles is not known"],
        ),
        (
            "8.3",
            &["--max-ptx-isa=8.2", "--min-driver=535"],
            &["PTX ISA 8.2 at most\n", "driver 535"],
        ),
    ] {
        check(&ptx(isa), flags).says(1, says);
    }
    for (isa, flags) in [
        ("8.0", ["--max-ptx-isa=8.0", "--min-driver=525"]),
        ("7.0", ["--max-ptx-isa=9.9", "--min-driver=450.36.06"]),
    ] {
        check(&ptx(isa), &flags).fine();
    }
    // Cubins need no compiler.
    cubin(&["--max-ptx-isa=1.0", "--min-driver=300"]).fine();
    check(&ptx("8.0"), &["--min-driver=r535"])
        .says(2, &["`r535` is no version of the NVIDIA driver"]);
}
