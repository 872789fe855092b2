//! rustc's `llbc` dialect.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{lossy, set, Cursor, OptLevel, PtxJob};
use crate::error::UsageError;

const TARGET: &str = "nvptx64-nvidia-cuda";

#[derive(Default)]
struct Found {
    inputs: Vec<PathBuf>,
    exports: Vec<String>,
    level: OptLevel,
    keep_debug: bool,
    output: Option<OsString>,
    target: Option<OsString>,
    cpu: Option<OsString>,
    features: Option<OsString>,
    llvm_link: Option<OsString>,
    opt: Option<OsString>,
    llc: Option<OsString>,
}

pub(super) fn parse(argv: Vec<OsString>) -> Result<PtxJob, UsageError> {
    let mut found = Found::default();
    let mut cursor = Cursor(argv.into_iter());
    while let Some(arg) = cursor.0.next() {
        match arg.to_str() {
            Some(text) if text.starts_with('-') => option(text, &mut found, &mut cursor)?,
            _ => found.inputs.push(arg.into()),
        }
    }
    finish(found)
}

fn option(arg: &str, found: &mut Found, cursor: &mut Cursor) -> Result<(), UsageError> {
    let unknown = || UsageError::Unknown(arg.to_owned());
    if let Some(name) = cursor.value(arg, "--export-symbol")? {
        found.exports.push(export_name(name)?);
        return Ok(());
    }
    for (name, slot) in [
        ("--target", &mut found.target),
        ("--target-cpu", &mut found.cpu),
        ("--target-feature", &mut found.features),
        ("--llvm-link", &mut found.llvm_link),
        ("--opt", &mut found.opt),
        ("--llc", &mut found.llc),
        ("-o", &mut found.output),
    ] {
        if let Some(value) = cursor.value(arg, name)? {
            return set(slot, name, value);
        }
    }
    match arg {
        // rustc says so on every link, whether or not the crate has debug information.
        "--debug" => {}
        "--keep-debug" => found.keep_debug = true,
        // Search folders: rustc names each input by its path, so none is searched.
        "-L" => drop(
            cursor
                .0
                .next()
                .ok_or(UsageError::NoValue("-L".to_owned()))?,
        ),
        _ if arg.starts_with("-L") => {}
        _ => {
            let letter = arg.strip_prefix("-O").ok_or_else(unknown)?;
            found.level = OptLevel::parse(letter).ok_or_else(unknown)?;
        }
    }
    Ok(())
}

/// LLVM reads the names to keep from a file, one a line, as patterns: a name with a `*` in it
/// would keep more than itself, and the PTX writer would rename one with other characters, so that
/// the host could not find it.
fn export_name(name: OsString) -> Result<String, UsageError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
    match name.into_string() {
        Ok(text) if !text.is_empty() && text.chars().all(plain) => Ok(text),
        Ok(text) => Err(UsageError::ExportName(text)),
        Err(raw) => Err(UsageError::ExportName(lossy(&raw))),
    }
}

fn finish(found: Found) -> Result<PtxJob, UsageError> {
    let target = found.target.ok_or(UsageError::Missing("--target"))?;
    if target != TARGET {
        return Err(UsageError::Target(lossy(&target)));
    }
    if found.inputs.is_empty() {
        return Err(UsageError::NoInputs);
    }
    let tool = |slot: Option<OsString>, tool| match slot {
        Some(path) => Ok(PathBuf::from(path)),
        None => Err(UsageError::MissingTool { tool }),
    };
    let text = |value: OsString| {
        value
            .into_string()
            .map_err(|v| UsageError::Unknown(lossy(&v)))
    };
    Ok(PtxJob {
        inputs: found.inputs,
        output: found.output.ok_or(UsageError::Missing("-o"))?.into(),
        exports: found.exports,
        cpu: text(found.cpu.ok_or(UsageError::Missing("--target-cpu"))?)?,
        features: found.features.map(text).transpose()?,
        level: found.level,
        keep_debug: found.keep_debug,
        llvm_link: tool(found.llvm_link, "llvm-link")?,
        opt: tool(found.opt, "opt")?,
        llc: tool(found.llc, "llc")?,
    })
}
