//! Response files (`@FILE`): rustc writes one where the command line would be too long to spawn.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{LinkError, UsageError};

/// More than any real link needs; it bounds the memory that a wrong file can cost.
const LIMIT: u64 = 64 << 20;

/// Replaces each `@FILE` by the arguments in it.
pub fn expand(argv: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>, LinkError> {
    let mut out = Vec::new();
    for arg in argv {
        match arg.to_str().and_then(|text| text.strip_prefix('@')) {
            Some(path) => out.extend(read(Path::new(path))?),
            None => out.push(arg),
        }
    }
    Ok(out)
}

fn read(path: &Path) -> Result<Vec<OsString>, LinkError> {
    let file = File::open(path).map_err(LinkError::io("open the response file", path))?;
    let mut text = String::new();
    file.take(LIMIT + 1)
        .read_to_string(&mut text)
        .map_err(LinkError::io("read the response file", path))?;
    if text.len() as u64 > LIMIT {
        let path = path.to_path_buf();
        return Err(UsageError::ResponseTooLarge { path, limit: LIMIT }.into());
    }
    split(&text, path).map_err(LinkError::from)
}

/// One argument a line; a backslash takes the next character as it is.
fn split(text: &str, path: &Path) -> Result<Vec<OsString>, UsageError> {
    text.lines()
        .filter(|line| !line.is_empty())
        .map(|line| {
            let mut arg = String::with_capacity(line.len());
            let mut chars = line.chars();
            while let Some(c) = chars.next() {
                arg.push(if c == '\\' {
                    chars.next().unwrap_or(c)
                } else {
                    c
                });
            }
            match arg.strip_prefix('@') {
                Some(inner) => Err(UsageError::NestedResponse {
                    path: PathBuf::from(path),
                    inner: inner.to_owned(),
                }),
                None => Ok(arg.into()),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_as_rustc_writes_them() {
        let got = split("-o\nout/a\\ b.ptx\n\nx\\\\y\nz\\", Path::new("r")).unwrap();
        assert_eq!(got, ["-o", "out/a b.ptx", "x\\y", "z\\"]);
    }

    #[test]
    fn nested_is_refused() {
        let error = split("@again", Path::new("r")).unwrap_err();
        assert!(error.to_string().contains("`again`"), "{error}");
    }

    #[test]
    fn expands_in_place() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("args");
        std::fs::write(&file, "-O3\nb.o\n").unwrap();
        let at: OsString = format!("@{}", file.display()).into();
        let got = expand(["a.o".into(), at, "c.o".into()]).unwrap();
        assert_eq!(got, ["a.o", "-O3", "b.o", "c.o"]);
        let error = expand([OsString::from("@no/such/file")]).unwrap_err();
        assert!(error.to_string().contains("no/such/file"), "{error}");
    }
}
