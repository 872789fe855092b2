//! What was let through stands in the report, with the reason.

use serde_json::Value;

fn report(name: &str) -> Value {
    let reports = support::paths(name);
    let verified = |path: &&std::path::PathBuf| path.to_string_lossy().ends_with(".verified.json");
    let report = reports.iter().find(verified).unwrap();
    serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap()
}

#[test]
fn the_report_keeps_the_reason() {
    let report = report("REPORT");
    let exceptions = report["exceptions"].as_array().unwrap();
    assert_eq!(exceptions.len(), 1, "{report:#}");
    assert_eq!(exceptions[0]["pattern"], "//tests/failures:ptx_in_data");
    assert_eq!(exceptions[0]["reason"], "@reader: it is what this is about");
    assert_eq!(report["files"][0]["ptx"], 1);
}

#[test]
fn a_file_may_be_let_through() {
    let report = report("PREBUILT");
    let exceptions = report["exceptions"].as_array().unwrap();
    assert_eq!(exceptions.len(), 1, "{report:#}");
    let pattern = "//tools/image:tests/data/host.o";
    assert_eq!(exceptions[0]["pattern"], pattern);
    assert!(report["files"][0]["ptx"].as_u64() > Some(0), "{report:#}");
}
