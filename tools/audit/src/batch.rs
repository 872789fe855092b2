//! Unpacks, reads and hashes images of fatbins side by side, and tells them in their order.

use std::cmp::Reverse;

use offload_image::bytes::Bytes;
use offload_image::fatbin::Entry;
use offload_image::image::Compression;
use offload_image::Result;
use rayon::prelude::*;

use crate::fatbins::{blob, kind_of, label};
use crate::place::Place;
use crate::reading::Reading;
use crate::scan::{Options, Unpack};
use crate::source::Source;
use crate::unpack;
use crate::walker::Walker;

/// So much of unpacked images is in memory at a time, or one image if that is larger.
const BYTES: u64 = 64 << 20;
/// So many images wait at most: what is known of them takes memory too.
const IMAGES: usize = 1024;

/// Images that wait to be looked at together.
#[derive(Default)]
pub(crate) struct Batch<'a> {
    images: Vec<Waiting<'a>>,
    /// What they unpack to.
    bytes: u64,
}

struct Waiting<'a> {
    entry: Entry<'a>,
    place: Place,
    /// Whether it may be unpacked.
    allowed: Result<()>,
}

/// An image whose bytes were looked at. There is no reading of what is no bare image.
enum Looked<'a> {
    Raw(Bytes<'a>, Option<Reading>),
    Unpacked(Vec<u8>, Option<Reading>),
    /// It was unpacked, and nobody asked for the bytes.
    Read(Reading),
}

impl Walker<'_> {
    /// Puts an image to those that wait. Where they are too many then, they are looked at first.
    pub fn wait<'a>(&mut self, entry: &Entry<'a>, place: Place, batch: &mut Batch<'a>) {
        let bytes = batch.bytes.saturating_add(entry.unpacked_size);
        if bytes > BYTES || batch.images.len() == IMAGES {
            self.look_at(batch);
        }
        batch.bytes = batch.bytes.saturating_add(entry.unpacked_size);
        batch.images.push(Waiting {
            entry: *entry,
            place,
            allowed: self.spend_on(entry),
        });
    }

    /// Looks at the images that wait, and leaves none.
    pub fn look_at(&mut self, batch: &mut Batch<'_>) {
        let images = std::mem::take(batch).images;
        if images.is_empty() {
            return;
        }
        let (options, source) = (self.options, self.source);
        // The large ones first, and each by whoever is free: all threads end at nearly the same time.
        let mut order: Vec<_> = images.iter().enumerate().collect();
        order.sort_by_key(|(_, image)| Reverse(image.entry.unpacked_size));
        // A thread unpacks into the same memory again and again: fresh pages cost more than the reading.
        let mut looked: Vec<_> = order
            .into_iter()
            .par_bridge()
            .map_init(Vec::new, |buffer, (at, image)| {
                (at, image, look(image, buffer, options, source))
            })
            .collect();
        looked.sort_by_key(|(at, ..)| *at);
        for (_, image, looked) in looked {
            self.tell_looked(image, looked);
        }
    }

    fn tell_looked(&mut self, image: &Waiting<'_>, looked: Result<Looked<'_>>) {
        let Waiting { entry, place, .. } = image;
        match looked {
            Ok(Looked::Raw(bytes, reading)) => self.looked(bytes, reading, place),
            Ok(Looked::Unpacked(bytes, reading)) => {
                self.looked(Bytes::new(&bytes), reading, &place.unpacked(blob(entry)));
            }
            Ok(Looked::Read(reading)) => self.read(reading, None, &place.unpacked(blob(entry))),
            Err(error) => {
                // It is there, whatever is wrong with it.
                self.unread(label(entry), entry, place);
                self.problem(error, place);
            }
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

    fn read(&mut self, reading: Reading, bytes: Option<Bytes<'_>>, place: &Place) {
        if let Err(error) = self.list(reading, bytes, place) {
            self.problem(error, place);
        }
    }
}

/// Looks at an image, in a buffer that is taken where it has to be kept.
fn look<'a>(
    image: &Waiting<'a>,
    buffer: &mut Vec<u8>,
    options: &Options,
    source: Source<'_>,
) -> Result<Looked<'a>> {
    image.allowed.clone()?;
    let entry = &image.entry;
    let read = |bytes: Bytes<'_>| {
        kind_of(bytes.data())?;
        Reading::of(bytes, Some(label(entry)), options.sha256, source).ok()
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
