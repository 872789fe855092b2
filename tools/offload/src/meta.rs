//! What `check` writes about an image and later steps read.

use std::path::Path;

use offload_audit::files::Opened;
use offload_image::image::{Content, Kind};
use offload_image::policy::PtxPolicy;
use offload_image::ptx_isa::first_driver;
use offload_image::target::Target;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::files;

/// The version of the format.
pub const SCHEMA: u32 = 1;

/// The facts about one image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    pub schema: u32,
    /// As declared: a cubin does not always tell its letter.
    pub arch: String,
    pub kind: String,
    /// In bytes.
    pub size: u64,
    pub sha256: String,
    /// Sorted.
    pub kernels: Vec<String>,
    /// `7.0`; only for PTX.
    pub ptx_isa: Option<String>,
    /// The oldest NVIDIA driver that compiles it, `450`; only for PTX, where one is known.
    pub min_driver: Option<String>,
    /// The PTX policy of the target that it is an image of.
    #[serde(default, with = "policy")]
    pub policy: Option<PtxPolicy>,
}

impl Meta {
    pub fn new(
        kind: Kind,
        arch: &Target,
        image: &Opened,
        content: &Content,
        policy: Option<PtxPolicy>,
    ) -> Self {
        let isa = match content {
            Content::Ptx(ptx) => Some(ptx.isa),
            Content::Cubin(_) | Content::Gfx(_) => None,
        };
        Self {
            schema: SCHEMA,
            arch: arch.to_string(),
            kind: kind.to_string(),
            size: image.bytes().len() as u64,
            sha256: files::sha256(image),
            kernels: content.kernels().to_vec(),
            ptx_isa: isa.map(|isa| isa.to_string()),
            min_driver: isa.and_then(first_driver).map(|driver| driver.to_string()),
            policy,
        }
    }

    pub fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = files::read(path)?;
        let meta: Self = serde_json::from_slice(&bytes).map_err(|error| {
            Failure::unreadable(format!("{}: malformed metadata: {error}", path.display()))
        })?;
        if meta.schema == SCHEMA {
            return Ok(meta);
        }
        Err(Failure::unreadable(format!(
            "{}: metadata of schema {}, and only {SCHEMA} is known",
            path.display(),
            meta.schema
        )))
    }
}

/// The policy as its word.
mod policy {
    use offload_image::policy::PtxPolicy;
    use serde::{de::Error, Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(policy: &Option<PtxPolicy>, to: S) -> Result<S::Ok, S::Error> {
        policy.map(PtxPolicy::name).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PtxPolicy>, D::Error> {
        let word = Option::<String>::deserialize(from)?;
        word.map(|word| word.parse())
            .transpose()
            .map_err(D::Error::custom)
    }
}
