//! What the artefact tests share: files of the build, and tools that read them.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use runfiles::Runfiles;
use serde_json::Value;

/// The files of the target that the test's BUILD file calls `name`.
pub fn paths(name: &str) -> Vec<PathBuf> {
    let list = env::var(name).unwrap_or_else(|_| panic!("the test has no file called {name}"));
    let runfiles = Runfiles::create().unwrap();
    list.split(' ')
        .map(|path| runfiles.rlocation(path).expect("a runfile"))
        .collect()
}

/// The only file of that target.
pub fn path(name: &str) -> PathBuf {
    let mut paths = paths(name);
    assert_eq!(paths.len(), 1, "{name} is {paths:?}");
    paths.remove(0)
}

/// A path for a file that the test writes.
pub fn scratch(name: &str) -> PathBuf {
    Path::new(&env::var_os("TEST_TMPDIR").unwrap()).join(name)
}

/// Runs a tool of the BUILD file, however it ends.
pub fn run<A: AsRef<OsStr>>(tool: &str, args: impl IntoIterator<Item = A>) -> Output {
    run_in(Path::new("."), tool, args)
}

/// Runs a tool in a folder: for those that write where they are run.
pub fn run_in<A: AsRef<OsStr>>(
    folder: &Path,
    tool: &str,
    args: impl IntoIterator<Item = A>,
) -> Output {
    let tool = path(tool);
    let mut command = Command::new(&tool);
    // NVIDIA's tools call one another by PATH; nothing of the machine may take part.
    command.args(args).env("PATH", "").current_dir(folder);
    command
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", tool.display()))
}

/// Runs a tool that has to succeed.
pub fn stdout<A: AsRef<OsStr>>(tool: &str, args: impl IntoIterator<Item = A>) -> String {
    let output = run(tool, args);
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(
        output.status.success(),
        "{tool}: {}\n{out}\n{err}",
        output.status
    );
    out
}

/// What `offload inspect` finds in a file.
pub fn images(file: &Path) -> Vec<Value> {
    let out = stdout(
        "OFFLOAD",
        [
            OsStr::new("inspect"),
            "--format=json".as_ref(),
            file.as_ref(),
        ],
    );
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["schema"], 1);
    assert_eq!(report["files"].as_array().unwrap().len(), 1);
    report["files"][0]["images"].as_array().unwrap().clone()
}

/// `sm_80 cubin` of every image, sorted.
pub fn kinds(images: &[Value]) -> Vec<String> {
    let kind = |image: &Value| {
        let word = |key: &str| image[key].as_str().unwrap_or("?").to_owned();
        format!("{} {}", word("arch"), word("kind"))
    };
    let mut kinds: Vec<String> = images.iter().map(kind).collect();
    kinds.sort();
    kinds
}

/// That two lists, in whatever order, name the same things equally often; or else how they differ.
#[track_caller]
pub fn assert_same(what: &str, ours: &[String], theirs: &[String]) {
    let mut surplus: BTreeMap<&str, i64> = BTreeMap::new();
    ours.iter()
        .for_each(|name| *surplus.entry(name).or_default() += 1);
    theirs
        .iter()
        .for_each(|name| *surplus.entry(name).or_default() -= 1);
    let differ: Vec<String> = surplus
        .into_iter()
        .filter(|(_, count)| *count != 0)
        .map(|(name, count)| match count > 0 {
            true => format!("  {count} too many: {name}"),
            false => format!("  {} missing: {name}", -count),
        })
        .collect();
    assert!(
        differ.is_empty(),
        "{what}: {} found, {} wanted\n{}",
        ours.len(),
        theirs.len(),
        differ.join("\n")
    );
}

/// Whether one run of bytes stands in another.
pub fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle)
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::assert_same;

    fn list(names: &str) -> Vec<String> {
        names.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn order_does_not_count() {
        assert_same("letters", &list("a b a"), &list("b a a"));
    }

    #[test]
    #[should_panic(expected = "letters: 3 found, 4 wanted\n  1 too many: a\n  2 missing: c")]
    fn how_often_counts() {
        assert_same("letters", &list("a b a"), &list("c b a c"));
    }
}
