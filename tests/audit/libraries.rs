//! Programs that a library was linked into which is let through by name, though it lacks an architecture
//! or has a kernel of another library.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

fn report(name: &str) -> Value {
    let reports = support::paths(name);
    let verified = |path: &&std::path::PathBuf| path.to_string_lossy().ends_with(".verified.json");
    let report = reports.iter().find(verified).unwrap();
    serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap()
}

#[test]
fn the_reports_keep_the_reason() {
    for name in ["ARCH", "KERNEL"] {
        let report = report(name);
        let exceptions = report["exceptions"].as_array().unwrap();
        assert_eq!(exceptions.len(), 1, "{report:#}");
        assert_eq!(exceptions[0]["pattern"], "//tests/failures:library.sm_80");
        assert_eq!(exceptions[0]["reason"], "it is what this is about");
    }
    assert_eq!(report("ARCH")["archs"], serde_json::json!(["sm_90"]));
}

#[test]
fn images_of_one_library_are_one_pack() {
    let mut packs: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    for image in support::images(&support::path("PROGRAM")) {
        let pack = image["pack"].as_i64().expect("every image has a pack");
        let kernels = image["kernels"].to_string();
        packs.entry(kernels).or_default().insert(pack);
    }
    // The program's own are for two architectures, and the library's for one.
    let all: Vec<_> = packs.values().flatten().collect();
    assert_eq!(
        packs.keys().collect::<Vec<_>>(),
        [r#"["own"]"#, r#"["plain"]"#]
    );
    assert_eq!(all.len(), 2, "{packs:?}");
    assert_ne!(all[0], all[1], "{packs:?}");
}
