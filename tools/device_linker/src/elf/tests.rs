use super::*;
use crate::testing::{names, script, turn};
use std::fs;

/// Links with an ld.lld that writes `bytes` (octal escapes) and ends with `code`.
fn link_with(bytes: &str, code: u8) -> (Result<(), LinkError>, Vec<String>, String) {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("k.elf"), "old").unwrap();
    let args = folder.path().join("args");
    let body = format!(
        "printf '%s\\n' \"$@\" > '{}'\nwhile [ \"$1\" != -o ]; do shift; done\n\
         printf '{bytes}' > \"$2\"; echo 'undefined symbol: f' >&2; exit {code}",
        args.display()
    );
    let job = ElfJob {
        arguments: vec!["-shared".into(), "k.o".into()],
        output: out.join("k.elf"),
        lld: script(folder.path(), "ld.lld", &body),
    };
    let result = link(&job);
    (result, names(&out), fs::read_to_string(args).unwrap())
}

fn elf(machine: &str) -> String {
    format!("\\177ELF{}\\003\\000{machine}", "\\002".repeat(12))
}

#[test]
fn a_code_object_is_published() {
    let (result, names, args) = link_with(&elf("\\340\\000"), 0);
    result.unwrap();
    assert_eq!(names, ["k.elf"]);
    assert!(
        args.starts_with("-flavor\ngnu\n-shared\nk.o\n-o\n"),
        "{args}"
    );
}

#[test]
fn anything_else_leaves_nothing() {
    for (bytes, code, expected) in [
        (
            elf("\\076\\000"),
            0,
            "an ELF file for machine 62, not AMD's 224",
        ),
        ("text".to_owned(), 0, "something that is not an ELF file"),
        (
            elf("\\340\\000"),
            3,
            "failed: exit status: 3\nundefined symbol: f",
        ),
    ] {
        let (result, names, _) = link_with(&bytes, code);
        let error = result.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(names, [""; 0]);
    }
}
