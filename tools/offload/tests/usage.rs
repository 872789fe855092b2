//! Arguments, help, and what is written where.

mod common;
use common::*;

#[test]
fn help_and_version() {
    let ran = run(&["--help"]);
    ran.fine();
    for command in [
        "check", "pack", "link", "inspect", "extract", "diff", "verify", "archs",
    ] {
        assert!(ran.out.contains(command), "{}", ran.out);
    }
    assert!(ran.out.contains("Exit codes"));
    run(&["--version"]).fine();
}

#[test]
fn wrong_usage() {
    run(&[]).says(2, &[]);
    run(&["verfy"]).says(2, &["verify"]);
    run(&["verify", "--ptx=perhaps", "x"]).says(2, &["forbid, embed, only"]);
    run(&["check", "--kind=elf", "--arch=sm_90", "x"]).says(2, &["cubin"]);
}

#[test]
fn arguments_from_a_file() {
    let room = Room::new();
    let cubin = room.file("a name with spaces", SM_90);
    let lines = format!("--ptx\nforbid\n--label\n@other//x:y\n--require-arch=sm_90\n{cubin}\n");
    let params = format!("@{}", room.file("params", lines.as_bytes()));
    let ran = run(&["verify", &params]);
    ran.fine();
    assert_eq!(ran.out, "@other//x:y: ok: 1 image, no PTX\n");
    // The value after a flag is a label, not a file.
    run(&["verify", "--label", "@other//x:y", "--ptx=forbid", &cubin]).fine();
    let missing = format!("@{}", room.path("missing").display());
    run(&["verify", &missing]).says(3, &["missing", "cannot read it"]);
}

#[test]
fn outputs_are_whole_or_not_there() {
    let room = Room::new();
    let packed = packed(&room);
    let nowhere = room.path("no/such/folder/images.o").display().to_string();
    run(&["link", "--input", &packed, &format!("--output={nowhere}")])
        .says(3, &["cannot write it", &nowhere, "in the folder"]);
    run(&["link", "--input", &packed, &room.output("images.o")]).fine();
    assert_eq!(
        room.names(),
        ["a.cubin", "a.ptx", "images.o", "images.offload"]
    );
}

#[cfg(unix)]
#[test]
fn outputs_are_readable_for_others() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::new();
    packed(&room);
    let mode = std::fs::metadata(room.path("images.offload"))
        .unwrap()
        .permissions()
        .mode();
    // What the umask takes away is the user's choice; the owner's part is ours.
    assert_eq!(mode & 0o711, 0o600);
}

#[test]
fn an_input_is_never_written_over() {
    let room = Room::new();
    let packed = packed(&room);
    let cubin = room.path("a.cubin").display().to_string();
    let image = format!("--image=kind=cubin,arch=sm_90a,file={cubin}");
    // The same file under another spelling.
    let again = format!("--output={}", room.path("./a.cubin").display());
    for args in [
        vec!["pack", "--policy=forbid", &image, &again],
        vec!["check", "--arch=sm_90a", "--kind=cubin", &again, &cubin],
        vec!["verify", "--ptx=forbid", &again, &cubin],
        vec!["link", "--input", &packed, "--output", &packed],
    ] {
        run(&args).says(2, &["it is the input", "name another file"]);
    }
    assert_eq!(room.read("a.cubin"), SM_90A);
    assert!(room.read("images.offload").starts_with(b"\x10\xff\x10\xad"));
}

#[cfg(unix)]
#[test]
fn devices_stay_devices() {
    let room = Room::new();
    let packed = packed(&room);
    // By a link, so that only the link is at stake.
    std::os::unix::fs::symlink("/dev/null", room.path("null")).unwrap();
    run(&["link", "--input", &packed, &room.output("null")]).fine();
    assert!(room.path("null").is_symlink());
    let null = room.path("null").display().to_string();
    run(&["inspect", &null]).says(3, &["it is a device"]);
}

