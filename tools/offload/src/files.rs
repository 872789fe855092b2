//! Reading whole files and writing them so that nobody ever sees half of one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use offload_audit::files::Opened;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::failure::Failure;

/// How much of a large file is looked at before its memory is given back.
const PIECE: usize = 1 << 20;

/// The bytes of a file.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    offload_audit::files::read(path).map_err(|error| unread(path, &error))
}

/// As [`read`], of a file that may be larger than memory.
pub fn open(path: &Path) -> Result<Opened, Failure> {
    offload_audit::files::open(path).map_err(|error| unread(path, &error))
}

fn unread(path: &Path, error: &io::Error) -> Failure {
    Failure::unreadable(format!("{}: cannot read it: {error}", path.display()))
}

/// Writes to `out`, and gives back the memory of what came from these files.
pub struct Passing<'a> {
    pub from: Vec<&'a Opened>,
    pub out: &'a mut dyn Write,
}

impl Write for Passing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = bytes.get(..PIECE).unwrap_or(bytes);
        let written = self.out.write(piece)?;
        for opened in &self.from {
            opened.forget(piece);
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Refuses an output that is one of the inputs, before anything is written over.
pub fn apart<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    let Ok(there) = fs::canonicalize(output) else {
        return Ok(()); // What does not exist yet is nobody's input.
    };
    for input in inputs {
        if fs::canonicalize(input).is_ok_and(|input| input == there) {
            return Err(Failure::usage(format!(
                "--output={}: it is the input {}, and would be written over; name another file",
                output.display(),
                input.display()
            )));
        }
    }
    Ok(())
}

/// Writes a file under a temporary name in the same folder, then renames it. What is there and is no
/// file (a pipe, `/dev/null`) is written to: a rename would put a file in its place.
pub fn write(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let special = fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
    let written = if special {
        File::create(path).and_then(|mut file| content(&mut file))
    } else {
        write_renamed(path, content)
    };
    written.map_err(|error| {
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
    let mut file = temporary(folder.unwrap_or(Path::new(".")))?;
    {
        let mut buffered = io::BufWriter::new(file.as_file_mut());
        content(&mut buffered)?;
        buffered.flush()?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A file that goes away unless it is renamed.
pub fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".offload-");
    // A temporary file is for its owner only; an output is for whoever builds, within the umask.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder).map_err(|error| {
        // At the end is the temporary name: another one each time, it helps nobody.
        let text = error.to_string();
        let why = text.split(" at path ").next().unwrap_or(&text);
        let text = format!("in the folder {}: {why}", folder.display());
        io::Error::new(error.kind(), text)
    })
}

/// Writes a value as JSON, indented, with a line end.
pub fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), Failure> {
    write(path, |out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })
}

/// The SHA-256 of what was opened, in hex.
pub fn sha256(opened: &Opened) -> String {
    let mut hash = Sha256::new();
    for piece in opened.bytes().chunks(PIECE) {
        hash.update(piece);
        opened.forget(piece);
    }
    hex(&hash.finalize())
}

/// The SHA-256 of a file, in hex, read a piece at a time.
pub fn sha256_of(path: &Path) -> Result<String, Failure> {
    let mut hash = Sha256::new();
    let hashed = File::open(path).and_then(|mut file| io::copy(&mut file, &mut hash));
    hashed.map_err(|error| unread(path, &error))?;
    Ok(hex(&hash.finalize()))
}

/// Bytes in hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
