//! The note that an object, and every program that it is linked into, has of the PTX policies of its
//! images: it says so to whoever reads no images. Source of the layout: the System V ABI.

use crate::elf::{Elf, Note};
use crate::error::Result;
use crate::policy::PtxPolicy;

/// The owner of our notes.
pub const NOTE_OWNER: &[u8] = b"offload";
/// The type of the note whose contents are the word of a PTX policy.
pub const NT_PTX_POLICY: u32 = 1;

/// A note: the sizes of owner and contents, both with their NUL, the type, and both padded to four bytes.
pub(crate) fn note(policy: PtxPolicy) -> Vec<u8> {
    let padded = |text: &[u8]| {
        let mut text = text.to_vec();
        text.resize(text.len() / 4 * 4 + 4, 0);
        text
    };
    let (owner, word) = (NOTE_OWNER, policy.name().as_bytes());
    let sizes = [owner.len() + 1, word.len() + 1].map(|size| size as u32);
    let mut out = Vec::new();
    for number in [sizes[0], sizes[1], NT_PTX_POLICY] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&padded(owner));
    out.extend_from_slice(&padded(word));
    out
}

/// The policies in the notes of an object, or of a program that it was linked into: words, of which some may
/// be unknown here.
///
/// # Errors
/// Malformed notes.
pub fn noted_policies(elf: &Elf<'_>) -> Result<Vec<String>> {
    let notes = elf.notes()?;
    let ours = notes
        .iter()
        .filter(|note| note.owner == NOTE_OWNER && note.kind == NT_PTX_POLICY);
    let word = |note: &Note<'_>| {
        let text = note.desc.data();
        String::from_utf8_lossy(text.strip_suffix(&[0]).unwrap_or(text)).into_owned()
    };
    Ok(ours.map(word).collect())
}
