//! The same image twice in what a program loads: no harm but the room it takes. `offload pack` refuses
//! it; here it may be in files that others packed, or come in through two libraries.
//!
//! Told of OffloadBinaries alone: of those every image of a program is in one list.

use std::collections::BTreeMap;

use offload_image::image::Kind;

use super::container::{self, in_offload_binary};
use super::image::Found;
use super::origin::{Origin, Origins};
use crate::failure::{clean, list};
use crate::sizes;

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
            let mut containers: Vec<usize> = places.iter().map(|place| place.group).collect();
            containers.dedup();
            let twice = told.entry((path, containers)).or_default();
            twice.names.push(format!("{kind} for {arch}"));
            let more = places.iter().skip(1).map(|place| place.image.report.size);
            twice.bytes = more.fold(twice.bytes, u64::saturating_add);
        }
    }
    let mut notes = Vec::new();
    for ((path, containers), Twice { names, bytes }) in told {
        let containers = containers.iter().filter_map(|at| groups.get(*at));
        let containers: Vec<&[&Found<'_>]> = containers.map(Vec::as_slice).collect();
        let places = places_of(&containers, origins);
        notes.push(format!(
            "{} has {} more than once, the same bytes: in {}; {} could be saved",
            clean(path),
            list(&names, 5),
            places.join(", and in "),
            sizes::bytes(bytes)
        ));
    }
    notes
}

/// The containers for people. Each target that has the same may have brought any of them, so they are
/// told in turn.
fn places_of(groups: &[&[&Found<'_>]], origins: &Origins<'_>) -> Vec<String> {
    let mut places = Vec::new();
    let mut told: Vec<Origin> = Vec::new();
    for images in groups {
        let mut having = origins.every(images).into_iter();
        let fresh = |origin: &Origin| told.iter().all(|told| told.text != origin.text);
        let origin = having.find(fresh);
        let first = images.first();
        places.extend(first.and_then(|first| container::place(first, origin.as_ref())));
        told.extend(origin);
    }
    places
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
