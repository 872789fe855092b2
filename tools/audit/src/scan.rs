//! Finds every device image in a file, whatever formats are around it.

use std::fmt;
use std::path::Path;

use offload_image::bytes::Bytes;
use offload_image::Error;

use crate::image::Image;
use crate::limits::Limits;
use crate::place::Place;
use crate::source::Source;
use crate::walker::Walker;

/// How to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// What may be unpacked.
    pub limits: Limits,
    /// How much of a compressed image is unpacked.
    pub unpack: Unpack,
    /// Whether the images are hashed, which takes longer than finding them.
    pub sha256: bool,
}

/// How much is read of an image in a fatbin, whose table tells what each is. Where one compressed blob
/// holds several images, all of it is unpacked: nothing else tells what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unpack {
    /// Nothing: kind and architecture are what the container says.
    Labels,
    /// As many bytes as tell the kind; the architecture is what the container says.
    Kinds,
    /// Everything. The sink sees what was read of them, and not the unpacked bytes.
    Contents,
    /// Everything, and the sink sees the bytes: they are kept until it does.
    Bytes,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            unpack: Unpack::Contents,
            sha256: true,
        }
    }
}

/// Takes what is found, in the order in which it is found.
pub trait Sink {
    /// An image, and its unpacked bytes where they could be had: with [`Unpack::Bytes`] those of every
    /// image that can be unpacked.
    fn image(&mut self, image: Image, bytes: Option<&[u8]>);
    /// Something that could not be read. It may hold images that are not told.
    fn problem(&mut self, problem: Problem);
    /// A member of an archive, or at last the file itself, after everything in it was told.
    fn member(&mut self, member: Member);
}

/// A fault, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The member whose bytes the error's offset counts in; empty for the file itself.
    pub member: Vec<String>,
    /// Where the compressed blob starts, if the offset counts in what that unpacked to.
    pub unpacked_from: Option<u64>,
    /// What is wrong.
    pub error: Error,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.member {
            write!(f, "{}: ", name.escape_debug())?;
        }
        if let Some(offset) = self.unpacked_from {
            write!(f, "in what is compressed at byte {offset:#x}: ")?;
        }
        self.error.fmt(f)
    }
}

/// A file, or a member of one, and what it turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name, the archives around it first; empty for the file itself.
    pub path: Vec<String>,
    /// `elf`, `ar`, `zip`, … or `unknown`.
    pub format: &'static str,
    /// What it holds.
    pub state: State,
    /// The PTX policies in its notes: what images in it were built under, by their own word.
    pub policies: Vec<String>,
    /// How many images are in it.
    pub images: usize,
    /// How many faults are in it.
    pub problems: usize,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum State {
    /// Images. Where there are problems too, perhaps not all of them.
    Images,
    /// It was read to its end: there is none.
    NoGpuCode,
    /// None is here, and the file uses some that is in another place; each reason in words.
    Elsewhere(Vec<String>),
    /// It could not be read, and none was found.
    Unreadable,
    /// It is no format that holds code, and none was found among its bytes.
    NotBinary,
}

impl State {
    /// The word used in reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Images => "images",
            Self::NoGpuCode => "no_gpu_code",
            Self::Elsewhere(_) => "elsewhere",
            Self::Unreadable => "unreadable",
            Self::NotBinary => "not_binary",
        }
    }
}

/// Everything that is in a file, but the bytes of the images.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scan {
    /// The images, by member and offset.
    pub images: Vec<Image>,
    /// What could not be read. A file with any of these may hold more images than are listed.
    pub problems: Vec<Problem>,
    /// The members, and the file itself as the last.
    pub members: Vec<Member>,
}

impl Sink for Scan {
    fn image(&mut self, image: Image, _: Option<&[u8]>) {
        self.images.push(image);
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    fn member(&mut self, member: Member) {
        self.members.push(member);
    }
}

impl Scan {
    /// What the file as a whole holds.
    #[must_use]
    pub fn state(&self) -> &State {
        self.members
            .last()
            .map_or(&State::Unreadable, |whole| &whole.state)
    }
}

/// Finds every image in the bytes of a file. A file of no known format is a problem, not an empty
/// answer: who asks whether it holds PTX must not be told no.
#[must_use]
pub fn scan(data: &[u8]) -> Scan {
    scan_with(data, &Options::default())
}

/// As [`scan`], with options.
#[must_use]
pub fn scan_with(data: &[u8], options: &Options) -> Scan {
    let mut found = Scan::default();
    scan_into(data, None, options, &mut found);
    if *found.state() == State::NotBinary {
        found.problems.push(Problem {
            member: Vec::new(),
            unpacked_from: None,
            error: Error::unrecognised(Bytes::new(data)),
        });
    }
    found.images.sort_by(|a, b| a.location.cmp(&b.location));
    found
}

/// Tells a sink everything that is in the bytes of a file. Whether bytes of no known format are a
/// fault is the caller's to say: in a folder of sources they are none. The members of a thin archive are files
/// beside it: they are looked for in `folder`.
pub fn scan_into(data: &[u8], folder: Option<&Path>, options: &Options, sink: &mut dyn Sink) {
    walk(data, Source { folder, file: None }, options, sink);
}

pub(crate) fn walk(data: &[u8], source: Source<'_>, options: &Options, sink: &mut dyn Sink) {
    Walker::new(sink, options, source).unit(Bytes::new(data), &Place::default());
}

#[cfg(test)]
mod containers;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod field_cases;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod packs;
#[cfg(test)]
mod tests;
