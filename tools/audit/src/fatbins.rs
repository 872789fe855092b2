//! Walks fatbins, whose table tells what each image is. Images are unpacked, read and hashed side by
//! side, and told in their order.

use std::cmp::Reverse;
use std::result::Result as StdResult;

use offload_image::bytes::Bytes;
use offload_image::elf::{EM_AMDGPU, EM_CUDA};
use offload_image::fatbin::{Entry, EntryKind, Fatbin};
use offload_image::image::{Compression, Kind};
use offload_image::Result;
use rayon::prelude::*;

use crate::format::Format;
use crate::gpu::{in_a_row, Stopped};
use crate::image::Label;
use crate::place::{Packed, Place};
use crate::reading::Reading;
use crate::scan::{Options, Unpack};
use crate::source::Source;
use crate::unpack;
use crate::walker::Walker;

/// So many bytes tell of nearly every image what it is: PTX may start with comments.
const HEAD: u64 = 4096;
/// So much of unpacked images is in memory at a time, or one image if that is larger.
const BATCH: u64 = 64 << 20;

/// An image whose bytes were looked at.
enum Looked<'a> {
    /// Stored as it is. `None` where it is no bare image.
    Raw(Bytes<'a>, Option<Reading>),
    Unpacked(Vec<u8>, Option<Reading>),
    /// It was unpacked, and nobody asked for the bytes.
    Read(Reading),
}

