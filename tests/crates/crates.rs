//! Device crates of every shape, on the images that came out: name, architecture, kernels.

use support::{images, paths};

/// Each crate has one image for either vendor, in a file that is called as the crate is, and its
/// kernels are these.
fn check(target: &str, crate_name: &str, kernels: &[&str]) {
    let mut found = Vec::new();
    for path in paths(target) {
        assert_eq!(path.file_stem().unwrap(), crate_name, "{}", path.display());
        let extension = path.extension().unwrap().to_str().unwrap().to_owned();
        for image in images(&path) {
            assert_eq!(image["kernels"], serde_json::json!(kernels), "{image}");
            let word = |key: &str| image[key].as_str().unwrap().to_owned();
            found.push(format!("{} {} .{extension}", word("arch"), word("kind")));
        }
    }
    found.sort();
    assert_eq!(found, ["gfx90a gfx .elf", "sm_80 cubin .cubin"], "{target}");
}

#[test]
fn names() {
    check("ALL_IN_ONE", "_9_crate_with_all", &["plain"]);
    check("CRATE_WITH_DASH", "crate_with_dash", &["plain"]);
    check("CRATE_WITH_SLASH", "crate_with_slash", &["plain"]);
    check("CRATE_WITH_UNDERSCORE", "crate_with_underscore", &["plain"]);
    check("CRATE9", "crate9", &["plain"]);
    check("RENAMED_TARGET", "chosen", &["plain"]);
}

#[test]
fn modules() {
    check("MODULES", "modules", &["in_module", "in_root"]);
}

#[test]
fn libraries() {
    check("LIBRARY", "library", &["uses_library"]);
}

#[test]
fn features() {
    check("FEATURES", "features", &["wanted"]);
}

#[test]
fn environment_and_data() {
    check("ENVIRONMENT", "environment", &["environment"]);
}

#[test]
fn edition() {
    check("EDITION", "edition", &["edition"]);
}

#[test]
fn proc_macros() {
    check("PROC_MACRO", "proc_macro", &["from_macro"]);
}

#[test]
fn build_scripts() {
    check("BUILD_SCRIPT", "build_script", &["from_build_script"]);
}

/// rules_rust#4201: where a build script wrote a source is said from the workspace on, not from this build's sandbox.
#[test]
fn build_scripts_leave_no_path_of_this_machine() {
    for path in paths("BUILD_SCRIPT") {
        let bytes = std::fs::read(&path).unwrap();
        let source = b"/tests/crates/build_script_run.out_dir/value.rs";
        let at = bytes.windows(source.len()).position(|w| w == source);
        let before = &bytes[..at.expect("the path that the kernel reads")];
        let is_of_path = |b: &u8| b.is_ascii_graphic();
        let from = before
            .iter()
            .rposition(|b| !is_of_path(b))
            .map_or(0, |at| at + 1);
        let before = String::from_utf8_lossy(&before[from..]);
        assert!(
            before.trim_start_matches("./").starts_with("bazel-out/"),
            "{}: {before}",
            path.display()
        );
    }
}
