//! Bitcode to PTX: `llvm-link`, `opt`, `llc`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::args::PtxJob;
use crate::error::LinkError;
use crate::inputs::{self, Newest};
use crate::tool::{run, VersionQuery};
use crate::workspace::Workspace;

mod externals;
mod header;
#[cfg(test)]
mod tests;

/// Carries out `job`.
pub fn link(job: &PtxJob) -> Result<(), LinkError> {
    let workspace = Workspace::new(&job.output, &job.inputs)?;
    let crates = workspace.file("crates.bc");
    let linked = workspace.file("linked.bc");
    let (library, own): (Vec<&Path>, Vec<&Path>) = job
        .inputs
        .iter()
        .map(|p| p.as_path())
        .partition(|p| is_of_sysroot(p));

    // Asked now and heard after llvm-link, which takes longer: the check costs no time, and where
    // llvm-link fails because it is too old, that is what the user is told.
    let mut versions = Vec::new();
    for (tool, path) in [
        ("llvm-link", &job.llvm_link),
        ("opt", &job.opt),
        ("llc", &job.llc),
    ] {
        versions.push((tool, path.as_path(), VersionQuery::ask(tool, path)?));
    }
    let newest = inputs::newest(&job.inputs)?;
    let outcome = merge(job, Take::All, &own, &crates);
    for (tool, path, version) in versions {
        let have = version.major()?;
        if let Some(newest) = &newest {
            not_older(tool, path, have, newest)?;
        }
    }
    outcome?;

    let inputs = [&[crates.as_path()], library.as_slice()].concat();
    merge(job, Take::Needed, &inputs, &linked)?;
    let ptx = compile(job, &workspace, &linked)?;
    // Each library was read once: what one needs of another that comes before it is not there yet.
    if !library.is_empty() && externals::any(&ptx)? {
        merge(job, Take::All, &inputs, &linked)?;
        compile(job, &workspace, &linked)?;
    }
    workspace.publish(&ptx)
}

/// Whether a file is one of rustc's own libraries: every sysroot has them in `rustlib/TARGET/lib`.
fn is_of_sysroot(path: &Path) -> bool {
    let mut folders = path.ancestors().skip(1).map(Path::file_name);
    folders.next() == Some(Some("lib".as_ref())) && folders.nth(1) == Some(Some("rustlib".as_ref()))
}

/// What llvm-link takes of its inputs but for the first, which it always takes whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Take {
    All,
    /// What those before it refer to. A kernel needs a sliver of `core`; the rest would be copied
    /// only to be dropped, which takes longer than all else here (benches/README.md).
    Needed,
}

fn merge(job: &PtxJob, take: Take, inputs: &[&Path], linked: &Path) -> Result<(), LinkError> {
    let mut command = Command::new(&job.llvm_link);
    command.arg("--ignore-non-bitcode");
    if take == Take::Needed {
        command.arg("--only-needed");
    }
    command.args(inputs).arg("-o").arg(linked);
    run("llvm-link", &job.llvm_link, &mut command).map(drop)
}

/// Optimises `linked` and compiles it; gives where the PTX is.
fn compile(job: &PtxJob, workspace: &Workspace, linked: &Path) -> Result<PathBuf, LinkError> {
    let optimised = workspace.file("optimised.bc");
    let exports = workspace.file("exports");
    let ptx = workspace.file("image.ptx");
    let names: String = job.exports.iter().map(|name| format!("{name}\n")).collect();
    std::fs::write(&exports, names).map_err(LinkError::io("write", &exports))?;
    let mut command = Command::new(&job.opt);
    command.arg(linked).arg("-o").arg(&optimised);
    command.arg(option("--internalize-public-api-file=", &exports));
    command.arg(passes(job));
    if !job.keep_debug {
        command.arg("--strip-debug");
    }
    run("opt", &job.opt, &mut command)?;

    // No -O for llc: its own default is what rustc's reference linker uses at every level, and
    // ptxas optimises once more after it.
    let mut command = Command::new(&job.llc);
    command.arg(format!("--mcpu={}", job.cpu));
    if let Some(features) = &job.features {
        command.arg(format!("--mattr={features}"));
    }
    command.arg(&optimised).arg("-o").arg(&ptx);
    let warnings = run("llc", &job.llc, &mut command)?;
    header::check(&ptx, &job.cpu, &warnings)?;
    Ok(ptx)
}

/// Internalising comes before optimising. Once only the kernels are public, what they do not use of
/// other crates is dead and goes before the costly passes see it. The reverse order gives the same
/// PTX and takes many times as long (benches/README.md).
/// The second round drops what became dead through inlining; at -O0 nothing else does.
fn passes(job: &PtxJob) -> String {
    format!(
        "--passes=internalize,globaldce,default<{}>,internalize,globaldce",
        job.level.llvm()
    )
}

fn option(name: &str, path: &Path) -> std::ffi::OsString {
    let mut text = std::ffi::OsString::from(name);
    text.push(path);
    text
}

fn not_older(tool: &'static str, path: &Path, have: u32, newest: &Newest) -> Result<(), LinkError> {
    if have >= newest.major {
        return Ok(());
    }
    Err(LinkError::ToolTooOld {
        file: newest.file.clone(),
        producer: newest.producer.clone(),
        tool,
        path: path.to_path_buf(),
        have,
        want: newest.major,
    })
}
