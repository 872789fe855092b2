//! `offload verify`: policy files, and what they and build targets let through.

mod common;
use common::*;
use serde_json::{json, Value};

#[test]
fn a_policy_file_with_exceptions() {
    let room = Room::new();
    std::fs::create_dir_all(room.path("dist/vendor")).unwrap();
    room.file("dist/vendor/v.o", HOST);
    room.file("dist/ours.cubin", SM_90);
    room.file("dist/README.md", b"no code");
    let dist = room.path("dist").display().to_string();
    let policy = room.file(
        "policy.toml",
        br#"
            ptx = "forbid"
            [[exceptions]]
            path = "vendor/*.o"
            reason = "compiled by the vendor, ticket 7"
            ptx = "embed"
            [[exceptions]]
            path = "nothing/*"
            reason = "gone"
            ptx = "embed"
        "#,
    );
    let flag = format!("--policy={policy}");
    let (code, report) = verify_json(&[&flag, &dist]);
    assert_eq!((code, &report["ok"]), (0, &json!(true)));
    assert_eq!(
        report["exceptions"],
        json!([{
            "path": format!("{dist}/vendor/v.o"),
            "pattern": "vendor/*.o",
            "reason": "compiled by the vendor, ticket 7"
        }])
    );
    assert_eq!(
        report["notes"],
        json!(["the exception for `nothing/*` came into use nowhere"])
    );
    let states: Vec<&str> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["not_binary", "images", "images"]);
    let ran = run(&["verify", &flag, &dist]);
    ran.says(
        0,
        &[
            "exception for",
            "vendor/v.o (vendor/*.o): compiled by the vendor, ticket 7",
        ],
    );
    // The same file in another place does not come under it.
    room.file("dist/v.o", HOST);
    let (code, report) = verify_json(&[&flag, &dist]);
    assert_eq!((code, rules(&report).len()), (1, 4));
    // The command line stands in for the file, not for its exceptions.
    run(&["verify", "--ptx=only", &flag, &dist]).says(1, &["PTX and no cubin"]);
    let wrong = room.file("wrong.toml", b"ptx = \"never\"");
    run(&["verify", &format!("--policy={wrong}"), &dist])
        .says(3, &["wrong.toml: no policy: unknown PTX policy `never`"]);
}

#[test]
fn members_of_archives_have_rules_of_their_own() {
    let room = Room::new();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in [
        ("pkg/vendor/v.o", HOST),
        ("pkg/ours.o", PLAIN),
        ("pkg/c.cubin", SM_90),
    ] {
        zip.start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        std::io::Write::write_all(&mut zip, bytes).unwrap();
    }
    let wheel = room.file("w.whl", zip.finish().unwrap().get_ref());
    run(&["verify", "--ptx=forbid", &wheel]).says(1, &["in pkg/vendor/v.o: .nv_fatbin @ 0x"]);
    let policy = room.file(
        "policy.json",
        br#"{"ptx": "forbid", "exceptions":
             [{"path": "pkg/vendor/*", "reason": "theirs", "ptx": "embed"}]}"#,
    );
    let (code, report) = verify_json(&[&format!("--policy={policy}"), &wheel]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(
        report["exceptions"][0]["path"],
        json!(format!("{wheel}/pkg/vendor/v.o"))
    );
    // What all images take together is asked of the archive, and of no member.
    let limit = |path: &str| {
        let text = format!(
            r#"{{"max-total-bytes": 100, "exceptions":
                 [{{"path": "{path}", "reason": "large", "max-total-bytes": 1000000}}]}}"#
        );
        let policy = room.file("limit.json", text.as_bytes());
        verify_json(&[&format!("--policy={policy}"), &wheel])
    };
    let (code, report) = limit("*.whl");
    assert_eq!((code, &report["notes"]), (0, &json!([])));
    assert_eq!(report["exceptions"].as_array().unwrap().len(), 1);
    assert_eq!(report["exceptions"][0]["path"], json!(wheel));
    let (code, report) = limit("*.whl/**");
    assert_eq!((code, rules(&report)), (1, vec!["max-total-bytes"]));
}

#[test]
fn images_are_told_with_the_target_they_came_from() {
    let room = Room::new();
    let program = room.file("program", HOST);
    let member = format!(
        "{:16}{:12}{:6}{:6}{:8}{:<10}`\n",
        "kernel.o/",
        0,
        0,
        0,
        644,
        HOST.len()
    );
    let archive = [b"!<arch>\n", member.as_bytes(), HOST].concat();
    let archive = room.file("libgpu.a", &archive);
    let plain = room.file("libplain.a", PLAIN);
    let verify = |more: &[&str]| {
        let origins = [
            "--origin",
            "//plain",
            &plain,
            "--origin",
            "@gpu//:lib",
            &archive,
        ];
        let args = [
            &["verify", "--ptx=forbid"],
            &origins[..],
            more,
            &[&*program],
        ];
        run(&args.concat())
    };
    let ran = verify(&[]);
    ran.says(
        1,
        &[
            "; from @gpu//:lib (libgpu.a: kernel.o)",
            "audit_exceptions = {\"@gpu//:lib\": \"...\"}",
        ],
    );
    assert!(!ran.err.contains("//plain"), "{}", ran.err);
    let stamp = room.output("stamp");
    let ran = verify(&["--allow", "@gpu//:lib", "@theirs, ticket 9", &stamp]);
    ran.says(0, &["exception for", "@theirs, ticket 9"]);
    let stamp: Value = serde_json::from_slice(&room.read("stamp")).unwrap();
    assert_eq!(stamp["exceptions"][0]["pattern"], "@gpu//:lib");
    assert_eq!(stamp["exceptions"][0]["reason"], "@theirs, ticket 9");
    // It lets through what is its own, and nothing else.
    let ran = verify(&["--allow", "//plain", "no reason"]);
    ran.says(
        1,
        &[
            "the exception for `//plain` came into use nowhere",
            "is breached by",
        ],
    );
    let other = String::from_utf8(TINY_PTX.to_vec())
        .unwrap()
        .replace("ret;", "ret;  ");
    let ptx = room.file("p.ptx", other.as_bytes());
    let ran = verify(&["--allow", "@gpu//:lib", "theirs", &ptx]);
    ran.says(1, &["p.ptx", "exception for"]);
}

