//! Opens files: small ones are read, large ones are mapped, so that they take no memory that is not
//! the page cache's.
#![allow(unsafe_code)]

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use memmap2::{Mmap, UncheckedAdvice};

/// Above this size a file is mapped.
const MAP_FROM: u64 = 1 << 20;

/// Less memory than this is not worth a system call.
const WORTH: usize = 16 << 10;

/// The bytes of a file.
pub enum Opened {
    /// Of a small one, and of a pipe.
    Read(Vec<u8>),
    /// Of a large one.
    Mapped(Mmap),
}

impl Opened {
    /// All of them.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Read(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }

    /// Gives back the memory of bytes that were looked at: they are read from the file once more
    /// where somebody asks. Bytes of anything else are left alone.
    pub fn forget(&self, part: &[u8]) {
        let Self::Mapped(map) = self else { return };
        if part.len() < WORTH {
            return;
        }
        let (start, base) = (part.as_ptr() as usize, map.as_ptr() as usize);
        let Some(at) = start.checked_sub(base).filter(|at| *at < map.len()) else {
            return;
        };
        let length = part.len().min(map.len() - at);
        // SAFETY: the map is shared, read-only and backed by a file, so that the pages come back
        // with the same bytes. That it fails only costs memory.
        let _ = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, at, length) };
    }
}

pub(crate) fn open(path: &Path) -> io::Result<Opened> {
    let (mut file, about) = start(path)?;
    if about.is_file() && about.len() >= MAP_FROM {
        // SAFETY: the bytes must not change while they are mapped. Files that a build has finished
        // do not; who truncates one while it is read gets a bus error, as with every linker.
        return unsafe { Mmap::map(&file) }.map(Opened::Mapped);
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Opened::Read(bytes))
}

/// As [`open`], of what another file names and nobody asked for: a pipe would be waited for without
/// end.
pub(crate) fn open_file(path: &Path) -> io::Result<Opened> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    open(path)
}

/// What is read, in a file without a name: for bytes that are too many to be kept in memory.
pub(crate) fn spill(from: &mut impl Read) -> io::Result<Opened> {
    let mut file = tempfile::tempfile()?;
    if io::copy(from, &mut file)? == 0 {
        return Ok(Opened::Read(Vec::new()));
    }
    // SAFETY: nobody else can reach the file.
    unsafe { Mmap::map(&file) }.map(Opened::Mapped)
}

pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    start(path)?.0.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A pipe is read as a file is. A device is not: `/dev/zero` has no end.
fn start(path: &Path) -> io::Result<(File, Metadata)> {
    let file = File::open(path)?;
    let about = file.metadata()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = about.file_type();
        if kind.is_char_device() || kind.is_block_device() {
            return Err(io::Error::other("it is a device; wanted a file or a pipe"));
        }
    }
    Ok((file, about))
}
