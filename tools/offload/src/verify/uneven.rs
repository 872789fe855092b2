//! Kernels that two containers of one file have for different architectures of one vendor. Which of the
//! two runs then depends on the GPU, and on some there is none: no breach of a rule, and seldom meant.

use std::collections::{BTreeMap, BTreeSet};

use offload_image::image::Kind;

use super::container;
use super::image::Found;
use super::origin::Origins;
use crate::failure::{clean, list};

/// A kernel of a file, for one vendor: its images for another are often in a container of their own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'f> {
    path: &'f str,
    kernel: &'f str,
    amd: bool,
}

/// A container that has a kernel, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place<'g> {
    group: usize,
    archs: &'g BTreeSet<String>,
}

/// A note for each pair, or larger set, of containers of one file.
pub fn notes(groups: &[Vec<&Found<'_>>], origins: &Origins<'_>) -> Vec<String> {
    // The architectures of each kernel of each container.
    let archs: Vec<BTreeMap<Key<'_>, BTreeSet<String>>> = groups.iter().map(archs).collect();
    let mut places: BTreeMap<Key<'_>, Vec<Place<'_>>> = BTreeMap::new();
    for (group, archs) in archs.iter().enumerate() {
        for (key, archs) in archs {
            let place = Place { group, archs };
            places.entry(*key).or_default().push(place);
        }
    }
    let mut uneven: BTreeMap<(&str, Vec<Place<'_>>), Vec<String>> = BTreeMap::new();
    for (Key { path, kernel, .. }, places) in places {
        if places.windows(2).any(|pair| pair[0].archs != pair[1].archs) {
            let kernels = uneven.entry((path, places)).or_default();
            kernels.push(kernel.to_owned());
        }
    }
    let told = |place: &Place<'_>| {
        let images = groups.get(place.group)?;
        let at = container::place(images.first()?, origins.of_container(images).as_ref())?;
        let archs: Vec<String> = place.archs.iter().cloned().collect();
        Some(format!("{at} for {}", list(&archs, 50)))
    };
    let mut notes = Vec::new();
    for ((path, places), kernels) in uneven {
        let places: Vec<String> = places.iter().filter_map(told).collect();
        notes.push(format!(
            "{} has {} more than once, for different architectures: {}",
            clean(path),
            list(&kernels, 5),
            places.join(", and ")
        ));
    }
    notes
}

/// Of a container; nothing of images that are files of their own.
fn archs<'f>(group: &'f Vec<&Found<'_>>) -> BTreeMap<Key<'f>, BTreeSet<String>> {
    let mut archs: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for image in group.iter().filter(|i| i.report.container_offset.is_some()) {
        for kernel in image.report.kernels.iter().flatten() {
            let key = Key {
                path: &image.path,
                kernel,
                amd: image.image.kind == Kind::Gfx,
            };
            archs.entry(key).or_default().insert(image.arch());
        }
    }
    archs
}
