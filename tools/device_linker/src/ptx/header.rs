//! The check of llc's output: is it PTX for the GPU that was asked for?
//!
//! llc exits 0 on a GPU that it has never heard of. It copies the name into `.target`, so that line
//! alone proves nothing; but it falls back to the oldest PTX ISA, and mentions it in a warning.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::LinkError;

/// How much of the PTX is read: the header stands within the first few hundred bytes.
const PREFIX: u64 = 8192;

/// The PTX ISA of sm_70, the oldest GPU that rustc compiles for.
const OLDEST_ISA: (u32, u32) = (6, 0);

/// Checks the file `ptx`, of which llc said `warnings`.
pub fn check(ptx: &Path, wanted: &str, warnings: &str) -> Result<(), LinkError> {
    let mut head = Vec::new();
    File::open(ptx)
        .and_then(|file| file.take(PREFIX).read_to_end(&mut head))
        .map_err(LinkError::io("read llc's", ptx))?;
    check_text(&String::from_utf8_lossy(&head), wanted, warnings)
}

fn check_text(ptx: &str, wanted: &str, warnings: &str) -> Result<(), LinkError> {
    if let Some((name, why)) = unrecognised(warnings) {
        return Err(LinkError::UnknownToLlc { name, why });
    }
    let missing = |line: &str| LinkError::Output {
        tool: "llc",
        what: format!("no PTX: there is no `{line}` line"),
    };
    let target = directive(ptx, ".target").ok_or_else(|| missing(".target"))?;
    if target != wanted {
        return Err(LinkError::WrongTarget {
            wanted: wanted.to_owned(),
            got: target.to_owned(),
        });
    }
    let version = directive(ptx, ".version").ok_or_else(|| missing(".version"))?;
    match isa(version) {
        Some(isa) if isa >= OLDEST_ISA => Ok(()),
        _ => Err(LinkError::UnknownToLlc {
            name: wanted.to_owned(),
            why: format!("it wrote PTX ISA {version}"),
        }),
    }
}

/// LLVM's warning of an unknown GPU or feature, as the name and the whole line.
fn unrecognised(warnings: &str) -> Option<(String, String)> {
    let line = warnings.lines().find(|line| {
        line.contains("is not a recognized processor")
            || line.contains("is not a recognized feature")
    })?;
    let name = line.split('\'').nth(1).unwrap_or_default();
    Some((name.to_owned(), line.trim().to_owned()))
}

/// The first operand of a directive: in `.target` options such as `debug` follow after a comma.
fn directive<'a>(ptx: &'a str, name: &str) -> Option<&'a str> {
    ptx.lines()
        .find_map(|line| line.trim_start().strip_prefix(name))
        .and_then(|rest| rest.split(',').next())
        .map(str::trim)
}

fn isa(version: &str) -> Option<(u32, u32)> {
    let (major, minor) = version.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ptx(version: &str, target: &str) -> String {
        format!("//\n// x\n//\n\n.version {version}\n.target {target}\n.address_size 64\n")
    }

    #[test]
    fn accepts_what_was_asked_for() {
        for (version, target, wanted) in [
            ("7.8", "sm_90", "sm_90"),
            ("6.0", "sm_70, debug", "sm_70"),
            ("12.10", "sm_120f", "sm_120f"),
        ] {
            check_text(&ptx(version, target), wanted, "").unwrap();
        }
    }

    #[test]
    fn refuses_everything_else() {
        let unknown = "'sm_91' is not a recognized processor for this target (ignoring processor)";
        let feature = "'+ptx' is not a recognized feature for this target (ignoring feature)";
        for (text, wanted, warnings, expected) in [
            (
                ptx("7.8", "sm_90a"),
                "sm_90",
                "",
                "asked for `sm_90` but wrote PTX for `sm_90a`",
            ),
            (
                ptx("3.2", "sm_91"),
                "sm_91",
                "",
                "does not know `sm_91` (it wrote PTX ISA 3.2)",
            ),
            (
                ptx("9.0", "sm_91"),
                "sm_91",
                unknown,
                "does not know `sm_91` ('sm_91' is not",
            ),
            (
                ptx("9.0", "sm_90"),
                "sm_90",
                feature,
                "does not know `+ptx`",
            ),
            (ptx("x", "sm_90"), "sm_90", "", "PTX ISA x"),
            (String::new(), "sm_90", "", "no `.target` line"),
            (
                ".target sm_90\n".to_owned(),
                "sm_90",
                "",
                "no `.version` line",
            ),
        ] {
            let error = check_text(&text, wanted, warnings).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
