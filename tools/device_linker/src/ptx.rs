//! Bitcode to PTX: `llvm-link`, `opt`, `llc`.

use std::path::Path;
use std::process::Command;

use crate::args::PtxJob;
use crate::error::LinkError;
use crate::inputs::{self, Newest};
use crate::tool::{run, VersionQuery};
use crate::workspace::Workspace;

mod header;
#[cfg(test)]
mod tests;

/// Carries out `job`.
pub fn link(job: &PtxJob) -> Result<(), LinkError> {
    let workspace = Workspace::new(&job.output, &job.inputs)?;
    let linked = workspace.file("linked.bc");
    let optimised = workspace.file("optimised.bc");
    let exports = workspace.file("exports");
    let ptx = workspace.file("image.ptx");

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
    let mut command = Command::new(&job.llvm_link);
    command.arg("--ignore-non-bitcode").args(&job.inputs);
    command.arg("-o").arg(&linked);
    let outcome = run("llvm-link", &job.llvm_link, &mut command);
    for (tool, path, version) in versions {
        let have = version.major()?;
        if let Some(newest) = &newest {
            not_older(tool, path, have, newest)?;
        }
    }
    outcome?;

    let names: String = job.exports.iter().map(|name| format!("{name}\n")).collect();
    std::fs::write(&exports, names).map_err(LinkError::io("write", &exports))?;
    let mut command = Command::new(&job.opt);
    command.arg(&linked).arg("-o").arg(&optimised);
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
    workspace.publish(&ptx)
}

/// Internalising comes before optimising. The inputs hold all of `core`, of which a kernel uses a
/// sliver; once only the kernels are public, the rest is dead and goes before the costly passes see
/// it. The reverse order gives the same PTX and takes many times as long (benches/README.md).
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