/// Two targets bring the same, and one of them may.
#[test]
fn none_hides_behind_another_with_the_same_image() {
    let room = Room::new();
    let program = room.file("program", &[RAW_FATBIN, RAW_FATBIN].concat());
    let once = room.file("once", RAW_FATBIN);
    let (one, other) = (room.file("one", RAW_FATBIN), room.file("other", RAW_FATBIN));
    let verify = |program: &str, more: &[&str]| {
        let args = ["verify", "--ptx=forbid", program];
        let origins = ["--origin", "//:one", &*one, "--origin", "//:other", &other];
        run(&[&args[..], &origins, more].concat())
    };
    let may = ["--allow", "//:one", "it may"];
    let both = ["--allow", "//:one", "it may", "--allow", "//:other", "too"];
    let ran = verify(&program, &may);
    ran.says(1, &["; from //:other (other)"]);
    assert!(!ran.err.contains("; from //:one"), "{}", ran.err);
    verify(&program, &both).says(0, &["(//:one): it may", "(//:other): too"]);
    // Only one of them was linked.
    verify(&once, &may).says(0, &["(//:one): it may"]);
}

/// What a container lacks is its target's, where all images of it are.
#[test]
fn a_container_of_one_target_may_lack_an_architecture() {
    let room = Room::new();
    // Two objects of one fatbin each, and the program of both.
    let ours = room.file("ours.fatbin", &both());
    let theirs = room.file("theirs.fatbin", &only_75());
    let program = room.file("program", &[both(), only_75()].concat());
    let verify = |more: &[&str]| {
        let args = ["verify", "--label=//x:y", "--require-arch=sm_90", &program];
        run(&[&args[..], more].concat())
    };
    let origins = [
        "--origin", "@v//:lib", &*theirs, "--origin", "//o:urs", &ours,
    ];
    let of = |more: &[&str]| {
        let ran = verify(&[&origins[..], more].concat());
        ran.says(
            1,
            &[
                "no image for sm_90 in ",
                "found:  images for: sm_75; from @v//:lib (theirs.fatbin)\n",
                "mend:   build @v//:lib for \"sm_90\" too; or let it through, and say why: \
                 audit_exceptions = {\"@v//:lib\": \"...\"}\n",
            ],
        );
    };
    of(&[]);
    of(&["--allow", "//o:urs", "not theirs"]);
    let ran = verify(&[&origins[..], &["--allow", "@v//:lib", "ticket 3"]].concat());
    ran.says(0, &["exception for", "program (@v//:lib): ticket 3"]);
    // The one that has all images of it, though another has one of them too.
    let older = room.file("older.fatbin", &only_75());
    let whole = room.file("whole", &both());
    let args = ["verify", "--require-arch=sm_100", &*whole];
    let ran = run(&[&args[..], &["--origin", "//older", &older], &origins].concat());
    ran.says(
        1,
        &["images for: sm_75, sm_90; from //o:urs (ours.fatbin)\n"],
    );
    // The one that has nothing else, though another has the same and more.
    let ran = verify(&[&origins[3..], &origins[..3]].concat());
    ran.says(1, &["images for: sm_75; from @v//:lib (theirs.fatbin)\n"]);
    // Of no target that is known.
    let ran = verify(&[]);
    ran.says(
        1,
        &["mend:   add \"sm_90\" to the archs of //x:y, or of what it packs\n"],
    );
    assert!(!ran.err.contains("audit_exceptions"), "{}", ran.err);
    // Of two targets: packed together, and neither may speak for the other.
    let a = image(&room, "cubin", "sm_75", "a", SM_75);
    let b = image(&room, "gfx", "gfx90a", "b", GFX90A);
    let c = image(&room, "ptx", "sm_70", "c", TINY_PTX);
    let all = pack(&room, "all", &[&a, &b, &c]);
    let [a, c] = ["a", "c"].map(|name| room.path(name).display().to_string());
    let ran = run(&[
        "verify",
        "--require-arch=sm_90",
        &all,
        "--origin",
        "//a",
        &a,
        "--origin",
        "//c",
        &c,
        "--allow",
        "//a",
        "why",
        "--allow",
        "//c",
        "why",
    ]);
    ran.says(1, &["no image for sm_90 in ", "came into use nowhere"]);
}
