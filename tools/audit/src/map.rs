//! Opens files: small ones are read, large ones are mapped, so that they take no memory that is not
//! the page cache's.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use memmap2::Mmap;

/// Above this size a file is mapped.
const MAP_FROM: u64 = 16 << 20;

/// The bytes of a file.
pub(crate) enum Opened {
    Read(Vec<u8>),
    Mapped(Mmap),
}

impl Opened {
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Read(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

pub(crate) fn open(path: &Path) -> io::Result<Opened> {
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    if about.is_file() && about.len() >= MAP_FROM {
        // SAFETY: the bytes must not change while they are mapped. Files that a build has finished
        // do not; who truncates one while it is read gets a bus error, as with every linker.
        return unsafe { Mmap::map(&file) }.map(Opened::Mapped);
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Opened::Read(bytes))
}
