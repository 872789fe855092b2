//! rustc's `gcc` dialect, turned into ld.lld's.
//!
//! The flavour is a C compiler's although no compiler is wanted, because some distributions' rustc
//! add `-Wl,-soname=…` to every shared object: under the plain `ld` flavour rustc stops at an
//! assertion on it. `gcc` is also one of the few flavours that stable rustc lets one name.

use std::ffi::OsString;

use super::{lossy, set, Cursor, ElfJob};
use crate::error::UsageError;

/// What only a C compiler's driver would act on.
const DRIVER_ONLY: [&str; 6] = [
    "-nodefaultlibs",
    "-nostartfiles",
    "-nostdlib",
    "-m64",
    "-static-libgcc",
    "-no-pie",
];

pub(super) fn parse(argv: Vec<OsString>) -> Result<ElfJob, UsageError> {
    let mut output = None;
    let mut lld = None;
    let mut out = Arguments::default();
    let mut inputs = 0;
    let mut cursor = Cursor(argv.into_iter());
    while let Some(arg) = cursor.0.next() {
        let Some(text) = arg.to_str().filter(|text| text.starts_with('-')) else {
            inputs += 1;
            out.list.push(arg);
            continue;
        };
        if let Some(path) = cursor.value(text, "--lld")? {
            set(&mut lld, "--lld", path)?;
        } else if let Some(path) = cursor.value(text, "-o")? {
            set(&mut output, "-o", path)?;
        } else if let Some(list) = text.strip_prefix("-Wl,") {
            list.split(',').for_each(|part| out.push(part.into()));
        } else if text == "-Xlinker" {
            let value = cursor.0.next();
            out.push(value.ok_or(UsageError::NoValue("-Xlinker".to_owned()))?);
        } else if text == "-L" {
            let value = cursor.0.next();
            out.list.push("-L".into());
            out.list
                .push(value.ok_or(UsageError::NoValue("-L".to_owned()))?);
        } else if text == "-shared" || text.starts_with("-L") {
            out.list.push(arg);
        } else if text.starts_with("--llvm-link")
            || text.starts_with("--opt")
            || text.starts_with("--llc")
        {
            return Err(UsageError::PtxOnly(lossy(&arg)));
        } else if !DRIVER_ONLY.contains(&text) && !text.starts_with("-fuse-ld=") {
            return Err(UsageError::Unknown(lossy(&arg)));
        }
    }
    if inputs == 0 {
        return Err(UsageError::NoInputs);
    }
    Ok(ElfJob {
        arguments: out.list,
        output: output.ok_or(UsageError::Missing("-o"))?.into(),
        lld: lld.ok_or(UsageError::Missing("--lld"))?.into(),
    })
}

/// ld.lld's arguments, less the soname: only patched compilers add one, a code object needs none,
/// and without it both give the same bytes whatever the output file is called.
#[derive(Default)]
struct Arguments {
    list: Vec<OsString>,
    skip_next: bool,
}

impl Arguments {
    fn push(&mut self, arg: OsString) {
        if std::mem::take(&mut self.skip_next) {
            return;
        }
        let text = arg.to_string_lossy();
        if matches!(&*text, "-soname" | "--soname" | "-h") {
            self.skip_next = true;
        } else if !text.starts_with("-soname=") && !text.starts_with("--soname=") {
            self.list.push(arg);
        }
    }
}
