//! The images of a program.

use crate::blob;
use crate::error::{Error, ImageName};
use offload_image::bytes::Bytes;
use offload_image::image::{Content, Kind};
use offload_image::policy::PtxPolicy;
use offload_image::ptx_isa::PtxIsa;
use offload_image::select::{tie, Candidate, Code};
use offload_image::strong::strong_kernels;
use offload_image::target::{Sm, Target};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The images of a program, in the order in which they were linked. `Display` is a table of them.
#[derive(Debug, Clone)]
pub struct Images<'a> {
    images: Vec<Image<'a>>,
}

impl<'a> Images<'a> {
    /// The images in the bytes of LLVM OffloadBinaries, for those that are not linked in: read from
    /// a file beside the program, for instance.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn parse(blob: &'a [u8]) -> Result<Images<'a>, Error> {
        Images::of_blobs(&[blob])
    }

    pub(crate) fn of_blobs(blobs: &[&'a [u8]]) -> Result<Images<'a>, Error> {
        let mut images = Vec::new();
        for (number, blob) in blobs.iter().enumerate() {
            images.extend(blob::read(number, blob)?);
        }
        Ok(Images { images })
    }

    #[cfg(test)]
    pub(crate) fn of_images(images: Vec<Image<'a>>) -> Images<'a> {
        Images { images }
    }

    /// Each image.
    pub fn iter(&self) -> std::slice::Iter<'_, Image<'a>> {
        self.images.iter()
    }

    /// How many images there are.
    pub fn len(&self) -> usize {
        self.images.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.images.is_empty()
    }
}

impl<'i, 'a> IntoIterator for &'i Images<'a> {
    type Item = &'i Image<'a>;
    type IntoIter = std::slice::Iter<'i, Image<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// One image. Cheap to clone: clones share the bytes.
#[derive(Clone)]
pub struct Image<'a> {
    inner: Arc<Inner<'a>>,
}

struct Inner<'a> {
    arch: String,
    kind: Kind,
    bytes: &'a [u8],
    policy: Option<PtxPolicy>,
    /// Read when first asked for; `None` for kinds that cannot be read.
    content: OnceLock<Result<Option<Content>, Error>>,
}

impl<'a> Image<'a> {
    pub(crate) fn new(
        arch: String,
        kind: Kind,
        bytes: &'a [u8],
        policy: Option<PtxPolicy>,
    ) -> Image<'a> {
        let content = OnceLock::new();
        Image {
            inner: Arc::new(Inner {
                arch,
                kind,
                bytes,
                policy,
                content,
            }),
        }
    }

    /// An image of no bytes, as if it had this content.
    #[cfg(test)]
    pub(crate) fn with_content(
        arch: &str,
        policy: Option<PtxPolicy>,
        content: Content,
    ) -> Image<'a> {
        let image = Image::new(arch.to_owned(), content.kind(), &[], policy);
        let fresh = image.inner.content.set(Ok(Some(content)));
        assert!(fresh.is_ok(), "nothing has asked for it yet");
        image
    }

    /// What it was built for: `sm_90`, `gfx90a:xnack-`; for PTX its `.target`.
    pub fn arch(&self) -> &str {
        &self.inner.arch
    }

    /// What it consists of.
    pub fn kind(&self) -> Kind {
        self.inner.kind
    }

    /// The image itself.
    pub fn bytes(&self) -> &'a [u8] {
        self.inner.bytes
    }

    /// The PTX policy of the build that made it, if it recorded one.
    pub fn policy(&self) -> Option<PtxPolicy> {
        self.inner.policy
    }

    /// The kernels that it exports, sorted; `None` where this crate cannot read the kind of image.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn kernels(&self) -> Result<Option<&[String]>, Error> {
        match self.content() {
            Ok(content) => Ok(content.as_ref().map(Content::kernels)),
            Err(error) => Err(error.clone()),
        }
    }

    /// The PTX ISA version that it is written in; `None` for other kinds, and for PTX that does not
    /// say.
    pub fn ptx_isa(&self) -> Option<PtxIsa> {
        match self.content() {
            Ok(Some(Content::Ptx(ptx))) => Some(ptx.isa),
            _ => None,
        }
    }

    /// The sha256 of [`Image::bytes`], in hexadecimal. Reads all of them at each call.
    pub fn sha256(&self) -> String {
        let digest = Sha256::digest(self.bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// How errors name it.
    pub fn name(&self) -> ImageName {
        ImageName {
            arch: self.arch().to_owned(),
            kind: self.kind().to_string(),
        }
    }

    /// What selection has to know; `None` for an image that no rule can pick.
    pub(crate) fn candidate(&self) -> Option<Candidate> {
        let arch = self.arch();
        let target = match Target::parse(arch) {
            Ok(target) => target,
            // Somebody else's images may be for GPUs that we do not build for.
            Err(_) => Target::Sm(Sm::parse(arch)?),
        };
        let code = match self.kind() {
            // PTX from a build that forbids it: however it came in, no driver is to compile it.
            Kind::Ptx if self.policy() == Some(PtxPolicy::Forbid) => return None,
            Kind::Ptx => Code::Ptx(self.ptx_isa()),
            Kind::Cubin | Kind::Gfx => Code::Native,
            Kind::Bitcode | Kind::Spirv | Kind::Unknown(_) => return None,
        };
        Some(Candidate { code, target })
    }

    /// Whether another image has the same kernel for the same GPUs, and other code for it. One that cannot
    /// be read says nothing here: that is told where it is loaded.
    pub(crate) fn clashes(&self, other: &Image<'_>, kernel: &str) -> bool {
        let tied = match (self.candidate(), other.candidate()) {
            (Some(one), Some(other)) => tie(&one, &other),
            _ => false,
        };
        tied && other.is_strong(kernel) && self.bytes() != other.bytes() && self.is_strong(kernel)
    }

    fn is_strong(&self, kernel: &str) -> bool {
        let has = |names: &[String]| names.iter().any(|name| name == kernel);
        match self.content() {
            Ok(Some(content)) if has(content.kernels()) => {
                strong_kernels(Bytes::new(self.bytes()), content).is_ok_and(|names| has(&names))
            }
            _ => false,
        }
    }

    fn content(&self) -> &Result<Option<Content>, Error> {
        self.inner.content.get_or_init(|| self.read())
    }

    /// Reads the image's own bytes, and holds them against the label that selection goes by.
    fn read(&self) -> Result<Option<Content>, Error> {
        if !matches!(self.kind(), Kind::Cubin | Kind::Gfx | Kind::Ptx) {
            return Ok(None);
        }
        let malformed = |offset: u64, problem: String| Error::Malformed {
            place: format!("the image {}", self.name()),
            offset,
            problem,
        };
        let content = Content::parse(Bytes::new(self.bytes()))
            .map_err(|error| malformed(error.offset(), error.to_string()))?;
        let label = Target::parse(self.arch())
            .map_or_else(|_| self.arch().to_owned(), |target| target.to_string());
        let (kind, arch) = (content.kind(), content.arch(Some(&label)));
        if kind != self.kind() || arch != label {
            return Err(malformed(
                0,
                format!("its own bytes say that it is {arch} ({kind})"),
            ));
        }
        Ok(Some(content))
    }
}

impl fmt::Debug for Image<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({}, {} bytes)", self.name(), self.bytes().len())
    }
}
