use super::*;

const NVPTX: [&str; 19] = [
    "--export-symbol",
    "saxpy",
    "out/k.rcgu.o",
    "lib/libcore.rlib",
    "-L",
    "out/raw-dylibs",
    "--target",
    "nvptx64-nvidia-cuda",
    "--target-cpu",
    "sm_90",
    "-L",
    "lib/self-contained",
    "-o",
    "out/k.ptx",
    "-O3",
    "--debug",
    "--llvm-link=t/llvm-link",
    "--opt=t/opt",
    "--llc=t/llc",
];
const AMDGCN: [&str; 15] = [
    "-Wl,--version-script=out/list",
    "-Wl,--no-undefined-version",
    "out/k.rcgu.o",
    "-L",
    "out/raw",
    "-fuse-ld=lld",
    "-Wl,-z,noexecstack",
    "-o",
    "out/k.elf",
    "-Wl,--gc-sections",
    "-shared",
    "-Wl,-O1",
    "-nodefaultlibs",
    "-Wl,-soname=k.elf",
    "--lld=t/ld.lld",
];

fn read(argv: &[&str]) -> Result<Request, UsageError> {
    parse(argv.iter().map(OsString::from).collect())
}

fn ptx(argv: &[&str]) -> PtxJob {
    match read(argv) {
        Ok(Request::Ptx(job)) => job,
        other => panic!("{other:?}"),
    }
}

fn elf(argv: &[&str]) -> ElfJob {
    match read(argv) {
        Ok(Request::Elf(job)) => job,
        other => panic!("{other:?}"),
    }
}

/// `argv` without the argument `gone` and the `values` after it.
fn without<'a>(argv: &[&'a str], gone: &str, values: usize) -> Vec<&'a str> {
    let at = argv.iter().position(|arg| arg.starts_with(gone)).unwrap();
    [&argv[..at], &argv[at + 1 + values..]].concat()
}

#[test]
fn nvptx_as_rustc_writes_it() {
    let job = ptx(&NVPTX);
    assert_eq!(
        job.inputs,
        [PathBuf::from("out/k.rcgu.o"), "lib/libcore.rlib".into()]
    );
    assert_eq!(job.exports, ["saxpy"]);
    assert_eq!((job.cpu.as_str(), job.level), ("sm_90", OptLevel::O3));
    assert_eq!((job.features, job.keep_debug), (None, false));
    assert_eq!(job.output, PathBuf::from("out/k.ptx"));
    assert_eq!(job.llvm_link, PathBuf::from("t/llvm-link"));
    assert_eq!((job.opt, job.llc), ("t/opt".into(), "t/llc".into()));
}

#[test]
fn values_after_a_space_or_an_equals_sign() {
    let mut spaced = without(
        &without(&without(&NVPTX, "--llvm", 0), "--opt", 0),
        "--llc",
        0,
    );
    spaced.extend([
        "--llvm-link",
        "t/llvm-link",
        "--opt",
        "t/opt",
        "--llc",
        "t/llc",
    ]);
    assert_eq!(ptx(&spaced), ptx(&NVPTX));

    let mut joined = without(
        &without(&without(&NVPTX, "--export", 1), "--target", 1),
        "--target-cpu",
        1,
    );
    joined.extend([
        "--export-symbol=saxpy",
        "--target=nvptx64-nvidia-cuda",
        "--target-cpu=sm_90",
    ]);
    assert_eq!(ptx(&joined), ptx(&NVPTX));
}

#[test]
fn levels_features_and_debug() {
    for (flag, level) in [
        ("-O0", "O0"),
        ("-O1", "O1"),
        ("-O2", "O2"),
        ("-Os", "Os"),
        ("-Oz", "Oz"),
    ] {
        let job = ptx(&[&NVPTX[..], &[flag]].concat());
        assert_eq!(job.level.llvm(), level);
    }
    let job = ptx(&[
        &NVPTX[..],
        &["--target-feature=+ptx80,+x", "--keep-debug", "-Lx"],
    ]
    .concat());
    assert_eq!(
        (job.features.as_deref(), job.keep_debug),
        (Some("+ptx80,+x"), true)
    );
    assert_eq!(ptx(&without(&NVPTX, "-O3", 0)).level, OptLevel::O0);
}

