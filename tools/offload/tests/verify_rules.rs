//! `offload verify`: rules about architectures, kernels, texts and sizes, policy files, and reports.

mod common;
use common::*;
use offload_image::arch::Suffix;
use offload_image::fatbin::{write, EntryKind, NewEntry};
use offload_image::image::Compression;
use offload_image::select::PtxIsa;
use offload_image::target::Sm;
use serde_json::{json, Value};

fn entry(number: u32, suffix: Suffix, cubin: &'static [u8]) -> NewEntry<'static> {
    NewEntry {
        kind: EntryKind::Cubin,
        sm: Sm { number, suffix },
        version: PtxIsa { major: 1, minor: 8 },
        compression: Compression::None,
        unpacked_size: 0,
        payload: cubin,
    }
}

fn both() -> Vec<u8> {
    write(&[
        entry(75, Suffix::Plain, SM_75),
        entry(90, Suffix::Plain, SM_90),
    ])
}

fn only_75() -> Vec<u8> {
    write(&[entry(75, Suffix::Plain, SM_75)])
}

fn json(args: &[&str]) -> (u8, Value) {
    let args: Vec<&str> = ["verify", "--format=json"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    let ran = run(&args);
    (ran.code, serde_json::from_str(&ran.out).unwrap())
}

/// The rules that are breached, in order.
fn rules(report: &Value) -> Vec<&str> {
    let breaches = report["breaches"].as_array().unwrap();
    breaches
        .iter()
        .map(|b| b["rule"].as_str().unwrap())
        .collect()
}

#[test]
fn each_container_has_to_have_every_architecture() {
    let room = Room::new();
    let whole = room.file("whole", &both());
    let verify = |file: &str| run(&["verify", "--require-arch=sm_90", file]);
    verify(&whole).fine();
    // The file as a whole has images for both; the second fatbin has one for sm_75 alone.
    let half = room.file("half", &[both(), only_75()].concat());
    let offset = format!("file @ {:#x} (fatbin)", both().len());
    verify(&half).says(1, &["no image for sm_90 in", &offset, "images for: sm_75"]);
    // The same as two files that are images themselves is one container.
    let (a, b) = (room.file("a.cubin", SM_75), room.file("b.cubin", SM_90));
    run(&[
        "verify",
        "--require-arch=sm_90",
        "--require-arch=sm_75",
        &a,
        &b,
    ])
    .fine();
    run(&["verify", "--require-arch=sm_90", &a]).says(1, &["no image for sm_90 in"]);
    // So are OffloadBinaries in a row, of which each holds one image.
    let packed = packed(&room);
    run(&["verify", "--require-arch=sm_90a", &packed]).fine();
    // And nothing at all is not enough.
    let plain = room.file("plain.o", PLAIN);
    run(&["verify", "--require-arch=sm_90", &plain]).says(1, &["no image for sm_90", "none"]);
    run(&["verify", "--require-arch=gfx90a", &whole]).says(1, &["no image for gfx90a"]);
    verify(&plain).says(1, &["plain.o"]);
}

/// What one program or archive has is nothing to another one.
#[test]
fn bare_images_of_two_files_are_two_containers() {
    let room = Room::new();
    let verify = |files: &[&str]| run(&[&["verify", "--require-arch=sm_90"], files].concat());
    let old = room.file("old", &[PLAIN, SM_75].concat());
    let new = room.file("new", &[PLAIN, SM_90].concat());
    let both = room.file("both", &[PLAIN, SM_75, SM_90].concat());
    verify(&[&new, &both]).fine();
    verify(&[&new, &old]).says(1, &[&format!("no image for sm_90 in {old} (elf)")]);
    let wheel = |name: &str, members: &[(&str, &[u8])]| {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in members {
            zip.start_file(*name, zip::write::SimpleFileOptions::default())
                .unwrap();
            std::io::Write::write_all(&mut zip, bytes).unwrap();
        }
        room.file(name, zip.finish().unwrap().get_ref())
    };
    let old = wheel("old.whl", &[("k/a.cubin", SM_75)]);
    let both = wheel("both.whl", &[("k/a.cubin", SM_75), ("l/b.cubin", SM_90)]);
    verify(&[&both]).fine();
    verify(&[&both, &old]).says(1, &[&format!("no image for sm_90 in {old} (zip)")]);
}

#[test]
fn each_kernel_has_to_have_every_architecture() {
    let room = Room::new();
    let ptx = |target: &str, kernels: &[&str]| {
        let entries = kernels
            .iter()
            .map(|k| format!(".visible .entry {k}() {{ ret; }}\n"));
        let entries: String = entries.collect();
        format!(".version 7.0\n.target {target}\n.address_size 64\n{entries}")
    };
    let old = room.file("old.ptx", ptx("sm_70", &["a", "b"]).as_bytes());
    let new = room.file("new.ptx", ptx("sm_90", &["a", "c"]).as_bytes());
    let verify = |arch: &str| run(&["verify", "--ptx=only", arch, &old, &new]);
    // On 7.5 nothing runs but the first.
    verify("--require-arch=sm_75").says(
        1,
        &[
            "kernels in",
            "lack an image for sm_75",
            "with c",
            "images for sm_75 with: a, b",
        ],
    );
    verify("--require-arch=sm_90").fine();
}

#[test]
fn what_counts_for_an_architecture() {
    let room = Room::new();
    let file = |name: &str, bytes: &[u8]| room.file(name, bytes);
    let covers = |arch: &str, file: &str| {
        let ran = run(&["verify", &format!("--require-arch={arch}"), file]);
        assert!(ran.code < 2, "{ran:?}");
        ran.code == 0
    };
    let sm_75 = file("75", SM_75);
    let sm_90 = file("90", SM_90);
    let sm_90a = file("90a", SM_90A);
    let generic = file("generic", GFX9_4_GENERIC);
    let modes = file("modes", GFX90A_MODES);
    for (arch, image, wanted) in [
        ("sm_75", &sm_75, true),
        ("sm_72", &sm_75, false),
        ("sm_80", &sm_75, false),
        // The letter: for its own GPU, and for no other.
        ("sm_90", &sm_90a, true),
        ("sm_90a", &sm_90a, true),
        ("sm_90a", &sm_90, false),
        ("sm_100", &sm_90a, false),
        ("sm_100", &sm_90, false),
        ("gfx942", &generic, true),
        ("gfx950", &generic, true),
        ("gfx90a", &generic, false),
        ("gfx9-4-generic", &generic, true),
        ("gfx90a", &modes, true),
    ] {
        assert_eq!(covers(arch, image), wanted, "{arch} by {image}");
    }
}

#[test]
fn forbidden_architectures_texts_and_sizes() {
    let room = Room::new();
    let file = room.file("f", &both());
    let verify = |args: &[&str]| {
        let args: Vec<&str> = ["verify"]
            .iter()
            .chain(args)
            .copied()
            .chain([&*file])
            .collect();
        run(&args)
    };
    verify(&["--forbid-arch=sm_75", "--forbid-arch=sm_52"])
        .says(1, &["has an image for sm_75", "wanted: nothing for sm_75"]);
    verify(&["--forbid-arch=sm_52", "--forbid-arch=sm_90a"]).fine();
    verify(&["--forbid-arch=sm_5x"]).says(2, &["unknown GPU architecture"]);
    // Modes that are not named may be any.
    let modes = room.file("modes", GFX90A_MODES);
    for (arch, breached) in [
        ("gfx90a", true),
        ("gfx90a:xnack-", true),
        ("gfx90a:xnack+", false),
    ] {
        let ran = run(&["verify", &format!("--forbid-arch={arch}"), &modes]);
        assert_eq!(ran.code == 1, breached, "{arch}: {ran:#?}");
    }
    verify(&["--forbid-text=.nv.info", "--forbid-text=not there"]).says(
        1,
        &[
            "`.nv.info` is in an image",
            "times, first at byte 0x",
            "remap paths",
        ],
    );
    verify(&["--forbid-text=not there"]).fine();
    verify(&["--forbid-text="]).says(2, &["forbid-text: the empty text is in every image"]);
    let size = SM_90.len().max(SM_75.len()) as u64;
    let at_most = |key: &str, bytes: u64| format!("--max-{key}-bytes={bytes}");
    verify(&[&at_most("image", size + 8)]).fine();
    verify(&[&at_most("image", size - 8)]).says(1, &["is too large", "in one image"]);
    let total = (SM_90.len() + SM_75.len()) as u64;
    verify(&[&at_most("total", total + 16)]).fine();
    verify(&[&at_most("total", total - 1)]).says(1, &["in 2 images", "at most"]);
    verify(&[]).says(2, &["nothing to verify"]);
}

#[test]
fn ptx_that_is_newer_than_the_driver() {
    let room = Room::new();
    let text = TINY_PTX.to_vec();
    let text = String::from_utf8(text)
        .unwrap()
        .replace(".version 7.0", ".version 9.9");
    let new = room.file("new.ptx", text.as_bytes());
    let old = room.file("old.ptx", TINY_PTX);
    let verify = |limit: &str, file: &str| run(&["verify", "--ptx=embed", limit, file]);
    verify("--max-ptx-isa=8.0", &new).says(
        1,
        &[
            "is too new for the driver",
            "wanted: PTX ISA 8.0 at most",
            "PTX ISA 9.9",
        ],
    );
    verify("--max-ptx-isa=8.0", &old).fine();
    verify("--max-ptx-isa=9.9", &new).fine();
    verify("--max-ptx-isa=8", &new).says(2, &["no PTX ISA version"]);
    // Its bytes decide, compressed or not, and not what the fatbin says of them.
    let label = (0x568 - 80) + 24;
    let mut older = SPEED_FATBIN.to_vec();
    assert_eq!(older[label..label + 4], [8, 0, 8, 0]);
    older[label] = 0;
    for bytes in [SPEED_FATBIN, &older] {
        let fatbin = room.file("f", bytes);
        verify("--max-ptx-isa=8.7", &fatbin).says(1, &["PTX ISA 8.8"]);
        verify("--max-ptx-isa=8.8", &fatbin).fine();
    }
}

#[test]
fn forbidden_text_is_found_in_what_is_compressed() {
    let room = Room::new();
    let fatbin = room.file("f", SPEED_FATBIN);
    // The second of two lines that start alike: the first is what it is packed by.
    let text = ".visible .entry nothing";
    assert!(!SPEED_FATBIN
        .windows(text.len())
        .any(|w| w == text.as_bytes()));
    let (code, report) = json(&[&format!("--forbid-text={text}"), &fatbin]);
    assert_eq!((code, rules(&report)), (1, vec!["forbid-text"]));
    assert_eq!(report["breaches"][0]["image"]["compression"], "lz4");
}

#[test]
fn relocatable_ptx_is_a_class_of_its_own() {
    let room = Room::new();
    let host = room.file("host.o", HOST);
    let (code, report) = json(&["--ptx=forbid", &host]);
    assert_eq!(code, 1);
    let mut found = rules(&report);
    found.sort_unstable();
    assert_eq!(found, ["ptx", "ptx", "ptx", "relocatable-ptx"]);
    let relocatable = report["breaches"].as_array().unwrap();
    let relocatable = relocatable
        .iter()
        .find(|b| b["rule"] == "relocatable-ptx")
        .unwrap();
    assert_eq!(relocatable["image"]["section"], "__nv_relfatbin");
    assert_eq!(relocatable["image"]["relocatable"], true);
    let says = ["relocatable ptx for sm_90", "4 PTX"];
    run(&["verify", "--ptx=forbid", &host]).says(1, &says[..1]);
    assert!(run(&["verify", "--ptx=embed", &host])
        .out
        .contains("4 PTX, 1 of it relocatable"));
}

#[test]
fn images_that_have_to_be_there() {
    let room = Room::new();
    let program = room.file("program", &both());
    let verify = |wanted: &str| run(&["verify", &format!("--require-images={wanted}"), &program]);
    // However it is stored there.
    verify(&room.file("a.cubin", SM_75)).fine();
    verify(&room.file("both", &both())).fine();
    let packed = packed(&room);
    let ran = verify(&packed);
    ran.says(
        1,
        &[
            "an image of",
            "images.offload is not in",
            "cubin for sm_90a",
            "2 images, and not this one",
        ],
    );
    assert_eq!(ran.err.matches("is not in").count(), 2);
    // What could not be read could be anything.
    let broken = room.file("broken", &RAW_FATBIN[..4000]);
    verify(&broken).says(3, &["broken: ", "truncated"]);
    verify(&room.path("gone").display().to_string()).says(3, &["cannot read it"]);
    // Nothing to require is no rule.
    let plain = room.file("plain.o", PLAIN);
    verify(&plain).says(
        2,
        &["--require-images=", "plain.o: there is no image in it"],
    );
    // It is an input as well, and not written over.
    let wanted = format!("--require-images={packed}");
    let output = format!("--output={packed}");
    run(&["verify", &wanted, &output, &program]).says(2, &["it is the input"]);
}

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
    let (code, report) = json(&[&flag, &dist]);
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
    let (code, report) = json(&[&flag, &dist]);
    assert_eq!((code, rules(&report).len()), (1, 4));
    // The command line stands in for the file, not for its exceptions.
    run(&["verify", "--ptx=only", &flag, &dist]).says(1, &["PTX and no cubin"]);
    let wrong = room.file("wrong.toml", b"ptx = \"never\"");
    run(&["verify", &format!("--policy={wrong}"), &dist])
        .says(3, &["wrong.toml: no policy: unknown PTX policy `never`"]);
}

#[test]
fn json_lists_every_breach_and_every_file() {
    let room = Room::new();
    let host = room.file("host.o", HOST);
    let cubin = room.file("c", SM_90);
    let broken = room.file("broken", &RAW_FATBIN[..4000]);
    let (code, report) = json(&[
        "--ptx=only",
        "--require-kernel=gemm",
        &host,
        &cubin,
        &broken,
    ]);
    assert_eq!(
        (code, &report["schema"], &report["ok"]),
        (3, &json!(1), &json!(false))
    );
    assert_eq!(rules(&report), ["cubin", "require-kernel"]);
    let breach = &report["breaches"][0];
    assert_eq!(breach["path"], json!(cubin));
    assert_eq!(breach["image"]["arch"], "sm_90");
    for key in ["what", "wanted", "found", "mend"] {
        assert!(!breach[key].as_str().unwrap().is_empty(), "{key}");
    }
    assert!(report["breaches"][1]["path"].is_null());
    let files = report["files"].as_array().unwrap();
    assert_eq!(
        (&files[0]["images"], &files[0]["ptx"]),
        (&json!(4), &json!(4))
    );
    assert_eq!(files[2]["state"], "unreadable");
    assert_eq!(files[2]["problems"].as_array().unwrap().len(), 1);
    let gone = room.path("gone").display().to_string();
    let (code, report) = json(&["--ptx=forbid", &gone, &cubin]);
    assert_eq!((code, report["faults"].as_array().unwrap().len()), (3, 1));
}

#[test]
fn junit_has_a_case_for_each_file() {
    let room = Room::new();
    let host = room.file("host<&\">.o", HOST);
    let cubin = room.file("c", SM_90);
    let args = [
        "verify",
        "--format=junit",
        "--ptx=forbid",
        "--require-kernel=gemm",
    ];
    let args: Vec<&str> = args.into_iter().chain([&*host, &cubin]).collect();
    let ran = run(&args);
    assert_eq!(ran.code, 1);
    let mut reader = quick_xml::Reader::from_str(&ran.out);
    let (mut cases, mut failures, mut suite) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        use quick_xml::events::Event;
        let event = reader.read_event().unwrap();
        let (Event::Start(element) | Event::Empty(element)) = &event else {
            match event {
                Event::Eof => break,
                _ => continue,
            }
        };
        let values: Vec<String> = element
            .attributes()
            .map(|a| a.unwrap().unescape_value().unwrap().into_owned())
            .collect();
        match element.name().as_ref() {
            b"testcase" => cases.push(values[1].clone()),
            b"failure" => failures.push(values[0].clone()),
            b"testsuite" => suite = values,
            _ => {}
        }
    }
    assert_eq!(cases, [&*host, &cubin, "all files"]);
    failures.sort();
    assert_eq!(
        failures,
        ["ptx", "ptx", "ptx", "relocatable-ptx", "require-kernel"]
    );
    assert_eq!(suite, ["offload verify", "3", "5", "0"]);
}

