//! Clang's offload bundle: a table of ids, and an image for each.
//!
//! In host files bundles stand in `.hip_fatbin`, each at a multiple of 4096, since the runtime maps
//! code objects straight from there. A bundle does not tell its own length. Source: clang's
//! documentation of `clang-offload-bundler`.

use crate::bytes::Bytes;
use crate::error::{Error, Result};

/// The first 24 bytes.
pub const MAGIC: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// Where bundles start in a host file, and where we place the images of one.
pub const ALIGN: u64 = 4096;

const HEADER: u64 = 32;
/// Of an entry, without its id.
const ENTRY: u64 = 24;

/// One image of a bundle.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// `hipv4-amdgcn-amd-amdhsa--gfx90a`, `host-x86_64-unknown-linux--`
    pub id: &'a str,
    /// The image; empty for most hosts.
    pub image: Bytes<'a>,
}

impl<'a> Entry<'a> {
    /// Whether this is the host's part, which is no device code.
    #[must_use]
    pub fn is_host(&self) -> bool {
        self.id.starts_with("host-")
    }

    /// The architecture at the end of the id, with its modes; `None` where there is none.
    #[must_use]
    pub fn arch(&self) -> Option<&'a str> {
        arch_of_id(self.id)
    }
}

/// The architecture at the end of the id of a bundle's entry. Triples and the names of generic
/// architectures have hyphens, so the last word alone does not do.
#[must_use]
pub fn arch_of_id(id: &str) -> Option<&str> {
    ["-gfx", "-sm_"]
        .iter()
        .find_map(|mark| id.rfind(mark).and_then(|at| id.get(at + 1..)))
}

/// A bundle.
#[derive(Debug, Clone)]
pub struct Bundle<'a> {
    /// Its images, in order.
    pub entries: Vec<Entry<'a>>,
    /// Where it starts in the file.
    pub offset: u64,
    /// Up to where its table and images reach.
    pub length: u64,
}

impl<'a> Bundle<'a> {
    /// Reads the bundle at the start of `bytes`; other bytes may follow it.
    ///
    /// # Errors
    /// Another magic; a table or images that reach outside or overlap.
    pub fn parse(bytes: Bytes<'a>) -> Result<Self> {
        let header = bytes.slice(0, HEADER, "offload bundle")?;
        if !header.data().starts_with(MAGIC) {
            return Err(Error::malformed(
                "offload bundle",
                bytes.base(),
                "it does not start with __CLANG_OFFLOAD_BUNDLE__",
            ));
        }
        let count = header.u64(24, "offload bundle")?;
        if count.checked_mul(ENTRY).is_none_or(|s| s > bytes.len()) {
            return Err(Error::malformed(
                "offload bundle",
                bytes.file_offset(24),
                format!("{count} entries do not fit"),
            ));
        }
        let mut entries = Vec::new();
        let (mut at, mut length) = (HEADER, HEADER);
        // Entries may share bytes, so hostile input could name them without end.
        let mut budget = bytes.len();
        for _ in 0..count {
            let raw = bytes.slice(at, ENTRY, "offload bundle entry")?;
            let offset = raw.u64(0, "offload bundle entry")?;
            let size = raw.u64(8, "offload bundle entry")?;
            let id_length = raw.u64(16, "offload bundle entry")?;
            let id = bytes.slice(at + ENTRY, id_length, "offload bundle id")?;
            let image = bytes.slice(offset, size, "image of an offload bundle")?;
            budget = budget
                .checked_sub(size)
                .ok_or_else(|| Error::malformed("offload bundle", raw.base(), "images overlap"))?;
            entries.push(Entry {
                id: std::str::from_utf8(id.data()).map_err(|_| {
                    Error::malformed("offload bundle id", id.base(), "it is not UTF-8")
                })?,
                image,
            });
            at = at.saturating_add(ENTRY).saturating_add(id_length);
            length = length.max(at).max(offset.saturating_add(size));
        }
        Ok(Self {
            entries,
            offset: bytes.base(),
            length,
        })
    }
}

/// Writes a bundle: ids and images in the order given, each image at a multiple of [`ALIGN`]. The
/// runtime wants a first entry for the host, which may be empty.
#[must_use]
pub fn write(images: &[(&str, &[u8])]) -> Vec<u8> {
    let align = |length: u64| length.next_multiple_of(ALIGN);
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&(images.len() as u64).to_le_bytes());
    let ids: u64 = images.iter().map(|(id, _)| ENTRY + id.len() as u64).sum();
    let mut at = HEADER + ids;
    for (id, image) in images {
        at = align(at);
        for word in [at, image.len() as u64, id.len() as u64] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(id.as_bytes());
        at += image.len() as u64;
    }
    for (_, image) in images {
        out.resize(align(out.len() as u64) as usize, 0);
        out.extend_from_slice(image);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let images: [(&str, &[u8]); 3] = [
            ("host-x86_64-unknown-linux--", b""),
            ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", b"one"),
            ("hip-amdgcn-amd-amdhsa-unknown-gfx9-4-generic", b"two"),
        ];
        let bytes = write(&images);
        let bundle = Bundle::parse(Bytes::new(&bytes)).unwrap();
        assert_eq!(bundle.length, bytes.len() as u64);
        let found: Vec<_> = bundle
            .entries
            .iter()
            .map(|e| (e.id, e.image.data()))
            .collect();
        assert_eq!(found, images);
        assert!(bundle
            .entries
            .iter()
            .all(|e| e.image.base() % ALIGN == 0 && e.is_host() == e.arch().is_none()));
        assert_eq!(bundle.entries[1].arch(), Some("gfx90a:xnack-"));
        assert_eq!(bundle.entries[2].arch(), Some("gfx9-4-generic"));
        assert_eq!(bytes, write(&images));
    }

    #[test]
    fn tables_that_lie_are_told_with_their_place() {
        let good = write(&[("hip-amdgcn-amd-amdhsa--gfx90a", b"one")]);
        for (at, place) in [(24 + 7, 24), (32 + 6, 0xff_0000_0000_1000), (48 + 7, 56)] {
            let mut bytes = good.clone();
            bytes[at] = 0xff;
            let error = Bundle::parse(Bytes::new(&bytes)).unwrap_err();
            assert_eq!(error.offset(), place, "{error}");
        }
        assert!(Bundle::parse(Bytes::new(MAGIC)).is_err());
    }
}
