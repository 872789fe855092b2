use super::*;
use crate::args::OptLevel;
use crate::testing::{bitcode, names, script, turn};
use std::fs;
use std::path::PathBuf;

/// Writes its arguments to `TOOL.args` and, to the file after `-o`, what `write` prints.
fn fake(folder: &Path, tool: &str, version: u32, write: &str) -> PathBuf {
    let body = format!(
        "if [ \"$1\" = --version ]; then echo 'Some LLVM version {version}.1.8'; exit 0; fi\n\
         printf '%s\\n' \"$@\" > '{}/{tool}.args'\n\
         while [ \"$1\" != -o ]; do shift; done\n\
         {{ {write}; }} > \"$2\"",
        folder.display()
    );
    script(folder, tool, &body)
}

const PTX: &str = "printf '.version 7.8\\n.target sm_90\\n'";

struct Bench {
    folder: tempfile::TempDir,
    job: PtxJob,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let out = path.join("out");
        fs::create_dir(&out).unwrap();
        fs::write(path.join("k.o"), bitcode("LLVM22.1.8-rust-1.97.1-stable")).unwrap();
        let job = PtxJob {
            inputs: vec![path.join("k.o")],
            output: out.join("k.ptx"),
            exports: vec!["one".into(), "two".into()],
            cpu: "sm_90".into(),
            features: None,
            level: OptLevel::O3,
            keep_debug: false,
            llvm_link: fake(path, "llvm-link", 22, "echo linked"),
            opt: fake(path, "opt", 22, "echo optimised"),
            llc: fake(path, "llc", 22, PTX),
        };
        Bench { folder, job }
    }

    fn fake(&self, tool: &str, version: u32, write: &str) -> PathBuf {
        fake(self.folder.path(), tool, version, write)
    }

    fn out(&self) -> Vec<String> {
        names(&self.folder.path().join("out"))
    }

    fn args(&self, tool: &str) -> String {
        fs::read_to_string(self.folder.path().join(format!("{tool}.args"))).unwrap()
    }

    /// Links, expecting a failure that leaves nothing behind, not even an older output.
    fn fails(&self) -> String {
        fs::write(&self.job.output, "old").unwrap();
        let error = link(&self.job).unwrap_err();
        assert_eq!(self.out(), [""; 0]);
        assert_eq!(error.exit_code(), 1);
        error.to_string()
    }
}

#[test]
fn success_leaves_the_output_alone() {
    let _turn = turn();
    let bench = Bench::new();
    link(&bench.job).unwrap();
    assert_eq!(bench.out(), ["k.ptx"]);
    let ptx = fs::read_to_string(&bench.job.output).unwrap();
    assert_eq!(ptx, ".version 7.8\n.target sm_90\n");
    assert!(bench
        .args("llvm-link")
        .starts_with("--ignore-non-bitcode\n"));
    let opt = bench.args("opt");
    let passes = "--passes=internalize,globaldce,default<O3>,internalize,globaldce\n";
    assert!(
        opt.contains(passes) && opt.ends_with("--strip-debug\n"),
        "{opt}"
    );
    let llc = bench.args("llc");
    assert!(
        llc.starts_with("--mcpu=sm_90\n") && !llc.contains("mattr"),
        "{llc}"
    );
}

#[test]
fn options_reach_the_tools() {
    let _turn = turn();
    let mut bench = Bench::new();
    bench.job.features = Some("+ptx80".into());
    bench.job.level = OptLevel::Oz;
    bench.job.keep_debug = true;
    // This opt also tells what the list of exports held.
    let list =
        "sed 's/^/kept /' \"${3#--internalize-public-api-file=}\"; cp \"${3#*=}\" \"$0.list\"";
    bench.job.opt = bench.fake("opt", 22, list);
    link(&bench.job).unwrap();
    assert!(bench.args("llc").contains("--mattr=+ptx80\n"));
    let opt = bench.args("opt");
    assert!(
        opt.contains("default<Oz>") && !opt.contains("strip-debug"),
        "{opt}"
    );
    let list = fs::read_to_string(bench.folder.path().join("opt.list")).unwrap();
    assert_eq!(list, "one\ntwo\n");
}

/// Adds `core` where a sysroot has it, and lets llvm-link note each of its calls.
fn with_core(bench: &mut Bench) {
    let folder = bench
        .folder
        .path()
        .join("lib/rustlib/nvptx64-nvidia-cuda/lib");
    fs::create_dir_all(&folder).unwrap();
    let core = folder.join("libcore.rlib");
    fs::write(&core, bitcode("LLVM22.1.8-rust-1.97.1-stable")).unwrap();
    bench.job.inputs.insert(0, core);
    bench.job.llvm_link = bench.fake("llvm-link", 22, "echo; cat \"$0.args\" >> \"$0.calls\"");
}

/// The arguments of each call of llvm-link, the names of files alone.
fn merges(bench: &Bench) -> Vec<String> {
    let calls = fs::read_to_string(bench.folder.path().join("llvm-link.calls")).unwrap();
    let names = calls.lines().map(|arg| arg.rsplit('/').next().unwrap());
    let names: Vec<&str> = names.collect();
    let calls = names.split(|name| *name == "--ignore-non-bitcode");
    calls.skip(1).map(|call| call.join(" ")).collect()
}

