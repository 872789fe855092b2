//! The folder that images are written to. Nothing that is in it already is written over or followed.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::files;

pub struct Room<'a> {
    folder: &'a Path,
}

/// Why an image was not written.
#[derive(Debug)]
pub enum Refusal {
    /// Its name is taken by a link, a folder or the like.
    NoFile {
        path: PathBuf,
        what: &'static str,
    },
    /// Its name is taken by a file with other bytes.
    OtherBytes {
        path: PathBuf,
    },
    /// What has its name could not be compared with it.
    Compare {
        path: PathBuf,
        error: io::Error,
    },
    /// The folder does not take files.
    Folder {
        error: io::Error,
    },
    Write {
        path: PathBuf,
        error: io::Error,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mend = "remove it, or name another folder";
        match self {
            Self::NoFile { path, what } => write!(
                f,
                "{}: it is {what}, and an image has to be written there; {mend}",
                path.display()
            ),
            Self::OtherBytes { path } => write!(
                f,
                "{}: it is there already, with other bytes than the image of this name; {mend}",
                path.display()
            ),
            Self::Compare { path, error } => {
                write!(f, "{}: cannot read it: {error}; {mend}", path.display())
            }
            Self::Folder { error } => write!(f, "cannot write images {error}"),
            Self::Write { path, error } => {
                write!(f, "{}: cannot write it: {error}", path.display())
            }
        }
    }
}

impl<'a> Room<'a> {
    /// Makes the folder where it is not there.
    pub fn make(folder: &'a Path) -> Result<Self, Failure> {
        let told = |why: String| Err(Failure::unreadable(why));
        let shown = folder.display();
        match fs::metadata(folder) {
            Ok(there) if there.is_dir() => Ok(Self { folder }),
            Ok(_) => told(format!(
                "{shown}: it is no folder, and images have to be written into it; name another"
            )),
            Err(_) => match fs::create_dir_all(folder) {
                Ok(()) => Ok(Self { folder }),
                Err(error) => told(format!("{shown}: cannot make this folder: {error}")),
            },
        }
    }

    /// Writes an image under a temporary name and then renames it. Where a file of the same bytes
    /// is there, by an earlier run or by another thread, nothing is left to do.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Refusal> {
        let path = self.folder.join(name);
        if is_there(&path, bytes)? {
            return Ok(());
        }
        let mut file = files::temporary(self.folder).map_err(|error| Refusal::Folder { error })?;
        let wrong = |error| Refusal::Write {
            path: path.clone(),
            error,
        };
        // Straight to the file: the other way, errors name the temporary one.
        file.as_file_mut().write_all(bytes).map_err(wrong)?;
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(()),
            // Perhaps another thread was faster.
            Err(failed) => match is_there(&path, bytes)? {
                true => Ok(()),
                false => Err(wrong(failed.error)),
            },
        }
    }
}

/// Whether a file of these bytes is there; a refusal where it is something else.
fn is_there(path: &Path, bytes: &[u8]) -> Result<bool, Refusal> {
    let taken = path.to_owned();
    let about = match fs::symlink_metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Refusal::Compare { path: taken, error }),
    };
    let what = match about.file_type() {
        kind if kind.is_file() => {
            return match has(path, bytes) {
                Ok(true) => Ok(true),
                Ok(false) => Err(Refusal::OtherBytes { path: taken }),
                Err(error) => Err(Refusal::Compare { path: taken, error }),
            }
        }
        kind if kind.is_symlink() => "a link",
        kind if kind.is_dir() => "a folder",
        _ => "a pipe, a socket or a device",
    };
    Err(Refusal::NoFile { path: taken, what })
}

/// Whether a file has these bytes, read a piece at a time.
fn has(path: &Path, mut bytes: &[u8]) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let mut piece = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut piece)?;
        let (Some(piece), Some(wanted)) = (piece.get(..read), bytes.get(..read)) else {
            return Ok(false); // It has grown.
        };
        if piece != wanted {
            return Ok(false);
        }
        if read == 0 {
            return Ok(bytes.is_empty());
        }
        bytes = &bytes[read..];
    }
}
