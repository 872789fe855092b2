//! Reading whole files and writing them so that nobody ever sees half of one.

use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::failure::Failure;

/// The bytes of a file.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| {
        Failure::unreadable(format!("{}: cannot read it: {error}", path.display()))
    })
}

/// Writes a file under a temporary name in the same folder, then renames it.
pub fn write(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    write_renamed(path, content).map_err(|error| {
        Failure::unreadable(format!("{}: cannot write it: {error}", path.display()))
    })
}

fn write_renamed(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".offload-");
    // A temporary file is for its owner only; an output is for whoever builds, within the umask.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    {
        let mut buffered = io::BufWriter::new(file.as_file_mut());
        content(&mut buffered)?;
        buffered.flush()?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Writes a value as JSON, indented, with a line end.
pub fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), Failure> {
    write(path, |out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })
}

/// The SHA-256 of bytes, in hex.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
