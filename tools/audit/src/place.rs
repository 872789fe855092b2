//! What is known of the surroundings of bytes that are looked at.

use offload_image::image::{Compression, Kind};

use crate::image::{Label, Location};

/// Longer names are cut: they are told with every image in them, and one long name for many small
/// images would take the product of the two.
const MAX_NAME: usize = 512;

/// The surroundings: what an image is told to be in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    pub member: Vec<String>,
    pub container: String,
    pub section: Option<String>,
    pub label: Label,
    /// The kind that the container names.
    pub kind: Option<Kind>,
    /// Whether a GPU container is around it, so that what is not known is still GPU code.
    pub gpu: bool,
    pub depth: u32,
    pub packed: Option<Packed>,
    /// Where the innermost GPU container starts in the member, or the blob that it came out of.
    pub container_offset: Option<u64>,
    /// The packed file that it was linked from.
    pub pack: Option<u64>,
}

/// The compressed blob that bytes were unpacked from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packed {
    /// Where it lies in the member.
    pub offset: u64,
    /// Its size, where it holds one image and nothing else.
    pub size: Option<u64>,
    pub compression: Compression,
}

impl Place {
    /// One container further in.
    pub fn inside(&self, container: &str) -> Self {
        let mut inner = self.clone();
        inner.depth += 1;
        if !inner.container.is_empty() {
            inner.container.push('/');
        }
        inner.container.push_str(container);
        if let Some(packed) = &mut inner.packed {
            packed.size = None;
        }
        inner
    }

    /// Inside a container that is made for GPU code and starts at that offset.
    pub fn inside_gpu(&self, container: &str, offset: u64) -> Self {
        Self {
            gpu: true,
            container_offset: Some(self.packed.map_or(offset, |packed| packed.offset)),
            ..self.inside(container)
        }
    }

    /// A member of an archive, whose bytes count from its own start.
    pub fn member(&self, container: &str, name: &str) -> Self {
        let mut inner = self.inside(container);
        inner.member.push(short(name));
        inner.section = None;
        inner.packed = None;
        inner.container_offset = None;
        inner.pack = None;
        inner
    }

    pub fn in_section(&self, name: Option<&str>) -> Self {
        Self {
            section: name.map(short),
            ..self.clone()
        }
    }

    /// In the bytes that a blob unpacked to. Of blobs inside one another the outermost one tells
    /// the offset, as it alone can be found in the file.
    pub fn unpacked(&self, blob: Packed) -> Self {
        let offset = self.packed.map_or(blob.offset, |outer| outer.offset);
        Self {
            packed: Some(Packed { offset, ..blob }),
            ..self.clone()
        }
    }

    pub fn location(&self, base: u64) -> Location {
        Location {
            member: self.member.clone(),
            container: self.container.clone(),
            section: self.section.clone(),
            offset: self.packed.map_or(base, |packed| packed.offset),
            inner_offset: self.packed.map(|_| base),
            container_offset: self.container_offset,
            pack: self.pack,
        }
    }
}

fn short(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}
