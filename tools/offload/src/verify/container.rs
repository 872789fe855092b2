//! Which images a program loads together: those of one fatbin, bundle or packed file.
//!
//! OffloadBinaries hold one image each. Those of a linked program that were packed together are one
//! container; where nothing tells, all of one section are. So are images that are files of their own.

use std::collections::HashMap;

use super::image::Found;
use super::origin::Origin;
use crate::table::place_at;

/// The images of each container, none of them empty, in the order in which these were found.
pub fn groups<'f, 'a>(found: &'f [Found<'a>]) -> Vec<Vec<&'f Found<'a>>> {
    let mut groups: Vec<Vec<&'f Found<'a>>> = Vec::new();
    let mut places = HashMap::new();
    for image in found {
        let at = *places.entry(Container::of(image)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        if let Some(images) = groups.get_mut(at) {
            images.push(image);
        }
    }
    groups
}

/// Where the container is that starts with this image, for people; `None` for images that are files of
/// their own, which nobody loads together.
pub fn place(first: &Found<'_>, origin: Option<&Origin>) -> Option<String> {
    let report = &first.report;
    let mut text = place_at(report, report.container_offset?);
    if let Some(pack) = report.pack {
        text.push_str(&format!(", pack {pack}"));
    }
    if let Some(origin) = origin {
        text.push_str(&format!(", from {}", origin.text));
    }
    Some(text)
}

/// The format that is next to the image, outside of it.
fn innermost(container: &str) -> Option<&str> {
    container.rsplit('/').next()
}

/// Whether an image is in an OffloadBinary.
pub fn in_offload_binary(container: &str) -> bool {
    innermost(container) == Some("offload_binary")
}

/// Which container an image is in: the file, its member, and where in it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Container<'a> {
    path: &'a str,
    member: &'a [String],
    at: Option<u64>,
    section: Option<&'a str>,
    pack: Option<u64>,
}

impl<'a> Container<'a> {
    /// `None` for an image that is a file of its own.
    fn of(image: &'a Found<'_>) -> Option<Self> {
        let report = &image.report;
        let container = report.container.as_deref()?;
        let member = match report.member.split_last() {
            Some((_, archive)) if matches!(innermost(container), Some("zip" | "ar")) => archive,
            _ => &report.member,
        };
        let in_a_row = in_offload_binary(container);
        Some(Self {
            path: &image.path,
            member,
            at: report.container_offset.filter(|_| !in_a_row),
            section: report.section.as_deref(),
            pack: report.pack.filter(|_| in_a_row),
        })
    }
}
