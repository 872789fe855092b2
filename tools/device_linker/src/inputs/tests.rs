use super::*;
use crate::testing::{archive, bitcode};
use std::fs;

fn newest_of(files: &[(&str, &[u8])]) -> Result<Option<Newest>, String> {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<_> = files
        .iter()
        .map(|(name, _)| dir.path().join(name))
        .collect();
    for (path, (_, data)) in paths.iter().zip(files) {
        fs::write(path, data).unwrap();
    }
    let folder = format!("{}/", dir.path().display());
    newest(&paths)
        .map(|found| {
            found.map(|found| Newest {
                file: found.file.replace(&folder, ""),
                ..found
            })
        })
        .map_err(|error| error.to_string().replace(&folder, ""))
}

#[test]
fn the_newest_is_found_and_named() {
    let rlib = archive(&[
        ("lib.rmeta", b"rust\0metadata"),
        ("a.o", &bitcode("LLVM22.1.8")),
        ("b.o", &bitcode("LLVM24.0.1")),
    ]);
    let found = newest_of(&[("k.o", &bitcode("LLVM23.1.0")), ("libcore.rlib", &rlib)]);
    let found = found.unwrap().unwrap();
    assert_eq!(
        (found.file.as_str(), found.major),
        ("libcore.rlib(b.o)", 24)
    );
    assert_eq!(found.producer, "LLVM24.0.1");
}

#[test]
fn archives_without_bitcode_are_fine() {
    let rlib = archive(&[("lib.rmeta", b"metadata")]);
    assert_eq!(newest_of(&[("a.rlib", &rlib)]), Ok(None));
    assert_eq!(newest_of(&[("a.rlib", b"!<arch>\n")]), Ok(None));
}

#[test]
fn wrong_files_are_named() {
    let broken = archive(&[("a.o", &bitcode("LLVM22.1.8")[..12])]);
    let whole = archive(&[("a.o", &bitcode("LLVM22.1.8"))]);
    for (data, expected) in [
        (
            &b"\x7fELF\x02\x01\x01\0\0"[..],
            "x: neither LLVM bitcode nor an archive (it begins with [7f, 45,",
        ),
        (b"", "x: neither LLVM bitcode"),
        (b"!<thin>\n", "thin archives"),
        (
            b"BC\xC0\xDE",
            "x: the bitcode ends within its header, at bit 32",
        ),
        (
            &broken,
            "x: member `a.o`: the bitcode ends within its header",
        ),
        (&whole[..80], "x: broken archive"),
    ] {
        let error = newest_of(&[("x", data)]).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let error = newest(&["no/such.o".into()]).unwrap_err();
    assert!(
        error.to_string().contains("cannot open no/such.o"),
        "{error}"
    );
}

#[test]
fn truncated_archives_never_panic() {
    let whole = archive(&[("lib.rmeta", b"metadata"), ("a.o", &bitcode("LLVM22.1.8"))]);
    for end in 0..whole.len() {
        let _ = newest_of(&[("x", &whole[..end])]);
    }
}
