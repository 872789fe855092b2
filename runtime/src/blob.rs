//! From the bytes of OffloadBinaries to images.

use crate::error::Error;
use crate::images::Image;
use offload_image::bytes::Bytes;
use offload_image::image::{Content, Kind};
use offload_image::offload_binary::{image_kind, Entry, OffloadBinary};
use offload_image::policy::PtxPolicy;

/// The images of one blob, in order. `number` counts the program's blobs, for errors.
///
/// What stands in an image is looked at when somebody asks, for a program may have hundreds of
/// megabytes of images and need one.
pub(crate) fn read<'a>(number: usize, blob: &'a [u8]) -> Result<Vec<Image<'a>>, Error> {
    let malformed = |offset: u64, problem: String| Error::Malformed {
        place: format!("blob {number} of this program's images"),
        offset,
        problem,
    };
    let binaries = OffloadBinary::parse_all(Bytes::new(blob))
        .map_err(|error| malformed(error.offset(), error.to_string()))?;
    let mut images = Vec::new();
    for entry in binaries.iter().flat_map(|binary| &binary.entries) {
        // An entry may carry strings only.
        let Some(bytes) = entry.image else { continue };
        let policy = entry
            .get(PtxPolicy::KEY)
            .map(|word| word.parse::<PtxPolicy>())
            .transpose()
            .map_err(|problem| malformed(bytes.base(), problem))?;
        let arch = entry.get("arch").unwrap_or_default().to_owned();
        images.push(Image::new(arch, kind(entry, bytes), bytes.data(), policy));
    }
    Ok(images)
}

/// What the container says, where it says something. It has no kind for AMD's code objects, and
/// LLVM's own tool goes by the file's extension: for the rest the bytes decide.
fn kind(entry: &Entry<'_>, bytes: Bytes<'_>) -> Kind {
    match entry.image_kind {
        image_kind::CUBIN => Kind::Cubin,
        image_kind::PTX => Kind::Ptx,
        image_kind::BITCODE => Kind::Bitcode,
        image_kind::SPIRV => Kind::Spirv,
        other => Content::parse(bytes).map_or(Kind::Unknown(other), |content| content.kind()),
    }
}
