//! `offload verify`: what it prints for programs, as JSON and as JUnit's XML.

mod common;
use common::*;
use serde_json::json;

#[test]
fn json_lists_every_breach_and_every_file() {
    let room = Room::new();
    let host = room.file("host.o", HOST);
    let cubin = room.file("c", SM_90);
    let broken = room.file("broken", &RAW_FATBIN[..4000]);
    let (code, report) = verify_json(&[
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
    let (code, report) = verify_json(&["--ptx=forbid", &gone, &cubin]);
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
