//! Arguments from a file: `@FILE` stands for its lines, one argument each, as Bazel's
//! `Args.set_param_file_format("multiline")` writes them: no quoting, no nesting.

use std::ffi::OsString;
use std::path::Path;

use crate::failure::Failure;
use crate::files;

/// Replaces every `@FILE` by the file's lines. The value after a `--flag` is never one: labels of
/// other repositories start with the same sign.
pub fn expand(args: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>, Failure> {
    let mut found: Vec<OsString> = Vec::new();
    let mut after_flag = true;
    for arg in args {
        let text = arg.to_str().unwrap_or_default();
        match text.strip_prefix('@').filter(|_| !after_flag) {
            Some(path) => {
                let bytes = files::read(Path::new(path))?;
                let lines = String::from_utf8(bytes)
                    .map_err(|_| Failure::unreadable(format!("{path}: it is not UTF-8")))?;
                found.extend(lines.lines().map(OsString::from));
                after_flag = false;
            }
            None => {
                // The program's own name counts as one too, whatever it is called.
                after_flag = text.starts_with("--") && !text.contains('=');
                found.push(arg);
            }
        }
    }
    Ok(found)
}
