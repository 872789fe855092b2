//! Where an image in a linked program came from: the objects, archives and crates that it was linked
//! from are looked through for the same image.
//!
//! The linker copies images as they are, so equal bytes tell. Behind PTX in plain sight stands whatever
//! the linker put there, so of PTX the text counts up to its last brace.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use offload_audit::image::Image;
use offload_image::image::Kind;
use sha2::{Digest, Sha256};

use super::image::Found;
use crate::cli::VerifyArgs;
use crate::failure::clean;
use crate::gather::{File, Inputs};

/// `--flag A B`, given several times, as clap has it: all values in one list.
fn pairs(values: &[String]) -> impl Iterator<Item = (&String, &String)> {
    values.chunks_exact(2).filter_map(|pair| match pair {
        [one, other] => Some((one, other)),
        _ => None,
    })
}

/// The targets whose images may breach rules.
pub fn allowed(args: &VerifyArgs) -> impl Iterator<Item = &String> {
    pairs(&args.allowed).map(|(target, _)| target)
}

/// The images of everything that the files were linked from, read where somebody asks for one.
pub struct Origins<'a> {
    args: &'a VerifyArgs,
    files: OnceCell<Vec<Linked>>,
}

/// A file that was linked, and its target.
struct Linked {
    target: String,
    file: File<Identity>,
}

/// What an image is known by, wherever it lies; `None` where it could not be unpacked.
pub type Identity = Option<[u8; 32]>;

/// The identity of an image.
pub fn identity(image: &Image, bytes: Option<&[u8]>) -> Identity {
    let bytes = bytes?;
    let end = match image.kind {
        Kind::Ptx => memchr::memrchr(b'}', bytes).map_or(bytes.len(), |at| at + 1),
        _ if image.sha256.is_some() => return image.sha256,
        _ => bytes.len(),
    };
    Some(Sha256::digest(bytes.get(..end)?).into())
}

/// A target that has an image.
pub struct Origin {
    pub target: String,
    /// `//x:y (libx.a: kernel.o)`, for people.
    pub text: String,
}

/// Where an image came from.
pub enum Source {
    /// Nobody said what the file was linked from, or the image could not be unpacked.
    Unknown,
    /// Nothing that the file was linked from has it.
    None,
    Target(Origin),
}

impl<'a> Origins<'a> {
    pub fn new(args: &'a VerifyArgs) -> Self {
        let files = OnceCell::new();
        Self { args, files }
    }

    /// Why the images of a target may breach rules, where they may.
    pub fn reason(&self, target: &str) -> Option<&'a String> {
        let mut allowed = pairs(&self.args.allowed);
        allowed.find_map(|(name, reason)| (name == target).then_some(reason))
    }

    /// Files that cannot be read tell nothing: what is wrong with them is the linked file's to say.
    fn read(&self) -> Vec<Linked> {
        let origins: Vec<(&String, &String)> = pairs(&self.args.origins).collect();
        let paths: Vec<PathBuf> = origins.iter().map(|(_, path)| path.into()).collect();
        let files = Inputs::list(&paths).read(&self.args.read.bytes(), identity);
        let target = |file: &File<Identity>| {
            let origin = origins
                .iter()
                .find(|(_, path)| file.path == Path::new(path));
            origin.map(|(target, _)| (*target).clone())
        };
        let with_target = |file| {
            let target = target(&file)?;
            Some(Linked { target, file })
        };
        files.into_iter().filter_map(with_target).collect()
    }

    /// Where the image comes from that is the `turn`th of its bytes in a file, from 0. Each target that has
    /// it may have brought any of these, so they are told in turn: none hides behind another that has the same.
    pub fn of(&self, image: &Found<'_>, turn: usize) -> Source {
        let files = self.files();
        if files.is_empty() || image.seen.identity.is_none() {
            return Source::Unknown;
        }
        let mut targets: Vec<Origin> = Vec::new();
        for (_, origin) in files.iter().filter_map(|file| file.having(&[image])) {
            if targets.iter().all(|known| known.target != origin.target) {
                targets.push(origin);
            }
            if targets.len() > turn {
                break;
            }
        }
        targets.pop().map_or(Source::None, Source::Target)
    }

    /// The one that has all images of a container, and the fewest beside them.
    pub fn of_container(&self, images: &[&Found<'_>]) -> Option<Origin> {
        self.every(images).into_iter().next()
    }

    /// Every one that has all images of a container, those with the fewest beside them first.
    pub fn every(&self, images: &[&Found<'_>]) -> Vec<Origin> {
        let files = self.files().iter();
        let mut found: Vec<_> = files.filter_map(|file| file.having(images)).collect();
        found.sort_by_key(|(others, _)| *others);
        found.into_iter().map(|(_, origin)| origin).collect()
    }

    fn files(&self) -> &[Linked] {
        self.files.get_or_init(|| self.read())
    }
}

impl Linked {
    /// Where it has all of these images: told is where the first of them is, and how many others are
    /// in the same object.
    fn having(&self, images: &[&Found<'_>]) -> Option<(usize, Origin)> {
        let (first, others) = images.split_first()?;
        let found = self.same(first.seen.identity)?;
        let mut others = others.iter();
        if !others.all(|image| self.same(image.seen.identity).is_some()) {
            return None;
        }
        let member = &found.location.member;
        let of_member = |(image, _): &&(Image, Identity)| image.location.member == *member;
        let beside = self.file.images.iter().filter(of_member).count();
        let name = self.file.path.file_name();
        let name = name.unwrap_or(self.file.path.as_os_str());
        let names: Vec<String> = std::iter::once(&*name.to_string_lossy())
            .chain(member.iter().map(String::as_str))
            .map(clean)
            .collect();
        let origin = Origin {
            target: self.target.clone(),
            text: format!("{} ({})", clean(&self.target), names.join(": ")),
        };
        Some((beside.abs_diff(images.len()), origin))
    }

    /// The image of it that is the same.
    fn same(&self, wanted: Identity) -> Option<&Image> {
        let same = |(_, identity): &&(Image, Identity)| wanted.is_some() && *identity == wanted;
        // rustc keeps constants in its metadata too, which is not what gets linked.
        let same = self.file.images.iter().filter(same);
        same.map(|(image, _)| image)
            .max_by_key(|image| !in_metadata(image))
    }
}

fn in_metadata(image: &Image) -> bool {
    let member = image.location.member.last();
    member.is_some_and(|name| name.ends_with(".rmeta"))
}
