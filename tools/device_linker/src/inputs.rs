//! What the input files are, and which LLVM wrote them.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use object::read::archive::ArchiveFile;
use object::read::{ReadCache, ReadRef};

use crate::bitcode::{self, BitcodeError, Identification};
use crate::error::{InputError, LinkError};

#[cfg(test)]
mod tests;

/// The bitcode that needs the newest LLVM among all inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newest {
    /// The file, with the member's name where it is an archive.
    pub file: String,
    pub producer: String,
    pub major: u32,
}

/// Checks that each file is bitcode or an archive, and finds the newest bitcode in them.
///
/// `None` where no bitcode says which LLVM wrote it. Only headers are read: `core` alone has 40 MB.
pub fn newest(inputs: &[PathBuf]) -> Result<Option<Newest>, LinkError> {
    let mut newest: Option<Newest> = None;
    for path in inputs {
        for (member, id) in identifications(path)? {
            let Some(major) = id.llvm_major() else {
                continue;
            };
            if newest.as_ref().is_none_or(|old| old.major < major) {
                let file = match member {
                    Some(member) => format!("{}({member})", path.display()),
                    None => path.display().to_string(),
                };
                let producer = id.producer;
                newest = Some(Newest {
                    file,
                    producer,
                    major,
                });
            }
        }
    }
    Ok(newest)
}

type Members = Vec<(Option<String>, Identification)>;

fn identifications(path: &Path) -> Result<Members, LinkError> {
    let mut file = File::open(path).map_err(LinkError::io("open", path))?;
    let mut head = Vec::new();
    (&mut file)
        .take(bitcode::PREFIX)
        .read_to_end(&mut head)
        .map_err(LinkError::io("read", path))?;
    let found = if head.starts_with(b"!<arch>\n") || head.starts_with(b"!<thin>\n") {
        archive(file)
    } else if bitcode::is_bitcode(&head) {
        identify(&head)
            .map(|id| id.map(|id| (None, id)).into_iter().collect())
            .map_err(InputError::from)
    } else {
        head.truncate(8);
        Err(InputError::NotBitcode { begins: head })
    };
    found.map_err(|problem| LinkError::Input {
        path: path.to_path_buf(),
        problem,
    })
}

/// Members that are not bitcode are rustc's metadata, which no linker reads.
fn archive(file: File) -> Result<Members, InputError> {
    let broken = |error: object::Error| InputError::Archive(error.to_string());
    let cache = ReadCache::new(file);
    let archive = ArchiveFile::parse(&cache).map_err(broken)?;
    if archive.is_thin() {
        return Err(InputError::Archive(
            "thin archives are not supported".into(),
        ));
    }
    let mut found = Members::new();
    for member in archive.members() {
        let member = member.map_err(broken)?;
        let (start, size) = member.file_range();
        let head = (&cache)
            .read_bytes_at(start, size.min(bitcode::PREFIX))
            .map_err(|()| InputError::Archive("it ends within a member".into()))?;
        if bitcode::is_bitcode(head) {
            let member = String::from_utf8_lossy(member.name()).into_owned();
            match identify(head) {
                Ok(Some(id)) => found.push((Some(member), id)),
                Ok(None) => {}
                Err(source) => return Err(InputError::Member { member, source }),
            }
        }
    }
    Ok(found)
}

/// Bitcode without an identification is older than any LLVM that writes PTX for us: no error.
fn identify(head: &[u8]) -> Result<Option<Identification>, BitcodeError> {
    match bitcode::identify(head) {
        Ok(id) => Ok(Some(id)),
        Err(BitcodeError::Anonymous) => Ok(None),
        Err(error) => Err(error),
    }
}
