//! The same image twice in what a program loads: no harm but the room it takes. `offload pack` refuses
//! it; here it may be in files that others packed, or come in through two libraries.
//!
//! Told of OffloadBinaries alone: of those every image of a program is in one list.

use std::collections::BTreeMap;

use offload_image::image::Kind;

use super::container::{self, in_offload_binary};
use super::image::Found;
use super::origin::Origins;
use crate::failure::{clean, list};

/// What is the same: in one file or member, the kind, the architecture and the bytes.
type Key<'f> = (&'f str, &'f [String], Kind, String, [u8; 32]);

/// Where an image is: the number of its container.
struct Place<'f, 'a> {
    group: usize,
    image: &'f Found<'a>,
}

/// Images that are more than once in the same containers.
#[derive(Default)]
struct Twice {
    names: Vec<String>,
    /// What all but the first take.
    bytes: u64,
}

/// A note for all images that are in the same containers.
pub fn notes(groups: &[Vec<&Found<'_>>], origins: &Origins<'_>) -> Vec<String> {
    let mut places: BTreeMap<Key<'_>, Vec<Place<'_, '_>>> = BTreeMap::new();
    for (group, images) in groups.iter().enumerate() {
        for image in images {
            if let Some(key) = key(image) {
                places.entry(key).or_default().push(Place { group, image });
            }
        }
    }
    let mut told: BTreeMap<(&str, Vec<usize>), Twice> = BTreeMap::new();
    for ((path, _, kind, arch, _), places) in places {
        if places.len() > 1 {
            let containers = places.iter().map(|place| place.group).collect();
            let twice = told.entry((path, containers)).or_default();
            twice.names.push(format!("{kind} for {arch}"));
            let more = places.iter().skip(1).map(|place| place.image.report.size);
            twice.bytes = more.fold(twice.bytes, u64::saturating_add);
        }
    }
    let place = |group: &usize| {
        let images = groups.get(*group)?;
        container::place(images.first()?, origins.of_container(images).as_ref())
    };
    let mut notes = Vec::new();
    for ((path, containers), Twice { names, bytes }) in told {
        let places: Vec<String> = containers.iter().filter_map(place).collect();
        notes.push(format!(
            "{} has {} more than once, the same bytes: in {}; {bytes} bytes could be saved",
            clean(path),
            list(&names, 5),
            places.join(", and in ")
        ));
    }
    notes
}

fn key<'f>(image: &'f Found<'_>) -> Option<Key<'f>> {
    let report = &image.report;
    Some((
        &image.path,
        &report.member,
        image.image.kind,
        image.arch(),
        image
            .seen
            .identity
            .filter(|_| report.container.as_deref().is_some_and(in_offload_binary))?,
    ))
}
