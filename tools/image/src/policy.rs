//! The PTX policy: what a build says about code that the driver compiles at run time.

use std::fmt;
use std::str::FromStr;

use crate::image::Kind;

/// Whether PTX may, or must, be among the images. It travels in the OffloadBinary key
/// [`PtxPolicy::KEY`], so that a later link still knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

    /// Whether images of this kind may be in a program under this policy.
    #[must_use]
    pub fn admits(self, kind: Kind) -> bool {
        match self {
            Self::Forbid => kind != Kind::Ptx,
            Self::Embed => true,
            Self::Only => kind != Kind::Cubin,
        }
    }

    /// The policy of what is under both: `embed` admits everything, so the other one counts. `None`
    /// where they leave each other nothing.
    #[must_use]
    pub fn stricter(self, other: Self) -> Option<Self> {
        match (self, other) {
            (one, other) if one == other => Some(one),
            (Self::Embed, other) | (other, Self::Embed) => Some(other),
            _ => None,
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

#[cfg(test)]
mod tests {
    use super::PtxPolicy::{Embed, Forbid, Only};
    use super::*;

    #[test]
    fn the_stricter_counts() {
        for (one, other, both) in [
            (Forbid, Forbid, Some(Forbid)),
            (Forbid, Embed, Some(Forbid)),
            (Forbid, Only, None),
            (Embed, Embed, Some(Embed)),
            (Embed, Only, Some(Only)),
            (Only, Only, Some(Only)),
        ] {
            assert_eq!(one.stricter(other), both, "{one} {other}");
            assert_eq!(other.stricter(one), both, "{other} {one}");
        }
    }

    #[test]
    fn kinds() {
        let admitted =
            |policy: PtxPolicy| [Kind::Cubin, Kind::Gfx, Kind::Ptx].map(|kind| policy.admits(kind));
        assert_eq!(admitted(Forbid), [true, true, false]);
        assert_eq!(admitted(Embed), [true, true, true]);
        assert_eq!(admitted(Only), [false, true, true]);
    }
}