impl Walker<'_> {
    pub fn fatbins(&mut self, bytes: Bytes<'_>, place: &Place) -> StdResult<(), Stopped> {
        in_a_row(bytes, |rest| {
            let fatbin = Fatbin::parse(rest)?;
            self.fatbin(&fatbin, place);
            Ok(fatbin.length)
        })
    }

    pub fn fatbin(&mut self, fatbin: &Fatbin<'_>, place: &Place) {
        let place = place.inside_gpu("fatbin", fatbin.offset);
        if let Err(error) = self.within_depth(fatbin.offset, &place) {
            return self.problem(error, &place);
        }
        match self.options.unpack {
            Unpack::Labels => fatbin
                .entries
                .iter()
                .for_each(|entry| self.unread(label(entry), entry, &place)),
            Unpack::Kinds => self.kinds(&fatbin.entries, &place),
            Unpack::Contents | Unpack::Bytes => {
                let mut rest = &fatbin.entries[..];
                while !rest.is_empty() {
                    let (batch, more) = rest.split_at(batch(rest));
                    self.contents(batch, &place);
                    rest = more;
                }
            }
        }
    }

    /// Lists an image by its label alone.
    fn unread(&mut self, kind: Kind, entry: &Entry<'_>, place: &Place) {
        self.unlooked(
            kind,
            entry.unpacked_size,
            blob(entry),
            &labelled(entry, place),
        );
    }

    /// Lists images by their labels, but for the kinds, which their first bytes tell. Where they do
    /// not, all of them are looked at: it may be anything, whatever the label says.
    fn kinds(&mut self, entries: &[Entry<'_>], place: &Place) {
        let limit = self.options.limits.max_unpacked;
        for entry in entries {
            match self.spend_on(entry).and_then(|()| kind(entry, limit)) {
                Ok(Some(kind)) => self.unread(kind, entry, place),
                Ok(None) => self.contents(std::slice::from_ref(entry), place),
                Err(error) => {
                    self.unread(label(entry), entry, place);
                    self.problem(error, &labelled(entry, place));
                }
            }
        }
    }

    fn contents(&mut self, entries: &[Entry<'_>], place: &Place) {
        let (options, source) = (self.options, self.source);
        let mut allowed: Vec<_> = entries
            .iter()
            .map(|entry| (entry, self.spend_on(entry)))
            .enumerate()
            .collect();
        // The large ones first, and each by whoever is free: all threads end at nearly the same time.
        allowed.sort_by_key(|(_, (entry, _))| Reverse(entry.unpacked_size));
        let mut looked: Vec<(usize, &Entry<'_>, Result<Looked<'_>>)> = allowed
            .into_iter()
            .par_bridge()
            .map_init(Vec::new, |buffer, (at, (entry, spent))| {
                let looked = spent.and_then(|()| look(entry, buffer, options, source));
                (at, entry, looked)
            })
            .collect();
        looked.sort_by_key(|(at, ..)| *at);
        for (_, entry, looked) in looked {
            let here = labelled(entry, place);
            match looked {
                Ok(Looked::Raw(bytes, reading)) => self.looked(bytes, reading, &here),
                Ok(Looked::Unpacked(bytes, reading)) => {
                    self.looked(Bytes::new(&bytes), reading, &here.unpacked(blob(entry)));
                }
                Ok(Looked::Read(reading)) => {
                    let here = here.unpacked(blob(entry));
                    self.read(reading, None, &here);
                }
                Err(error) => {
                    // It is there, whatever is wrong with it.
                    self.unread(label(entry), entry, place);
                    self.problem(error, &here);
                }
            }
        }
    }

    fn spend_on(&mut self, entry: &Entry<'_>) -> Result<()> {
        match entry.compression {
            Compression::None => Ok(()),
            _ => self.spend(entry.unpacked_size, entry.payload),
        }
    }

    fn read(&mut self, reading: Reading, bytes: Option<Bytes<'_>>, place: &Place) {
        if let Err(error) = self.list(reading, bytes, place) {
            self.problem(error, place);
        }
    }

    fn looked(&mut self, bytes: Bytes<'_>, reading: Option<Reading>, place: &Place) {
        match reading {
            Some(reading) => self.read(reading, Some(bytes), place),
            None => {
                let walked = self.any(bytes, place);
                self.settle(walked, bytes, place);
            }
        }
    }
}

/// How many of the entries are looked at together.
fn batch(entries: &[Entry<'_>]) -> usize {
    let mut bytes = 0_u64;
    let fits = |entry: &&Entry<'_>| {
        bytes = bytes.saturating_add(entry.unpacked_size);
        bytes <= BATCH
    };
    entries.iter().take_while(fits).count().max(1)
}

/// The kind of an image by its first bytes, unpacked; `None` where they are none that is known.
fn kind(entry: &Entry<'_>, limit: u64) -> Result<Option<Kind>> {
    let (payload, size) = (entry.payload, entry.unpacked_size);
    if entry.compression == Compression::None {
        return Ok(kind_of(payload.data()));
    }
    unpack::unpack_head(entry.compression, payload, size, limit, HEAD).map(|head| kind_of(&head))
}

/// Looks at an image, in a buffer that it may take where it has to be kept.
fn look<'a>(
    entry: &Entry<'a>,
    buffer: &mut Vec<u8>,
    options: &Options,
    source: Source<'_>,
) -> Result<Looked<'a>> {
    let kind = Some(label(entry));
    let read = |bytes: Bytes<'_>| match kind_of(bytes.data()) {
        Some(_) => Reading::of(bytes, kind, options.sha256, source).ok(),
        None => None,
    };
    if entry.compression == Compression::None {
        return Ok(Looked::Raw(entry.payload, read(entry.payload)));
    }
    let (limit, size) = (options.limits.max_unpacked, entry.unpacked_size);
    unpack::unpack_into(buffer, entry.compression, entry.payload, size, limit)?;
    Ok(match read(Bytes::new(buffer)) {
        Some(reading) if options.unpack != Unpack::Bytes => Looked::Read(reading),
        reading => Looked::Unpacked(std::mem::take(buffer), reading),
    })
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
fn label(entry: &Entry<'_>) -> Kind {
    match entry.kind {
        EntryKind::Ptx => Kind::Ptx,
        EntryKind::Cubin => Kind::Cubin,
        EntryKind::Other(number) => Kind::Unknown(number),
    }
}

fn blob(entry: &Entry<'_>) -> Packed {
    Packed {
        offset: entry.payload.base(),
        size: Some(entry.payload.len()),
        compression: entry.compression,
    }
}

/// The kind of a bare image by its first bytes; `None` where it is none.
fn kind_of(head: &[u8]) -> Option<Kind> {
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
