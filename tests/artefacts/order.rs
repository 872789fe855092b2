//! The order in which somebody wrote the images down does not get into the bytes.

use std::fs::read;

#[test]
fn the_same_images_give_the_same_bytes() {
    for kind in ["", "_OBJECT"] {
        let one = read(support::path(&format!("OLDER_FIRST{kind}"))).unwrap();
        let other = read(support::path(&format!("NEWER_FIRST{kind}"))).unwrap();
        assert!(
            one == other,
            "{} and {} bytes differ",
            one.len(),
            other.len()
        );
    }
}

#[test]
fn all_of_them_are_there() {
    let images = support::images(&support::path("OLDER_FIRST"));
    let wanted = ["gfx1100 gfx", "gfx90a gfx", "sm_80 cubin", "sm_90a cubin"];
    assert_eq!(support::kinds(&images), wanted);
}
