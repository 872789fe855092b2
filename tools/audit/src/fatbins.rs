//! Walks fatbins, whose table tells what each image is.

use std::result::Result as StdResult;

use offload_image::bytes::Bytes;
use offload_image::elf::{EM_AMDGPU, EM_CUDA};
use offload_image::fatbin::{Entry, EntryKind, Fatbin};
use offload_image::image::{Compression, Kind};
use offload_image::Result;

use crate::batch::Batch;
use crate::format::Format;
use crate::gpu::{in_a_row, Stopped};
use crate::image::Label;
use crate::place::{Packed, Place};
use crate::scan::Unpack;
use crate::unpack;
use crate::walker::Walker;

/// So many bytes tell of nearly every image what it is: PTX may start with comments.
const HEAD: u64 = 4096;

impl Walker<'_> {
    /// Walks fatbins. Images that have to be looked at wait in the batch.
    pub fn fatbins<'a>(
        &mut self,
        bytes: Bytes<'a>,
        place: &Place,
        batch: &mut Batch<'a>,
    ) -> StdResult<(), Stopped> {
        in_a_row(bytes, |rest| {
            let fatbin = Fatbin::parse(rest)?;
            self.fatbin(&fatbin, place, batch);
            Ok(fatbin.length)
        })
    }

    /// As [`Walker::fatbins`], of one.
    pub fn fatbin<'a>(&mut self, fatbin: &Fatbin<'a>, place: &Place, batch: &mut Batch<'a>) {
        let place = place.inside_gpu("fatbin", fatbin.offset);
        if let Err(error) = self.within_depth(fatbin.offset, &place) {
            return self.problem(error, &place);
        }
        for entry in &fatbin.entries {
            let here = labelled(entry, &place);
            match self.options.unpack {
                Unpack::Labels => self.unread(label(entry), entry, &here),
                Unpack::Kinds => self.kind_only(entry, here, batch),
                Unpack::Contents | Unpack::Bytes => self.wait(entry, here, batch),
            }
        }
    }

    /// Lists an image by its label alone.
    pub fn unread(&mut self, kind: Kind, entry: &Entry<'_>, place: &Place) {
        self.unlooked(kind, entry.unpacked_size, blob(entry), place);
    }

    /// Lists an image by its label, but for the kind, which its first bytes tell. Where they do not,
    /// all of it is looked at: it may be anything, whatever the label says.
    fn kind_only<'a>(&mut self, entry: &Entry<'a>, place: Place, batch: &mut Batch<'a>) {
        let limit = self.options.limits.max_unpacked;
        match self.spend_on(entry).and_then(|()| kind(entry, limit)) {
            Ok(Some(kind)) => self.unread(kind, entry, &place),
            Ok(None) => {
                self.wait(entry, place, batch);
                self.look_at(batch);
            }
            Err(error) => {
                self.unread(label(entry), entry, &place);
                self.problem(error, &place);
            }
        }
    }

    /// Takes what an image unpacks to off what may be unpacked in all.
    pub fn spend_on(&mut self, entry: &Entry<'_>) -> Result<()> {
        match entry.compression {
            Compression::None => Ok(()),
            _ => self.spend(entry.unpacked_size, entry.payload),
        }
    }
}

/// The kind of an image by its first bytes, unpacked; `None` where they are none that is known.
fn kind(entry: &Entry<'_>, limit: u64) -> Result<Option<Kind>> {
    let (payload, size) = (entry.payload, entry.unpacked_size);
    if entry.compression == Compression::None {
        return Ok(kind_of(payload.data()));
    }
    unpack::unpack_head(entry.compression, payload, size, limit, HEAD).map(|head| kind_of(&head))
}

fn labelled(entry: &Entry<'_>, place: &Place) -> Place {
    Place {
        label: Label {
            arch: Some(entry.sm.to_string()),
            ptx_isa: (entry.kind == EntryKind::Ptx).then_some(entry.version),
            policy: place.label.policy.clone(),
        },
        kind: Some(label(entry)),
        ..place.clone()
    }
}

/// The kind that the table tells.
pub(crate) fn label(entry: &Entry<'_>) -> Kind {
    match entry.kind {
        EntryKind::Ptx => Kind::Ptx,
        EntryKind::Cubin => Kind::Cubin,
        EntryKind::Other(number) => Kind::Unknown(number),
    }
}

pub(crate) fn blob(entry: &Entry<'_>) -> Packed {
    Packed {
        offset: entry.payload.base(),
        size: Some(entry.payload.len()),
        compression: entry.compression,
    }
}

/// The kind of a bare image by its first bytes; `None` where it is none.
pub(crate) fn kind_of(head: &[u8]) -> Option<Kind> {
    let bytes = Bytes::new(head);
    match Format::of(bytes) {
        Format::Ptx => Some(Kind::Ptx),
        Format::Elf => match bytes.u16(18, "ELF machine") {
            Ok(EM_CUDA) => Some(Kind::Cubin),
            Ok(EM_AMDGPU) => Some(Kind::Gfx),
            _ => None,
        },
        _ => None,
    }
}
