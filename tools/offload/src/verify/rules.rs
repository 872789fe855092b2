//! What files are held against, by key: the same keys stand on the command line and in policy files.

use std::str::FromStr;

use offload_image::policy::PtxPolicy;
use offload_image::ptx_isa::{Driver, PtxIsa};
use offload_image::target::{Sm, Target};
use serde::{Deserialize, Deserializer};

/// The keys that somebody set. A list that is set and empty asks for nothing.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Keys {
    #[serde(deserialize_with = "text")]
    pub ptx: Option<PtxPolicy>,
    #[serde(deserialize_with = "targets")]
    pub require_arch: Option<Vec<Target>>,
    pub require_kernel: Option<Vec<String>>,
    #[serde(deserialize_with = "targets")]
    pub forbid_arch: Option<Vec<Target>>,
    pub forbid_text: Option<Vec<String>>,
    pub max_image_bytes: Option<u64>,
    pub max_total_bytes: Option<u64>,
    #[serde(deserialize_with = "text")]
    pub max_ptx_isa: Option<PtxIsa>,
    #[serde(deserialize_with = "text")]
    pub min_driver: Option<Driver>,
}

/// The rules for one file, or one member of an archive.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules {
    pub ptx: Option<PtxPolicy>,
    pub require_archs: Vec<Target>,
    pub require_kernels: Vec<String>,
    pub forbid_archs: Vec<Target>,
    pub forbid_texts: Vec<String>,
    /// Of one image, as stored.
    pub max_image_bytes: Option<u64>,
    /// Of all images of one file together, as stored.
    pub max_total_bytes: Option<u64>,
    pub max_ptx_isa: Option<PtxIsa>,
    /// The oldest that has to compile the PTX.
    pub min_driver: Option<Driver>,
}

impl Rules {
    /// Puts what is set in the place of what is here.
    pub fn set(&mut self, keys: &Keys) {
        fn list<T: Clone>(here: &mut Vec<T>, keys: &Option<Vec<T>>) {
            if let Some(keys) = keys {
                here.clone_from(keys);
            }
        }
        self.ptx = keys.ptx.or(self.ptx);
        list(&mut self.require_archs, &keys.require_arch);
        list(&mut self.require_kernels, &keys.require_kernel);
        list(&mut self.forbid_archs, &keys.forbid_arch);
        list(&mut self.forbid_texts, &keys.forbid_text);
        self.max_image_bytes = keys.max_image_bytes.or(self.max_image_bytes);
        self.max_total_bytes = keys.max_total_bytes.or(self.max_total_bytes);
        self.max_ptx_isa = keys.max_ptx_isa.or(self.max_ptx_isa);
        self.min_driver = keys.min_driver.or(self.min_driver);
    }

    /// Whether an image has to be read to be held against them, and not only its head.
    pub fn need_contents(&self) -> bool {
        !(self.require_archs.is_empty()
            && self.require_kernels.is_empty()
            && self.forbid_archs.is_empty()
            && self.forbid_texts.is_empty()
            && self.max_ptx_isa.is_none()
            && self.min_driver.is_none())
    }
}

/// An architecture that images may have: NVIDIA's also by numbers that we do not build for.
pub fn parse_target(text: &str) -> Result<Target, String> {
    match Sm::parse(text) {
        Some(sm) => Ok(Target::Sm(sm)),
        None => Target::parse(text).map_err(|error| error.to_string()),
    }
}

fn text<'de, D: Deserializer<'de>, T: FromStr<Err = String>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| text.parse())
        .transpose()
        .map_err(serde::de::Error::custom)
}

fn targets<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<Target>>, D::Error> {
    let texts = Option::<Vec<String>>::deserialize(from)?;
    texts
        .map(|texts| texts.iter().map(|text| parse_target(text)).collect())
        .transpose()
        .map_err(serde::de::Error::custom)
}
