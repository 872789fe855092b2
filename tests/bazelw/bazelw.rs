//! `./bazelw` with a Bazel of the user's own: which is taken, and what it is given.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder with a `bazel` that notes its arguments, reads all of its input, and ends as it is told.
struct Room(PathBuf);

impl Room {
    fn new(name: &str) -> Self {
        let folder = PathBuf::from(std::env::var_os("TEST_TMPDIR").unwrap()).join(name);
        fs::create_dir_all(&folder).unwrap();
        let bazel = folder.join("bazel");
        let script = "#!/bin/sh\nfor arg; do printf '[%s]' \"$arg\" >>\"$ROOM/log\"; done\n\
                      echo >>\"$ROOM/log\"\ncat >>\"$ROOM/input\"\n\
                      case $1 in mod) echo \"$MOD_SAYS\" >&2; exit $MOD_EXIT ;; esac\nexit $EXIT\n";
        fs::write(&bazel, script).unwrap();
        fs::set_permissions(&bazel, fs::Permissions::from_mode(0o755)).unwrap();
        Room(folder)
    }

    fn bash(&self, args: &[&str], env: &[(&str, &str)]) -> Output {
        let mut child = Command::new("bash")
            .args(args)
            .env("PATH", format!("{}:/usr/bin:/bin", self.0.display()))
            .env("ROOM", &self.0)
            .env("RULES_OFFLOAD_CACHE", self.0.join("cache"))
            .envs([("EXIT", "0"), ("MOD_EXIT", "0"), ("MOD_SAYS", "")])
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"input").unwrap();
        child.wait_with_output().unwrap()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }
}

#[test]
fn arguments_input_and_exit_code_go_through() {
    let room = Room::new("through");
    let args = ["bazelw", "a b", "", "c\nd", "\"$x\" *"];
    let ran = room.bash(&args, &[("BAZELW", "user"), ("EXIT", "3")]);
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert_eq!(room.read("log"), "[a b][][c\nd][\"$x\" *]\n");
    assert_eq!(room.read("input"), "input");
}

#[test]
fn a_bazel_that_works_is_asked_once() {
    let room = Room::new("works");
    for _ in 0..2 {
        let ran = room.bash(&["bazelw", "info"], &[]);
        assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
    }
    let log = room.read("log");
    assert_eq!(log, "[mod][graph][--depth=1]\n[info]\n[info]\n");
    assert_eq!(room.read("input"), "inputinput", "the question takes none");
}

#[test]
fn a_cache_that_cannot_be_written_only_costs_the_question() {
    let room = Room::new("unwritable");
    let cache = [("RULES_OFFLOAD_CACHE", "/dev/null/cache")];
    let ran = room.bash(&["bazelw", "info"], &cache);
    assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
}

#[test]
fn why_a_bazel_is_not_taken() {
    let question = "source tools/bazelw/common.sh; own_bazel_works \"$(own_bazel)\" \"$PWD\"";
    for (name, env, reason) in [
        (
            "error",
            [("MOD_EXIT", "37"), ("MOD_SAYS", "ERROR: no network")],
            "(ERROR: no network)",
        ),
        (
            "silent",
            [("MOD_EXIT", "37"), ("MOD_SAYS", "")],
            "(exit code 37)",
        ),
        (
            "hung",
            [("MOD_EXIT", "124"), ("MOD_SAYS", "")],
            "(no answer within 120 s)",
        ),
    ] {
        let ran = Room::new(name).bash(&["-c", question], &env);
        let text = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(1), "{text}");
        assert!(text.contains(reason), "{text}");
    }
    // Ctrl-C ends bazelw, and does not begin to provision.
    let ran = Room::new("interrupted").bash(&["-c", question], &[("MOD_EXIT", "8")]);
    assert_eq!(ran.status.code(), Some(8));
}

#[test]
fn a_relative_cache_is_the_same_from_every_step() {
    let room = Room::new("relative");
    let command = "source tools/bazelw/common.sh; cd /; echo \"$ROOT\"";
    let ran = room.bash(&["-c", command], &[("RULES_OFFLOAD_CACHE", "sub/cache")]);
    let root = String::from_utf8(ran.stdout).unwrap();
    let here = std::env::current_dir().unwrap();
    let cache = format!("{}/sub/cache/root-", here.display());
    assert!(root.starts_with(&cache), "{root}");
}
