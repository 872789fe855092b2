//! Kernels that two containers of one file have for different architectures. Which of the two runs
//! then depends on the GPU, and on some there is none: no breach of a rule, and seldom meant.

use std::collections::{BTreeMap, BTreeSet};

use super::container::groups;
use super::image::Found;
use crate::failure::{clean, list};
use crate::table::place_at;

/// A container that has a kernel.
struct Place {
    at: String,
    archs: BTreeSet<String>,
}

/// A note for each pair, or larger set, of containers of one file.
pub fn notes(found: &[Found<'_>]) -> Vec<String> {
    // Where each kernel of a file is: the container, and the architectures in it.
    let mut places: BTreeMap<(&str, &str), Vec<Place>> = BTreeMap::new();
    for group in groups(found) {
        let Some(at) = group.first().and_then(|image| place_of(image)) else {
            continue;
        };
        let mut archs: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
        for image in &group {
            for kernel in image.report.kernels.iter().flatten() {
                let key = (image.path.as_str(), kernel.as_str());
                archs.entry(key).or_default().insert(image.arch());
            }
        }
        for (key, archs) in archs {
            let at = at.clone();
            places.entry(key).or_default().push(Place { at, archs });
        }
    }
    let mut uneven: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for ((path, kernel), places) in places {
        if places.windows(2).any(|pair| pair[0].archs != pair[1].archs) {
            let told: Vec<String> = places.iter().map(told).collect();
            let kernels = uneven.entry((path, told.join(", and "))).or_default();
            kernels.push(kernel.to_owned());
        }
    }
    let note = |((path, places), kernels): ((&str, String), Vec<String>)| {
        let (path, kernels) = (clean(path), list(&kernels, 5));
        format!("{path} has {kernels} more than once, for different architectures: {places}")
    };
    uneven.into_iter().map(note).collect()
}

fn told(place: &Place) -> String {
    let archs: Vec<String> = place.archs.iter().cloned().collect();
    format!("{} for {}", place.at, list(&archs, 50))
}

/// Where a container is, for people; `None` for images that are files of their own, which nobody
/// loads together.
fn place_of(image: &Found<'_>) -> Option<String> {
    Some(place_at(&image.report, image.report.container_offset?))
}
