//! A feature that is named in `archs` is in the code object, and in no other's.

use support::{images, kinds, paths, stdout};

#[test]
fn the_feature_is_in_its_own_image_alone() {
    let files = paths("IMAGES");
    let mut found: Vec<String> = files.iter().flat_map(|file| kinds(&images(file))).collect();
    found.sort();
    let wanted = [
        "gfx1100 gfx",
        "gfx90a:xnack+ gfx",
        "sm_80 cubin",
        "sm_90a cubin",
    ];
    assert_eq!(found, wanted);

    let elfs = files
        .iter()
        .filter(|file| file.extension().unwrap() == "elf");
    let mut targets: Vec<String> = elfs
        .map(|file| {
            let notes = stdout("READELF", ["-n".as_ref(), file.as_os_str()]);
            let line = notes
                .lines()
                .find(|line| line.contains("amdhsa.target"))
                .expect(&notes);
            line.rsplit("--")
                .next()
                .unwrap()
                .trim_end_matches('\'')
                .to_owned()
        })
        .collect();
    targets.sort();
    assert_eq!(targets, ["gfx1100", "gfx90a:xnack+"]);
}
