//! PTX that is hidden in a program is refused, however it got there, with the target that brings it; the same
//! program with a cubin in the same place builds.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Each plant, and the target that brings it; `None` where it is the program's own source.
fn plants() -> Vec<(String, Option<String>)> {
    let text = std::fs::read_to_string(support::path("ORIGINS")).unwrap();
    let plants: Vec<_> = text
        .lines()
        .map(|line| {
            let (name, origin) = line.split_once(' ').unwrap();
            let origin = (origin != "-").then(|| format!("//tests/plants:{origin}"));
            (name.to_owned(), origin)
        })
        .collect();
    assert!(plants.len() >= 20);
    plants
}

/// What a file is known by: Bazel has some shared libraries under two paths.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

#[test]
fn ptx_is_refused_with_its_origin() {
    for (name, origin) in plants() {
        let text = std::fs::read_to_string(support::path(&format!("{name}.refused"))).unwrap();
        let head = format!("target: //tests/plants:{name}.ptx\nexit: 1\n");
        let said = text
            .strip_prefix(&head)
            .unwrap_or_else(|| panic!("wanted {head}found {text}"));
        let breached = said
            .lines()
            .filter_map(|line| Some(line.split_once("ptx = \"forbid\" is breached by ")?.1));
        let breached: BTreeSet<&str> = breached.map(file_name).collect();
        assert_eq!(breached.len(), 1, "{said}");
        let found = said.lines().find(|line| line.contains("found:  ")).unwrap();
        assert!(
            found.contains("ptx for sm_70, PTX ISA 7.0, "),
            "{name}: {found}"
        );
        match origin {
            Some(origin) => {
                assert!(
                    found.contains(&format!("; from {origin} (")),
                    "{name}: {found}"
                );
                assert!(
                    said.contains(&format!("audit_exceptions = {{\"{origin}\": ")),
                    "{said}"
                );
            }
            None => assert!(
                found.contains("; from none of its dependencies: look in its own sources"),
                "{name}: {found}"
            ),
        }
    }
}

#[test]
fn a_cubin_in_the_same_place_is_fine() {
    for (name, _) in plants() {
        let reports = support::paths(&format!("{name}.verified"));
        let verified =
            |path: &&std::path::PathBuf| path.to_string_lossy().ends_with(".verified.json");
        let report = reports.iter().find(verified).unwrap();
        let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
        let files = report["files"].as_array().unwrap();
        let files: BTreeMap<&str, &Value> = files
            .iter()
            .map(|file| (file_name(file["path"].as_str().unwrap()), file))
            .collect();
        let sum = |key: &str| {
            files
                .values()
                .map(|file| file[key].as_u64().unwrap())
                .sum::<u64>()
        };
        // The one that was packed, and the one that is hidden: it was looked at.
        let planted = if name == "fatbins_second" { 2 } else { 1 };
        assert_eq!(
            (sum("images"), sum("ptx")),
            (1 + planted, 0),
            "{name}: {report:#}"
        );
        assert_eq!(report["exceptions"], serde_json::json!([]));
    }
}
