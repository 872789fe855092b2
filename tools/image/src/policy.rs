//! The PTX policy: what a build says about code that the driver compiles at run time.

use std::fmt;
use std::str::FromStr;

/// Whether PTX may, or must, be among the images. It travels in the OffloadBinary key
/// [`PtxPolicy::KEY`], so that a later link still knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PtxPolicy {
    /// No PTX anywhere, in no container: what runs is what the build assembled.
    Forbid,
    /// PTX beside the cubins, for GPUs that no cubin fits.
    Embed,
    /// PTX and no cubin.
    Only,
}

impl PtxPolicy {
    /// The OffloadBinary key that carries it.
    pub const KEY: &'static str = "ptx_policy";

    /// The word, as it stands in build files and in images.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Forbid => "forbid",
            Self::Embed => "embed",
            Self::Only => "only",
        }
    }
}

impl fmt::Display for PtxPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PtxPolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "forbid" => Ok(Self::Forbid),
            "embed" => Ok(Self::Embed),
            "only" => Ok(Self::Only),
            other => Err(format!(
                "unknown PTX policy `{other}`: it is one of forbid, embed, only"
            )),
        }
    }
}
