//! What was let through stands in the report, with the reason.

use serde_json::Value;

#[test]
fn the_report_keeps_the_reason() {
    let reports = support::paths("REPORT");
    let verified = |path: &&std::path::PathBuf| path.to_string_lossy().ends_with(".verified.json");
    let report = reports.iter().find(verified).unwrap();
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    let exceptions = report["exceptions"].as_array().unwrap();
    assert_eq!(exceptions.len(), 1, "{report:#}");
    assert_eq!(exceptions[0]["pattern"], "//tests/failures:ptx_in_data");
    assert_eq!(exceptions[0]["reason"], "@reader: it is what this is about");
    assert_eq!(report["files"][0]["ptx"], 1);
}
