//! The JSON form of what `inspect` finds: others rely on its names.

use std::path::Path;

use offload_audit::image::Image;
use offload_audit::scan::Scan;
use serde::Serialize;

/// The version of the format.
pub const SCHEMA: u32 = 1;

#[derive(Serialize)]
pub struct Report {
    pub schema: u32,
    pub files: Vec<FileReport>,
}

#[derive(Serialize)]
pub struct FileReport {
    pub path: String,
    pub images: Vec<ImageReport>,
    /// Whether all of the file could be read; told on the error stream, not here.
    #[serde(skip)]
    pub whole: bool,
}

/// One image. What cannot be known is `null`: the kernels of an image that is malformed, say.
#[derive(Serialize)]
pub struct ImageReport {
    pub kind: String,
    pub arch: Option<String>,
    /// The formats around it, outermost first: `elf/fatbin`; `null` for a bare image.
    pub container: Option<String>,
    pub section: Option<String>,
    /// Where its stored bytes start in the file.
    pub offset: u64,
    pub compression: &'static str,
    /// In bytes, as stored.
    pub size: u64,
    /// In bytes.
    pub unpacked_size: u64,
    /// Of the unpacked bytes.
    pub sha256: Option<String>,
    pub kernels: Option<Vec<String>>,
    pub ptx_isa: Option<String>,
    pub policy: Option<String>,
}

impl FileReport {
    pub fn new(path: &Path, found: &Scan) -> Self {
        Self {
            path: path.display().to_string(),
            images: found.images.iter().map(ImageReport::new).collect(),
            whole: found.problems.is_empty(),
        }
    }
}

impl ImageReport {
    pub fn new(image: &Image) -> Self {
        let container = &image.location.container;
        Self {
            kind: image.kind.to_string(),
            arch: image.arch(),
            container: (!container.is_empty()).then(|| container.clone()),
            section: image.location.section.clone(),
            offset: image.location.offset,
            compression: image.compression.name(),
            size: image.size,
            unpacked_size: image.unpacked_size,
            sha256: image
                .sha256
                .map(|hash| hash.iter().map(|byte| format!("{byte:02x}")).collect()),
            kernels: image.kernels().map(<[String]>::to_vec),
            ptx_isa: image.ptx_isa().map(|isa| isa.to_string()),
            policy: image.label.policy.clone(),
        }
    }
}
