//! `offload inspect --format=json` against the schema in `docs/`, which is what users are told.

mod common;
use common::*;
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../docs/inspect.schema.json");

/// What a value has against a schema. Of JSON Schema as much as ours uses; a keyword that is not
/// known here is a failure, so that none is passed over.
fn against(schema: &Value, root: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
    for (key, rule) in schema.as_object().unwrap() {
        match key.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                against(&root["$defs"][name], root, value, at, wrong);
            }
            "const" if value == rule => {}
            "enum" if rule.as_array().unwrap().contains(value) => {}
            "type" if types(rule).contains(&type_of(value)) => {}
            "const" | "enum" | "type" => wrong.push(format!("{at}: {value} is not {key} {rule}")),
            "required" => {
                for name in rule.as_array().unwrap() {
                    if value.get(name.as_str().unwrap()).is_none() {
                        wrong.push(format!("{at}: no {name}"));
                    }
                }
            }
            "additionalProperties" => {
                assert_eq!(rule, false);
                for name in value.as_object().unwrap().keys() {
                    if schema["properties"].get(name).is_none() {
                        wrong.push(format!("{at}: {name} is not in the schema"));
                    }
                }
            }
            "properties" => {
                for (name, schema) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        against(schema, root, value, &format!("{at}.{name}"), wrong);
                    }
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    against(rule, root, item, &format!("{at}[{index}]"), wrong);
                }
            }
            other => panic!("{at}: {other} is not known here"),
        }
    }
}

fn types(rule: &Value) -> Vec<&str> {
    match rule {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn faults(report: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut wrong = Vec::new();
    against(&schema, &schema, report, "$", &mut wrong);
    wrong
}

#[test]
fn what_is_printed_is_as_the_schema_says() {
    let room = Room::new();
    let packed = packed(&room);
    let files = [
        room.file("host.o", HOST),
        room.file("raw", RAW_FATBIN),
        room.file("speed", SPEED_FATBIN),
        room.file("gfx", GFX90A_MODES),
        room.file("plain.o", PLAIN),
        room.file("cut", &RAW_FATBIN[..4000]),
        room.file("text", b"hello"),
        room.file("thin.a", include_bytes!("../../audit/tests/data/thin.a")),
        room.file("stub.o", include_bytes!("../../audit/tests/data/stub.o")),
        room.path("gone").display().to_string(),
        packed,
    ];
    let mut args = vec!["inspect", "--format=json"];
    args.extend(files.iter().map(String::as_str));
    let ran = run(&args);
    assert_eq!(ran.code, 3);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(faults(&report), [""; 0]);
    let states: Vec<&str> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["state"].as_str().unwrap())
        .collect();
    assert_eq!(
        states,
        [
            "images",
            "images",
            "images",
            "images",
            "no_gpu_code",
            "unreadable",
            "not_binary",
            "unreadable",
            "elsewhere",
            "images"
        ]
    );
    // Every fault has its place.
    for file in [5, 6, 7] {
        let problem = &report["files"][file]["problems"][0];
        assert!(problem["offset"].is_u64(), "{problem}");
    }
    // A path that is not there is told, and is none of the files.
    assert!(ran.err.contains("gone: cannot read it"), "{}", ran.err);
    // The check itself can fail.
    let mut changed = report.clone();
    changed["files"][0]["images"][0]["size"] = "large".into();
    changed["files"][0]["images"][0]["more"] = 1.into();
    changed["files"][1].as_object_mut().unwrap().remove("path");
    let mut found = faults(&changed);
    found.sort();
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].contains("is not type"), "{found:?}");
    assert!(found[1].contains("more is not in the schema"), "{found:?}");
    assert!(found[2].contains("no \"path\""), "{found:?}");
}

#[test]
fn where_an_image_lies_and_what_it_says() {
    let room = Room::new();
    let raw = images(room.file("f", RAW_FATBIN).as_ref());
    let ptx = raw.iter().find(|image| image["kind"] == "ptx").unwrap();
    let offset = ptx["offset"].as_u64().unwrap() as usize;
    assert!(
        RAW_FATBIN[offset..].starts_with(b".version")
            || RAW_FATBIN[offset] == b'/'
            || RAW_FATBIN[offset] == b'\n'
    );
    assert_eq!(ptx["container_offset"], 0);
    assert_eq!(ptx["ptx_target"], "sm_80");
    // Its version, 8.8, came with CUDA 12.9.
    assert_eq!(ptx["min_driver"], "575");
    assert_eq!(ptx["declared_arch"], "sm_80");
    assert_eq!(ptx["actual_arch"], "sm_80");
    assert_eq!(ptx["suffix"], "");
    assert!(ptx["inner_offset"].is_null());
    let packed = images(room.file("s", SPEED_FATBIN).as_ref());
    assert_eq!(packed[0]["inner_offset"], 0);
    let exact = images(room.file("a", SM_90A).as_ref());
    assert_eq!(
        (&exact[0]["suffix"], &exact[0]["arch"]),
        (&"a".into(), &"sm_90a".into())
    );
    assert!(exact[0]["declared_arch"].is_null() && exact[0]["container_offset"].is_null());
    let gfx = images(room.file("g", GFX90A).as_ref());
    assert!(gfx[0]["suffix"].is_null() && gfx[0]["ptx_target"].is_null());
    assert!(gfx[0]["min_driver"].is_null());
    // A label that lies.
    let mut bytes = RAW_FATBIN.to_vec();
    let at = bytes
        .windows(4)
        .position(|w| w == 80_u32.to_le_bytes())
        .unwrap();
    bytes[at] = 90;
    let lied = images(room.file("l", &bytes).as_ref());
    let lied: Vec<&Value> = lied
        .iter()
        .filter(|image| image["mismatch"] == true)
        .collect();
    assert_eq!(lied.len(), 1);
    assert_eq!(lied[0]["declared_arch"], "sm_90");
    assert_eq!(
        (&lied[0]["actual_arch"], &lied[0]["arch"]),
        (&"sm_80".into(), &"sm_80".into())
    );
    let table = run(&[
        "inspect",
        "--kernels",
        &room.path("l").display().to_string(),
    ]);
    assert!(
        table.out.contains("sm_80 (labelled sm_90)"),
        "{}",
        table.out
    );
}
