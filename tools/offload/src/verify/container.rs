//! Which images a program loads together: those of one fatbin or bundle.
//!
//! Images that are files of their own count as one container; so do all OffloadBinaries of one section,
//! of which each holds one image.

use super::image::Found;

/// The images of each container, in the order in which these were found.
pub fn groups<'f, 'a>(found: &'f [Found<'a>]) -> Vec<Vec<&'f Found<'a>>> {
    let mut groups: Vec<(Option<Container<'f>>, Vec<&'f Found<'a>>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for image in found {
        let container = Container::of(image);
        let at = *places.entry(container.clone()).or_insert_with(|| {
            groups.push((container, Vec::new()));
            groups.len() - 1
        });
        if let Some((_, images)) = groups.get_mut(at) {
            images.push(image);
        }
    }
    groups.into_iter().map(|(_, images)| images).collect()
}

/// Which container an image is in: the file, its member, and where in it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Container<'a> {
    path: &'a str,
    member: &'a [String],
    at: Option<u64>,
    section: Option<&'a str>,
}

impl<'a> Container<'a> {
    /// `None` for an image that is a file of its own.
    fn of(image: &'a Found<'_>) -> Option<Self> {
        let report = &image.report;
        let container = report.container.as_deref()?;
        let innermost = container.rsplit('/').next();
        let member = match report.member.split_last() {
            Some((_, archive)) if matches!(innermost, Some("zip" | "ar")) => archive,
            _ => &report.member,
        };
        let in_a_row = innermost == Some("offload_binary");
        Some(Self {
            path: &image.path,
            member,
            at: report.container_offset.filter(|_| !in_a_row),
            section: report.section.as_deref(),
        })
    }
}
