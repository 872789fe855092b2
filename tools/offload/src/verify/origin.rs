//! Where an image in a linked program came from: the objects, archives and crates that it was linked
//! from are looked through for the same image.
//!
//! The linker copies images as they are, so equal bytes tell. Behind PTX in plain sight stands whatever
//! the linker put there, so of PTX the text counts up to its last brace.

use std::path::{Path, PathBuf};

use offload_audit::image::Image;
use offload_image::image::Kind;
use sha2::{Digest, Sha256};

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

/// Why the images of a target may breach rules, where they may.
pub fn reason<'a>(args: &'a VerifyArgs, target: &str) -> Option<&'a String> {
    let mut allowed = pairs(&args.allowed);
    allowed.find_map(|(name, reason)| (name == target).then_some(reason))
}

/// The targets whose images may breach rules.
pub fn allowed(args: &VerifyArgs) -> impl Iterator<Item = &String> {
    pairs(&args.allowed).map(|(target, _)| target)
}

/// The images of everything that the files were linked from.
pub struct Origins(Vec<(String, File<Identity>)>);

/// What an image is known by, wherever it lies; `None` where it could not be unpacked.
pub type Identity = Option<[u8; 32]>;

/// The identity of an image.
pub fn identity(image: &Image, bytes: Option<&[u8]>) -> Identity {
    let bytes = bytes?;
    let end = match image.kind {
        Kind::Ptx => memchr::memrchr(b'}', bytes).map_or(bytes.len(), |at| at + 1),
        _ => return image.sha256,
    };
    Some(Sha256::digest(bytes.get(..end)?).into())
}

/// Where an image came from.
pub enum Source {
    /// Nobody said what the file was linked from, or the image could not be unpacked.
    Unknown,
    /// Nothing that the file was linked from has it.
    None,
    Target {
        target: String,
        /// `//x:y (libx.a: kernel.o)`, for people.
        text: String,
    },
}

impl Origins {
    /// Files that cannot be read tell nothing: what is wrong with them is the linked file's to say.
    pub fn read(args: &VerifyArgs) -> Self {
        let origins: Vec<(&String, &String)> = pairs(&args.origins).collect();
        let paths: Vec<PathBuf> = origins.iter().map(|(_, path)| path.into()).collect();
        let files = Inputs::list(&paths).read(&args.read.contents(true), identity);
        let target = |file: &File<Identity>| {
            let origin = origins
                .iter()
                .find(|(_, path)| file.path == Path::new(path));
            origin.map(|(target, _)| (*target).clone())
        };
        let with_target = |file| Some((target(&file)?, file));
        Self(files.into_iter().filter_map(with_target).collect())
    }

    /// The first that has the image.
    pub fn of(&self, wanted: Identity) -> Source {
        if self.0.is_empty() || wanted.is_none() {
            return Source::Unknown;
        }
        let mut having = self.0.iter().filter_map(|(target, file)| {
            let same = |(_, identity): &&(Image, Identity)| *identity == wanted;
            // rustc keeps constants in its metadata too, which is not what gets linked.
            let images = file.images.iter().filter(same);
            let (found, _) = images.max_by_key(|(image, _)| !in_metadata(image))?;
            let name = file.path.file_name().unwrap_or(file.path.as_os_str());
            let names = found.location.member.iter().map(String::as_str);
            let names: Vec<String> = std::iter::once(&*name.to_string_lossy())
                .chain(names)
                .map(clean)
                .collect();
            Some(Source::Target {
                target: target.clone(),
                text: format!("{} ({})", clean(target), names.join(": ")),
            })
        });
        having.next().unwrap_or(Source::None)
    }
}

fn in_metadata(image: &Image) -> bool {
    let member = image.location.member.last();
    member.is_some_and(|name| name.ends_with(".rmeta"))
}
