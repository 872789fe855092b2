//! What the bytes of one bare image say.

use offload_image::bytes::Bytes;
use offload_image::elf::Elf;
use offload_image::image::{Content, Kind};
use offload_image::{Error, Result};
use sha2::{Digest, Sha256};

use crate::source::{Source, WINDOW};

/// What was read of an image. It needs no walker, so that several can be read side by side.
pub(crate) struct Reading {
    pub kind: Kind,
    /// Where it starts.
    pub start: u64,
    /// Without padding.
    pub length: u64,
    pub content: Option<Content>,
    /// Why there is no content.
    pub problem: Option<Error>,
    pub sha256: Option<[u8; 32]>,
}

impl Reading {
    /// # Errors
    /// Bytes that are no image, where no label says that they are one.
    pub fn of(
        bytes: Bytes<'_>,
        label: Option<Kind>,
        hashed: bool,
        source: Source<'_>,
    ) -> Result<Self> {
        let (kind, content, problem) = match (Content::parse(bytes), label) {
            (Ok(content), _) => (content.kind(), Some(content), None),
            (Err(problem), Some(kind)) => (kind, None, Some(problem)),
            (Err(problem), None) => return Err(problem),
        };
        let bytes = without_padding(bytes, kind);
        Ok(Self {
            content,
            problem,
            ..Self::opaque(kind, bytes, hashed, source)
        })
    }

    /// Of bytes that nothing is known of but their kind.
    pub fn opaque(kind: Kind, bytes: Bytes<'_>, hashed: bool, source: Source<'_>) -> Self {
        Self {
            kind,
            start: bytes.base(),
            length: bytes.len(),
            content: None,
            problem: None,
            sha256: hashed.then(|| sha256(bytes.data(), source)),
        }
    }
}

/// The hash of bytes, whose memory is given back on the way.
fn sha256(data: &[u8], source: Source<'_>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for window in data.chunks(WINDOW) {
        hash.update(window);
        source.forget(window);
    }
    hash.finalize().into()
}

/// Containers pad what they store: PTX with NULs (the driver wants one), ELF files to a multiple
/// of 8 or 16. The padding is no part of the image, whose hash would change with its container.
fn without_padding(bytes: Bytes<'_>, kind: Kind) -> Bytes<'_> {
    let data = bytes.data();
    let zeros_from = data
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |at| at + 1) as u64;
    let end = match kind {
        Kind::Ptx => zeros_from,
        Kind::Cubin | Kind::Gfx => match Elf::parse(bytes).map(|elf| elf.extent()) {
            Ok(extent) if zeros_from <= extent && bytes.len().saturating_sub(extent) < 16 => extent,
            _ => bytes.len(),
        },
        _ => bytes.len(),
    };
    bytes.slice(0, end, "image").unwrap_or(bytes)
}