#[test]
fn of_the_sysroot_what_is_needed() {
    let _turn = turn();
    let mut bench = Bench::new();
    with_core(&mut bench);
    link(&bench.job).unwrap();
    assert_eq!(
        merges(&bench),
        [
            "k.o -o crates.bc",
            "--only-needed crates.bc libcore.rlib -o linked.bc"
        ]
    );
}

/// A library may need another that comes before it: then nothing is left out.
#[test]
fn of_the_sysroot_all_where_something_is_missing() {
    let _turn = turn();
    let mut bench = Bench::new();
    with_core(&mut bench);
    let missing = format!("{PTX}; echo '.extern .func missing'");
    bench.job.llc = bench.fake("llc", 22, &missing);
    link(&bench.job).unwrap();
    assert_eq!(
        merges(&bench)[1..],
        [
            "--only-needed crates.bc libcore.rlib -o linked.bc",
            "crates.bc libcore.rlib -o linked.bc"
        ]
    );
}

/// Where no library was passed over, there is nothing to link again.
#[test]
fn without_a_sysroot_what_is_missing_is_linked_once() {
    let _turn = turn();
    let mut bench = Bench::new();
    with_core(&mut bench);
    bench.job.inputs.remove(0);
    let missing = format!("{PTX}; echo '.extern .func missing'");
    bench.job.llc = bench.fake("llc", 22, &missing);
    link(&bench.job).unwrap();
    assert_eq!(
        merges(&bench)[1..],
        ["--only-needed crates.bc -o linked.bc"]
    );
}

#[test]
fn a_sysroot_is_told_by_its_folders() {
    for (path, wanted) in [
        (
            "sysroot/lib/rustlib/nvptx64-nvidia-cuda/lib/libcore.rlib",
            true,
        ),
        ("rustlib/pkg/libcore.rlib", false),
        ("rustlib/lib/libk.rlib", false),
        ("lib/rustlib/lib/libk.rlib", false),
        ("lib/libcore.rlib", false),
        ("libcore.rlib", false),
    ] {
        assert_eq!(is_of_sysroot(Path::new(path)), wanted, "{path}");
    }
}

#[test]
fn each_tool_that_fails_is_named_with_what_it_said() {
    let _turn = turn();
    for tool in ["llvm-link", "opt", "llc"] {
        let mut bench = Bench::new();
        let path = bench.fake(tool, 22, "echo half; echo 'no such thing' >&2; exit 7");
        match tool {
            "llvm-link" => bench.job.llvm_link = path,
            "opt" => bench.job.opt = path,
            _ => bench.job.llc = path,
        }
        let error = bench.fails();
        assert!(error.starts_with(&format!("{tool} (/")), "{error}");
        assert!(
            error.ends_with("failed: exit status: 7\nno such thing"),
            "{error}"
        );
    }
}

#[test]
fn tools_older_than_the_bitcode() {
    let _turn = turn();
    for tool in ["llvm-link", "opt", "llc"] {
        let mut bench = Bench::new();
        // What such a tool says itself is beside the point.
        let path = bench.fake(tool, 21, "echo 'Unknown attribute kind' >&2; exit 1");
        match tool {
            "llvm-link" => bench.job.llvm_link = path,
            "opt" => bench.job.opt = path,
            _ => bench.job.llc = path,
        }
        let error = bench.fails();
        let expected = format!("newer than {tool} 21 at /");
        assert!(error.contains(&expected), "{error}");
        assert!(
            error.contains("k.o was written by LLVM22.1.8-rust-1.97.1-stable"),
            "{error}"
        );
        assert!(error.contains("take LLVM 22 tools"), "{error}");
    }
}

#[test]
fn a_newer_tool_is_fine_and_one_without_a_version_is_not() {
    let _turn = turn();
    let mut bench = Bench::new();
    bench.job.llc = bench.fake("llc", 23, PTX);
    link(&bench.job).unwrap();
    bench.job.llc = script(bench.folder.path(), "llc", "echo hello");
    let error = bench.fails();
    assert!(
        error.contains("does not say which LLVM it is") && error.contains("hello"),
        "{error}"
    );
}

#[test]
fn a_tool_that_is_not_there() {
    let _turn = turn();
    let mut bench = Bench::new();
    bench.job.opt = "no/such/opt".into();
    let error = bench.fails();
    assert!(error.starts_with("cannot run no/such/opt: "), "{error}");
}

#[test]
fn output_that_is_not_what_was_asked_for() {
    let _turn = turn();
    let mut bench = Bench::new();
    bench.job.llc = bench.fake("llc", 22, "printf '.version 7.8\\n.target sm_80\\n'");
    assert!(bench
        .fails()
        .contains("asked for `sm_90` but wrote PTX for `sm_80`"));
    let warning = "'sm_90' is not a recognized processor for this target (ignoring processor)";
    bench.job.llc = bench.fake("llc", 22, &format!("{PTX}; echo \"{warning}\" >&2"));
    assert!(bench.fails().contains("does not know `sm_90`"));
    bench.job.llc = bench.fake("llc", 22, ":");
    assert!(bench.fails().contains("no PTX"));
}

#[test]
fn a_broken_input_is_no_job_for_the_tools() {
    let _turn = turn();
    let bench = Bench::new();
    fs::write(&bench.job.inputs[0], "text").unwrap();
    let error = link(&bench.job).unwrap_err();
    assert_eq!((error.exit_code(), bench.out()), (3, vec![]));
    assert!(!bench.folder.path().join("llvm-link.args").exists());
}
