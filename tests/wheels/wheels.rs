//! What the tests of published wheels share: `offload inspect`, and readers that are not ours, on
//! each library of a wheel, as lists of the same words.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::LazyLock;

use serde_json::{json, Value};
use sha2::{Digest, Sha256};
use support::{assert_same, kinds, path, paths, run, run_in, scratch, stdout};

/// What `inspect` says of each library of the wheel, by the library's name.
static FOUND: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let of = |path: &PathBuf| (name(path), inspect(path));
    paths("LIBRARIES").iter().map(of).collect()
});

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Where a library of the wheel lies.
pub fn path_of(library: &str) -> PathBuf {
    let mut paths = paths("LIBRARIES").into_iter();
    paths
        .find(|path| name(path) == library)
        .unwrap_or_else(|| panic!("the wheel has no library {library}"))
}

/// The report of one file, in which nothing is amiss.
fn inspect(file: &Path) -> Value {
    let args = ["inspect", "--format=json", file.to_str().unwrap()];
    let output = run("OFFLOAD", args);
    let mut report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{}: {error}: {output:?}", file.display()));
    let report = report["files"][0].take();
    let none = images(&report).is_empty();
    let code = output.status.code();
    assert_eq!(code, Some(if none { 4 } else { 0 }), "{}", file.display());
    assert_eq!(report["problems"], json!([]), "{}", file.display());
    for image in images(&report) {
        assert_eq!(image["mismatch"], false, "{}: {image}", file.display());
    }
    report
}

fn images(report: &Value) -> &[Value] {
    report["images"].as_array().unwrap()
}

/// The images that `inspect` finds in a library of the wheel.
pub fn found(library: &str) -> &'static [Value] {
    images(&FOUND[library])
}

/// What the library holds, in a word of `inspect`.
pub fn state(library: &str) -> &'static str {
    text(&FOUND[library]["state"])
}

/// That the test's tables name every library of the wheel, each once.
pub fn assert_all_named<'n>(tables: impl IntoIterator<Item = &'n str>) {
    let named: Vec<String> = tables.into_iter().map(str::to_owned).collect();
    let there: Vec<String> = FOUND.keys().cloned().collect();
    assert_same("the libraries that the test knows", &named, &there);
}

/// That the wheel itself, unopened, holds what its libraries hold, each at the same place in it.
pub fn assert_wheel_holds_its_libraries() {
    let wheel = inspect(&path("WHEEL"));
    let whole = images(&wheel).iter().map(|image| {
        let (library, member) = image["member"].as_array().unwrap().split_first().unwrap();
        let container = text(&image["container"]).strip_prefix("zip/").unwrap();
        row(&name(Path::new(text(library))), member, container, image)
    });
    let parts = FOUND.iter().flat_map(|(library, report)| {
        images(report).iter().map(|image| {
            let member = image["member"].as_array().unwrap();
            row(library, member, text(&image["container"]), image)
        })
    });
    assert_same(
        "the wheel",
        &whole.collect::<Vec<_>>(),
        &parts.collect::<Vec<_>>(),
    );
}

fn row(library: &str, member: &[Value], container: &str, image: &Value) -> String {
    const REST: [&str; 7] = [
        "section",
        "offset",
        "compression",
        "size",
        "arch",
        "kind",
        "sha256",
    ];
    let rest = REST.map(|field| image[field].to_string()).join(" ");
    let member = Value::from(member);
    format!("{library} {member} {container} {rest}")
}

/// `sm_80 cubin` of each image, by `cuobjdump`; what it says where it fails.
pub fn cuobjdump_lists(library: &str) -> Result<Vec<String>, String> {
    cuobjdump(library, Path::new("."), &["-all", "-lelf", "-lptx"]).map(|out| {
        let listed = |line: &str| line.starts_with("ELF file ") || line.starts_with("PTX file ");
        let lines = out.lines().filter(|line| listed(line));
        lines.map(arch_and_kind).collect()
    })
}

