//! Arguments from a file: `@FILE` stands for its lines, one argument each, as Bazel's
//! `Args.set_param_file_format("multiline")` writes them: no quoting, no nesting.

use std::ffi::OsString;
use std::path::Path;

use crate::failure::Failure;
use crate::files;

/// Flags with two values; all others have one, or none.
const TWO: [&str; 2] = ["--origin", "--allow"];

/// Replaces every `@FILE` by the file's lines. What a `--flag` may have as its values is never one:
/// labels of other repositories start with the same sign.
pub fn expand(args: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>, Failure> {
    let mut found: Vec<OsString> = Vec::new();
    // The program's own name is none either, whatever it is called.
    let mut values = 1;
    for arg in args {
        let text = arg.to_str().unwrap_or_default();
        match text.strip_prefix('@').filter(|_| values == 0) {
            Some(path) => {
                let bytes = files::read(Path::new(path))?;
                let lines = String::from_utf8(bytes)
                    .map_err(|_| Failure::unreadable(format!("{path}: it is not UTF-8")))?;
                found.extend(lines.lines().map(OsString::from));
            }
            None => {
                values = match text {
                    flag if TWO.contains(&flag) => 2,
                    flag if flag.starts_with("--") => usize::from(!flag.contains('=')),
                    _ => values.saturating_sub(1),
                };
                found.push(arg);
            }
        }
    }
    Ok(found)
}