#[test]
fn a_file_too_large_for_memory_is_an_error() {
    let room = Room::new();
    let path = room.file("huge", b"");
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    // Not every file system has files with such holes.
    if file.set_len(1 << 43).is_ok() {
        // What is read as a whole; an image is not.
        run(&["verify", &format!("--policy={path}"), &path]).says(3, &["huge: cannot read it"]);
        run(&["check", "--arch=sm_90", "--kind=cubin", &path]).says(3, &["huge: unknown format"]);
    }
}

/// Takes nothing, as the other end of `| true` does.
struct Gone;

impl std::io::Write for Gone {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_exit_code_is_the_same_where_nobody_reads() {
    let room = Room::new();
    let host = room.file("host.o", HOST);
    let cubin = room.file("c", SM_90);
    let plain = room.file("plain.o", PLAIN);
    let broken = room.file("broken", &RAW_FATBIN[..4000]);
    for (code, args) in [
        (0, &["verify", "--ptx=forbid", &cubin][..]),
        (1, &["verify", "--ptx=forbid", &host]),
        (1, &["verify", "--ptx=forbid", "--format=json", &host]),
        (1, &["verify", "--ptx=forbid", "--format=junit", &host]),
        (3, &["verify", "--ptx=forbid", "--format=json", &broken]),
        (0, &["inspect", &host]),
        (3, &["inspect", "--format=json", &broken]),
        (4, &["inspect", &plain]),
        (1, &["diff", &host, &cubin]),
    ] {
        let args = std::iter::once(&"offload").chain(args);
        let code_found = offload_cli::run(args.clone().map(Into::into), &mut Gone, &mut Gone);
        assert_eq!(code_found, code, "{:?}", args.collect::<Vec<_>>());
    }
    // A broken error stream is no reason to leave a report away.
    let exceptions = room.file(
        "p.toml",
        b"ptx = \"forbid\"\n[[exceptions]]\npath = \"*\"\nreason = \"r\"\nptx = \"embed\"\n",
    );
    let policy = format!("--policy={exceptions}");
    let args = ["offload", "verify", &policy, "--format=json", &host];
    let mut out = Vec::new();
    assert_eq!(
        offload_cli::run(args.map(Into::into), &mut out, &mut Gone),
        0
    );
    let report: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(report["exceptions"][0]["reason"], "r");
}

/// Counts how often it is written to, and the lines.
#[derive(Default)]
struct Counted(usize, usize);

impl std::io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += 1;
        self.1 += bytes.iter().filter(|byte| **byte == b'\n').count();
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_report_is_not_written_line_by_line() {
    let room = Room::new();
    let args = ["offload", "inspect", "--format=json", &room.file("h", HOST)];
    let mut out = Counted::default();
    offload_cli::run(args.map(Into::into), &mut out, &mut Gone);
    let Counted(times, lines) = out;
    assert!(lines > 100 && times < lines / 10, "{times} for {lines}");
}

#[cfg(unix)]
#[test]
fn names_of_files_cannot_speak_to_a_terminal() {
    let room = Room::new();
    let breached = room.file("a\x1b[31m\noffload: ok", HOST);
    let broken = room.file("b\x1b[31m", &RAW_FATBIN[..4000]);
    std::os::unix::fs::symlink("/no\x1b[31m", room.path("c\x1b[31m")).unwrap();
    let folder = room.path("").display().to_string();
    for args in [
        &["verify", "--ptx=forbid", &folder][..],
        &[
            "verify",
            "--require-arch=sm_90",
            "--label=\x1b[31m",
            &breached,
            &broken,
        ],
        &["inspect", &folder],
        &["diff", &folder, &broken],
        &["inspect", "gone\x1b[31m"],
    ] {
        let ran = run(args);
        assert!(ran.err.contains("\\u{1b}[31m"), "{}", ran.err);
        assert!(!ran.err.contains('\x1b') && !ran.out.contains('\x1b'));
        assert!(!ran.err.contains("\noffload: ok"), "{}", ran.err);
    }
}