/// `sm_80 cubin` and the sha256 of each image, as `cuobjdump` extracts it.
pub fn cuobjdump_extracts(library: &str) -> Vec<String> {
    let folder = scratch(&format!("{library}.images"));
    fs::create_dir(&folder).unwrap();
    let args = ["-all", "-xelf", "all", "-xptx", "all"];
    cuobjdump(library, &folder, &args).unwrap();
    let files = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .map(|file| {
            let hash = Sha256::digest(fs::read(&file).unwrap());
            format!("{} {hash:x}", arch_and_kind(&name(&file)))
        })
        .collect()
}

/// `sm_80 NAME` of each kernel in each cubin, by `cuobjdump`.
pub fn cuobjdump_kernels(library: &str) -> Vec<String> {
    let out = cuobjdump(library, Path::new("."), &["-all", "-res-usage"]).unwrap();
    let mut arch = "";
    let mut function = None;
    let mut kernels = Vec::new();
    for line in out.lines() {
        if let Some(of) = line.strip_prefix("arch = ") {
            arch = of;
        } else if let Some(of) = line.strip_prefix(" Function ") {
            function = Some(of.trim_end_matches(':'));
        } else if let Some(name) = function.take() {
            // Constants of bank 0 are a kernel's arguments; functions of the device have none.
            if line.contains("CONSTANT[0]") {
                kernels.push(format!("{arch} {name}"));
            }
        }
    }
    kernels
}

/// Runs it on a library in a folder. No device code is an answer, for which it has an exit code.
fn cuobjdump(library: &str, folder: &Path, args: &[&str]) -> Result<String, String> {
    let file = path_of(library);
    let args = args.iter().copied().chain([file.to_str().unwrap()]);
    let Output {
        status,
        stdout,
        stderr,
    } = run_in(folder, "CUOBJDUMP", args);
    let said = String::from_utf8_lossy(&stderr).into_owned();
    match status.code() {
        Some(0) => Ok(String::from_utf8(stdout).unwrap()),
        Some(255) if said.contains("does not contain device code") => Ok(String::new()),
        _ => Err(said),
    }
}

/// Of a name as `cuobjdump` makes them: `libx.1.sm_80.cubin`.
fn arch_and_kind(name: &str) -> String {
    let mut words = name.rsplit('.');
    let (kind, arch) = (words.next().unwrap(), words.next().unwrap());
    format!("{arch} {kind}")
}

/// `gfx90a gfx` and the size in bytes of each image, by `llvm-readelf`.
pub fn llvm_lists(library: &str) -> Vec<String> {
    let out = stdout(
        "READELF",
        ["--offloading", path_of(library).to_str().unwrap()],
    );
    out.lines()
        .filter(|line| line.starts_with("hip"))
        .map(|line| {
            let (id, place) = line.split_once('\t').unwrap();
            let (_, arch) = id.split_once("--").unwrap();
            let (_, size) = place.rsplit_once("size=").unwrap();
            format!("{arch} gfx {size}")
        })
        .collect()
}

/// `sm_80 cubin` and more of each image, by our account.
pub fn ours(library: &str, more: &str) -> Vec<String> {
    let images = found(library).iter();
    images
        .map(|image| {
            let kind = kinds(std::slice::from_ref(image)).remove(0);
            match &image[more] {
                Value::String(text) => format!("{kind} {text}"),
                other => format!("{kind} {other}"),
            }
        })
        .collect()
}

/// `sm_80 NAME` of each kernel in each cubin, by our account.
pub fn our_kernels(library: &str) -> Vec<String> {
    let cubins = found(library)
        .iter()
        .filter(|image| image["kind"] == "cubin");
    cubins
        .flat_map(|image| {
            let names = image["kernels"].as_array().unwrap().iter();
            names.map(|name| format!("{} {}", text(&image["arch"]), text(name)))
        })
        .collect()
}

/// The rows of a list in `expected/`.
pub fn pinned(list: &str) -> Vec<String> {
    list.lines().map(str::to_owned).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
