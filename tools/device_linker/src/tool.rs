//! Running one of the toolchain's programs.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::error::LinkError;

/// How much of a tool's error text is passed on. A broken module can make LLVM print all of it.
const MAX_TEXT: u64 = 16 << 10;

/// Runs `command`; its standard output is dropped. Its error text becomes part of the error, or
/// where it succeeds is returned, for what LLVM only warns of.
pub fn run(tool: &'static str, path: &Path, command: &mut Command) -> Result<String, LinkError> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| cannot_run(path, source))?;
    let text = child.stderr.take().map(bounded).transpose();
    let status = child.wait().map_err(LinkError::io("wait for", path))?;
    let stderr = text
        .map_err(LinkError::io("read the errors of", path))?
        .unwrap_or_default();
    if status.success() {
        return Ok(stderr);
    }
    Err(LinkError::Tool {
        tool,
        path: path.to_path_buf(),
        status,
        stderr,
    })
}

fn cannot_run(path: &Path, source: io::Error) -> LinkError {
    LinkError::Io {
        what: "run",
        path: path.to_path_buf(),
        source,
    }
}

/// Keeps the beginning, where the first error stands, and reads the rest away: a tool whose pipe
/// is full would wait for ever.
fn bounded(mut pipe: impl Read) -> io::Result<String> {
    let mut kept = Vec::new();
    (&mut pipe).take(MAX_TEXT).read_to_end(&mut kept)?;
    let dropped = io::copy(&mut pipe, &mut io::sink())?;
    let mut text = String::from_utf8_lossy(&kept).trim_end().to_owned();
    if dropped > 0 {
        text.push_str(&format!("\n… and {dropped} bytes more"));
    }
    Ok(text)
}

/// A question to an LLVM tool for its version, asked in the background: one answer takes tens of
/// milliseconds, nearly all of them for loading LLVM, which the link itself need not wait for.
#[derive(Debug)]
pub struct VersionQuery {
    tool: &'static str,
    path: PathBuf,
    child: Option<Child>,
}

impl VersionQuery {
    pub fn ask(tool: &'static str, path: &Path) -> Result<Self, LinkError> {
        let child = Command::new(path)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| cannot_run(path, source))?;
        Ok(VersionQuery {
            tool,
            path: path.to_path_buf(),
            child: Some(child),
        })
    }

    /// The major version of LLVM.
    pub fn major(mut self) -> Result<u32, LinkError> {
        let printed = match self.child.take() {
            Some(mut child) => {
                let text = child.stdout.take().map(bounded).transpose();
                child
                    .wait()
                    .map_err(LinkError::io("wait for", &self.path))?;
                text.map_err(LinkError::io("read the version of", &self.path))?
                    .unwrap_or_default()
            }
            None => String::new(),
        };
        parse_major(&printed).ok_or_else(|| LinkError::ToolVersion {
            tool: self.tool,
            path: self.path.clone(),
            printed: printed.chars().take(200).collect(),
        })
    }
}

/// A link that fails before the answer is wanted must not leave a process behind.
impl Drop for VersionQuery {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended already, which is just as well.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// From `LLVM version 22.1.8`, with a distribution's name before it or not.
fn parse_major(printed: &str) -> Option<u32> {
    let (_, rest) = printed.split_once("LLVM version ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit());
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let debian = "Debian LLVM version 22.1.8\n  Optimized build.\n";
        assert_eq!(parse_major(debian), Some(22));
        let plain = "LLVM (http://llvm.org/):\n  LLVM version 23.0.0git\n";
        assert_eq!(parse_major(plain), Some(23));
        assert_eq!(parse_major("LLVM version x"), None);
        assert_eq!(parse_major(""), None);
    }

    #[test]
    fn long_texts_are_cut() {
        let text = bounded(&vec![b'x'; 20 << 10][..]).unwrap();
        assert!(text.ends_with("x\n… and 4096 bytes more"), "{}", text.len());
        assert_eq!(bounded(&b"short\n"[..]).unwrap(), "short");
    }

    #[test]
    fn a_tool_that_is_not_there_is_named() {
        let _turn = crate::testing::turn();
        let path = Path::new("no/such/opt");
        let error = run("opt", path, &mut Command::new(path)).unwrap_err();
        assert!(
            error.to_string().contains("cannot run no/such/opt"),
            "{error}"
        );
    }
}