#[test]
fn junit_tells_faults_in_their_own_case() {
    let room = Room::new();
    let broken = room.file("broken", &RAW_FATBIN[..4000]);
    let host = room.file("host.o", HOST);
    let gone = room.path("gone").display().to_string();
    let ran = run(&[
        "verify",
        "--format=junit",
        "--ptx=forbid",
        &broken,
        &host,
        &gone,
    ]);
    assert_eq!(ran.code, 3);
    let cases: Vec<&str> = ran.out.split("<testcase").skip(1).collect();
    let with = |what: &str| -> Vec<bool> { cases.iter().map(|c| c.contains(what)).collect() };
    assert_eq!(with("<error type=\"unreadable\""), [true, false, true]);
    assert_eq!(with("<failure type=\"ptx\""), [false, true, false]);
    assert!(cases[2].contains("gone: cannot read it"), "{}", cases[2]);
}

#[test]
fn junit_has_what_xml_can_have_and_each_exception_in_its_own_case() {
    let room = Room::new();
    let short = room.file("a\u{fffe}\u{1b}", HOST);
    let long = room.file("a\u{fffe}\u{1b}b", HOST);
    let policy = room.file(
        "policy.toml",
        b"ptx = \"forbid\"\n[[exceptions]]\npath = \"a?[!x]b\"\nreason = \"why\"\nptx = \"embed\"\n",
    );
    let policy = format!("--policy={policy}");
    let ran = run(&["verify", "--format=junit", &policy, &short, &long]);
    assert_eq!(ran.code, 1);
    assert!(!ran.out.contains(['\u{fffe}', '\u{1b}']), "{}", ran.out);
    let cases: Vec<&str> = ran.out.split("<testcase").skip(1).collect();
    let told: Vec<bool> = cases.iter().map(|case| case.contains("why")).collect();
    assert_eq!(told, [false, true, false], "{}", ran.out);
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
    let (code, report) = json(&[&format!("--policy={policy}"), &wheel]);
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
        json(&[&format!("--policy={policy}"), &wheel])
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
    let ran = verify(&["--allow", "@gpu//:lib", "theirs, ticket 9", &stamp]);
    ran.says(0, &["exception for", "theirs, ticket 9"]);
    let stamp: Value = serde_json::from_slice(&room.read("stamp")).unwrap();
    assert_eq!(stamp["exceptions"][0]["pattern"], "@gpu//:lib");
    assert_eq!(stamp["exceptions"][0]["reason"], "theirs, ticket 9");
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

#[test]
fn a_kernel_with_other_architectures_in_another_container() {
    let room = Room::new();
    let only_90 = write(&[entry(90, Suffix::Plain, SM_90)]);
    let verify = |name: &str, bytes: &[u8]| {
        let file = room.file(name, bytes);
        run(&["verify", "--ptx=forbid", "--require-kernel=fill", &file])
    };
    let at = only_75().len();
    let ran = verify("uneven", &[only_75(), only_90.clone()].concat());
    let places = format!("file @ 0x0 for sm_75, and file @ {at:#x} for sm_90");
    ran.says(0, &["has fill, nothing more than once", &places]);
    // The same ones twice are what compilers make of inline functions.
    verify("even", &[both(), both()].concat()).fine();
    // And two files are two programs.
    let (a, b) = (room.file("a", &only_75()), room.file("b", &only_90));
    run(&["verify", "--ptx=forbid", "--require-kernel=fill", &a, &b]).fine();
}
