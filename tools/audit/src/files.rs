//! Files and folders by their paths.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::map;
use crate::scan::{walk, Options, Sink};
use crate::source::Source;

pub use crate::map::Opened;

/// Something in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A file.
    File(PathBuf),
    /// A link, which is not followed: what is in the folder is found in its own place, and what is
    /// not is none of the folder's.
    Link {
        /// The link.
        path: PathBuf,
        /// What it points to.
        target: PathBuf,
        /// Whether that is outside of the folder, or not there.
        outside: bool,
    },
    /// Something that cannot be read, such as a folder of somebody else's. The rest is found.
    Fault {
        /// What it is.
        path: PathBuf,
        /// Why not.
        why: String,
    },
}

/// The files of a folder and of the folders in it, in the order of their names; for a file itself,
/// that file. A link that is given as `root` is followed. Sockets, pipes and devices are left out.
///
/// # Errors
/// The root is not there, or is a folder that cannot be reached.
pub fn list(root: &Path) -> io::Result<Vec<Found>> {
    if !fs::metadata(root)?.is_dir() {
        return Ok(vec![Found::File(root.to_owned())]);
    }
    let real = fs::canonicalize(root)?;
    let mut found = Vec::new();
    for entry in WalkDir::new(root).follow_links(false).sort_by_file_name() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                found.push(fault(root, error));
                continue;
            }
        };
        let path = entry.path();
        if entry.file_type().is_file() {
            found.push(Found::File(path.to_owned()));
        } else if entry.file_type().is_symlink() && entry.depth() > 0 {
            found.push(Found::Link {
                target: fs::read_link(path).unwrap_or_default(),
                outside: !fs::canonicalize(path).is_ok_and(|end| end.starts_with(&real)),
                path: path.to_owned(),
            });
        }
    }
    Ok(found)
}

fn fault(root: &Path, error: walkdir::Error) -> Found {
    let path = error.path().unwrap_or(root).to_owned();
    // By itself it would name the path once more.
    let why = match error.into_io_error() {
        Some(error) => error.to_string(),
        None => "it is in a circle of folders".to_owned(),
    };
    Found::Fault { path, why }
}

/// Tells a sink everything that is in a file.
///
/// # Errors
/// The file cannot be opened or read; faults in its bytes go to the sink.
pub fn scan_file(path: &Path, options: &Options, sink: &mut dyn Sink) -> io::Result<()> {
    let file = map::open(path)?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let source = Source {
        folder: Some(folder.unwrap_or(Path::new("."))),
        file: Some(&file),
    };
    walk(file.bytes(), source, options, sink);
    Ok(())
}

/// A file's bytes, a pipe's too, for who may not need all of them.
///
/// # Errors
/// The file cannot be opened or read, or is a device.
pub fn open(path: &Path) -> io::Result<Opened> {
    map::open(path)
}

/// The bytes of a whole file, a pipe's too.
///
/// # Errors
/// The file cannot be opened or read, or is a device.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    map::read(path)
}

#[cfg(test)]
mod tests;
