//! What a command ends with when it does not succeed: an exit code and texts for people.

use std::fmt;
use std::io::{self, Write};

/// Exit code of a command that ran.
pub type Outcome = Result<u8, Failure>;

/// Why a command failed.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    texts: Vec<String>,
}

impl Failure {
    /// A check failed: exit code 1.
    pub fn failed(texts: Vec<String>) -> Self {
        Self { code: 1, texts }
    }

    /// Wrong usage: exit code 2.
    pub fn usage(text: impl Into<String>) -> Self {
        Self {
            code: 2,
            texts: vec![text.into()],
        }
    }

    /// Something could not be read or written, or is malformed: exit code 3.
    pub fn unreadable(text: impl Into<String>) -> Self {
        Self::all_unreadable(vec![text.into()])
    }

    /// As [`Failure::unreadable`], several at once.
    pub fn all_unreadable(texts: Vec<String>) -> Self {
        Self { code: 3, texts }
    }

    /// What printing came to. A reader that has seen enough (`| head`) is no failure, and no success
    /// either: the exit code is what it would have been.
    pub fn printed(result: io::Result<()>) -> Result<(), Self> {
        match result {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Self::unreadable(
                format!("cannot write the output: {error}"),
            )),
            _ => Ok(()),
        }
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        self.code
    }

    /// Prints every text, each with the tool's name before it.
    pub fn print(&self, err: &mut dyn Write) -> io::Result<()> {
        for text in &self.texts {
            let lines: Vec<String> = text.split('\n').map(clean).collect();
            writeln!(err, "offload: {}", lines.join("\n"))?;
        }
        Ok(())
    }
}

/// One thing that is wrong, told the same way everywhere.
#[derive(serde::Serialize)]
pub struct Complaint {
    /// What is wrong, and where.
    pub what: String,
    /// What should be there.
    pub wanted: String,
    /// What is there.
    pub found: String,
    /// How to put it right.
    pub mend: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", clean(&self.what))?;
        writeln!(f, "    wanted: {}", clean(&self.wanted))?;
        writeln!(f, "    found:  {}", clean(&self.found))?;
        write!(f, "    mend:   {}", clean(&self.mend))
    }
}

/// `//x:y: `, or nothing where no label was given.
pub fn prefix(label: &str) -> String {
    if label.is_empty() {
        String::new()
    } else {
        format!("{label}: ")
    }
}

/// How a text names the target to change.
pub fn named(label: &str) -> String {
    if label.is_empty() {
        "the target".to_owned()
    } else {
        label.to_owned()
    }
}

/// Text from a file that may hold anything, made safe for a terminal and for one line.
pub fn clean(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let (keep, escape) = if c.is_control() {
                (None, Some(c.escape_default()))
            } else {
                (Some(c), None)
            };
            keep.into_iter().chain(escape.into_iter().flatten())
        })
        .collect()
}

/// Names in a row, or a word for none; beyond `limit` only how many more there are.
pub fn list(names: &[String], limit: usize) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<String> = names.iter().take(limit).map(|name| clean(name)).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{}, and {more} more", shown.join(", ")),
    }
}