#[test]
fn nvptx_mistakes_are_named() {
    let tool = |tool| UsageError::MissingTool { tool };
    let text = |text: &str| text.to_owned();
    for (argv, error) in [
        (without(&NVPTX, "--llvm-link", 0), tool("llvm-link")),
        (without(&NVPTX, "--opt", 0), tool("opt")),
        (without(&NVPTX, "--llc", 0), tool("llc")),
        (without(&NVPTX, "-o", 1), UsageError::Missing("-o")),
        (
            without(&NVPTX, "--target", 1),
            UsageError::Missing("--target"),
        ),
        (
            without(&NVPTX, "--target-cpu", 1),
            UsageError::Missing("--target-cpu"),
        ),
        (
            without(&without(&NVPTX, "out/k.rcgu", 0), "lib/libcore", 0),
            UsageError::NoInputs,
        ),
        (
            [&NVPTX[..], &["--fallback"]].concat(),
            UsageError::Unknown(text("--fallback")),
        ),
        (
            [&NVPTX[..], &["-O4"]].concat(),
            UsageError::Unknown(text("-O4")),
        ),
        (
            [&NVPTX[..], &["--targets=x"]].concat(),
            UsageError::Unknown(text("--targets=x")),
        ),
        (
            [&NVPTX[..], &["--opt"]].concat(),
            UsageError::NoValue(text("--opt")),
        ),
        (
            [&NVPTX[..], &["--opt="]].concat(),
            UsageError::NoValue(text("--opt")),
        ),
        (
            [&NVPTX[..], &["-L"]].concat(),
            UsageError::NoValue(text("-L")),
        ),
        (
            [&NVPTX[..], &["--export-symbol", "a*"]].concat(),
            UsageError::ExportName(text("a*")),
        ),
        (
            [&NVPTX[..], &["--export-symbol", "a b"]].concat(),
            UsageError::ExportName(text("a b")),
        ),
        (
            [&NVPTX[..], &["--opt=other"]].concat(),
            UsageError::Twice("--opt", text("t/opt"), text("other")),
        ),
        (
            [&without(&NVPTX, "--target", 1)[..], &["--target=bpfel"]].concat(),
            UsageError::Target(text("bpfel")),
        ),
    ] {
        assert_eq!(read(&argv), Err(error), "{argv:?}");
    }
    assert_eq!(ptx(&[&NVPTX[..], &["--opt=t/opt"]].concat()), ptx(&NVPTX));
    let text = tool("opt").to_string();
    assert!(text.contains("-Clink-arg=--opt=PATH"), "{text}");
}

#[test]
fn amdgcn_becomes_lld() {
    let job = elf(&AMDGCN);
    let expected = [
        "--version-script=out/list",
        "--no-undefined-version",
        "out/k.rcgu.o",
        "-L",
        "out/raw",
        "-z",
        "noexecstack",
        "--gc-sections",
        "-shared",
        "-O1",
    ];
    assert_eq!(job.arguments, expected);
    assert_eq!(
        (job.output, job.lld),
        ("out/k.elf".into(), "t/ld.lld".into())
    );
}

#[test]
fn amdgcn_soname_is_dropped_however_it_is_written() {
    let plain = elf(&without(&AMDGCN, "-Wl,-soname", 0));
    for more in [
        &["-Wl,-soname,x.elf"][..],
        &["-Xlinker", "--soname=a,b"],
        &["-Wl,-h", "-Wl,x"],
    ] {
        let job = elf(&[&without(&AMDGCN, "-Wl,-soname", 0)[..], more].concat());
        assert_eq!(job, plain);
    }
}

#[test]
fn amdgcn_mistakes_are_named() {
    for (argv, error) in [
        (
            without(&AMDGCN, "--lld", 0),
            UsageError::MissingTool { tool: "lld" },
        ),
        (without(&AMDGCN, "-o", 1), UsageError::Missing("-o")),
        (without(&AMDGCN, "out/k.rcgu", 0), UsageError::NoInputs),
        (
            [&AMDGCN[..], &["-lm"]].concat(),
            UsageError::Unknown("-lm".to_owned()),
        ),
        (
            [&AMDGCN[..], &["--opt=x"]].concat(),
            UsageError::PtxOnly("--opt=x".to_owned()),
        ),
        (
            [&AMDGCN[..], &["-Xlinker"]].concat(),
            UsageError::NoValue("-Xlinker".to_owned()),
        ),
    ] {
        assert_eq!(read(&argv), Err(error), "{argv:?}");
    }
}

#[test]
fn help_and_version_win() {
    assert_eq!(read(&["-o", "x", "--help"]), Ok(Request::Help));
    assert_eq!(read(&["--version"]), Ok(Request::Version));
    assert_eq!(read(&[]), Err(UsageError::Missing("--target")));
}
