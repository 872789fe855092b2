//! What each PTX policy leaves in the program, though nothing in the program asks for its images.

use support::{contains, images, kinds, path, run};

fn holds_ptx_text(program: &str) -> bool {
    let bytes = std::fs::read(path(program)).unwrap();
    contains(&bytes, b".target sm_")
}

#[test]
fn forbid_has_no_ptx() {
    let images = images(&path("FORBID"));
    let wanted = ["gfx90a gfx", "sm_80 cubin", "sm_90a cubin"];
    assert_eq!(kinds(&images), wanted);
    assert!(!holds_ptx_text("FORBID"));
    assert!(images.iter().all(|image| image["policy"] == "forbid"));
}

#[test]
fn embed_has_both() {
    let images = images(&path("EMBED"));
    let wanted = ["gfx90a gfx", "sm_80 cubin", "sm_80 ptx", "sm_90a cubin"];
    assert_eq!(kinds(&images), wanted);
    assert!(holds_ptx_text("EMBED"));
    assert!(images.iter().all(|image| image["policy"] == "embed"));
    for image in images.iter().filter(|image| image["kind"] == "ptx") {
        assert!(image["ptx_isa"].is_string(), "{image}");
        assert!(image["min_driver"].is_string(), "{image}");
    }
}

/// PTX for an architecture without a cubin, and for none of those with one.
#[test]
fn ptx_is_for_those_that_it_is_asked_for() {
    let images = images(&path("FOR_OLDER"));
    assert_eq!(kinds(&images), ["sm_75 ptx", "sm_80 cubin", "sm_90 cubin"]);
}

#[test]
fn only_has_no_cubin() {
    let images = images(&path("ONLY"));
    let wanted = ["gfx90a gfx", "sm_80 ptx", "sm_90a ptx"];
    assert_eq!(kinds(&images), wanted);
    assert!(images.iter().all(|image| image["policy"] == "only"));
}

#[test]
fn the_programs_start() {
    for program in ["EMBED", "FORBID", "ONLY"] {
        let output = run(program, [""; 0]);
        assert!(output.status.success(), "{program}: {output:?}");
    }
}
