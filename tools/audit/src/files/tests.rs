use super::*;
use crate::scan::{Scan, State};

const PTX: &[u8] = include_bytes!("../../../image/tests/data/tiny.ptx");

#[test]
fn folders_are_listed_in_order() {
    let room = tempfile::tempdir().unwrap();
    let at = |name: &str| room.path().join(name);
    fs::create_dir(at("b")).unwrap();
    for name in ["b/k.ptx", "a.ptx", "c"] {
        fs::write(at(name), PTX).unwrap();
    }
    let files = ["a.ptx", "b/k.ptx", "c"].map(|name| Found::File(at(name)));
    assert_eq!(list(room.path()).unwrap(), files);
    assert_eq!(list(&at("c")).unwrap(), [Found::File(at("c"))]);
    assert!(list(&at("d")).is_err());
    let mut found = Scan::default();
    scan_file(&at("c"), &Options::default(), &mut found).unwrap();
    assert_eq!(found.state(), &State::Images);
}

#[cfg(unix)]
#[test]
fn links_are_told_and_not_followed() {
    let (room, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let at = |name: &str| room.path().join(name);
    fs::write(at("k.ptx"), PTX).unwrap();
    fs::write(other.path().join("out.ptx"), PTX).unwrap();
    let targets = [
        ("in", at("k.ptx"), false),
        ("loop", room.path().to_owned(), false),
        ("nowhere", at("gone"), true),
        ("out", other.path().to_owned(), true),
    ];
    for (name, target, _) in &targets {
        std::os::unix::fs::symlink(target, at(name)).unwrap();
    }
    let mut wanted: Vec<Found> = targets
        .into_iter()
        .map(|(name, target, outside)| Found::Link {
            path: at(name),
            target,
            outside,
        })
        .collect();
    wanted.insert(1, Found::File(at("k.ptx")));
    assert_eq!(list(room.path()).unwrap(), wanted);
    // What is given by name is meant.
    assert_eq!(list(&at("in")).unwrap(), [Found::File(at("in"))]);
}

/// Nobody writes into the pipe, so that whoever opens it waits for ever.
#[cfg(unix)]
#[test]
fn a_pipe_that_an_archive_names_is_not_waited_for() {
    const THIN: &[u8] = include_bytes!("../../tests/data/thin.a");
    const CODE: &[u8] = include_bytes!("../../tests/data/a_name_longer_than_15.o");
    let room = tempfile::tempdir().unwrap();
    let at = |name: &str| room.path().join(name);
    fs::write(at("thin.a"), THIN).unwrap();
    fs::write(at("a_name_longer_than_15.o"), CODE).unwrap();
    let pipe = std::process::Command::new("mkfifo")
        .arg(at("plain.o"))
        .status();
    assert!(pipe.unwrap().success());
    let mut found = Scan::default();
    scan_file(&at("thin.a"), &Options::default(), &mut found).unwrap();
    assert_eq!(found.images.len(), 1);
    let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].contains("`plain.o`: it is no file"),
        "{problems:?}"
    );
}

/// Root reads everything, so there the fault is missing and nothing else.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_hides_no_other() {
    use std::os::unix::fs::PermissionsExt;
    let room = tempfile::tempdir().unwrap();
    let at = |name: &str| room.path().join(name);
    fs::create_dir(at("b")).unwrap();
    for name in ["a.ptx", "c"] {
        fs::write(at(name), PTX).unwrap();
    }
    let allow = |mode| fs::set_permissions(at("b"), fs::Permissions::from_mode(mode)).unwrap();
    allow(0);
    let (found, closed) = (list(room.path()).unwrap(), fs::read_dir(at("b")).err());
    allow(0o700);
    let mut wanted = ["a.ptx", "c"].map(|name| Found::File(at(name))).to_vec();
    if let Some(error) = closed {
        let (path, why) = (at("b"), error.to_string());
        wanted.insert(1, Found::Fault { path, why });
    }
    assert_eq!(found, wanted);
}
