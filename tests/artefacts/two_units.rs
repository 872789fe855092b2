//! One library packs two device crates for the same architectures: each has its own kernels.

#[test]
fn both_units_are_there_for_each_arch() {
    let images = support::images(&support::path("OBJECT"));
    let mut found: Vec<String> = images
        .iter()
        .map(|image| format!("{} {}", image["arch"], image["kernels"]).replace('"', ""))
        .collect();
    found.sort();
    let wanted = [
        "gfx90a [first]",
        "gfx90a [second]",
        "sm_80 [first]",
        "sm_80 [second]",
    ];
    assert_eq!(found, wanted);
}
