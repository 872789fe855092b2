//! An architecture as an image or a device names it: `sm_90a`, `gfx90a:sramecc+:xnack-`.

use std::fmt;

use thiserror::Error;

use crate::arch::{self, Arch, Details, Suffix, Vendor};

/// An NVIDIA architecture by number. Unlike a row of the table it may be one that we do not build
/// for (`sm_52` in somebody else's library).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sm {
    /// Compute capability times ten.
    pub number: u32,
    /// The letter.
    pub suffix: Suffix,
}

impl Sm {
    /// Reads `sm_NN`, `sm_NNa` or `sm_NNf`, whether or not the table has it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("sm_")?;
        let digits = rest.trim_end_matches(|c: char| !c.is_ascii_digit());
        let suffix = match &rest[digits.len()..] {
            "" => Suffix::Plain,
            "f" => Suffix::Family,
            "a" => Suffix::Exact,
            _ => return None,
        };
        let plain = (2..=4).contains(&digits.len())
            && digits.bytes().all(|b| b.is_ascii_digit())
            && !digits.starts_with('0');
        let number = digits.parse().ok().filter(|_| plain)?;
        Some(Self { number, suffix })
    }
}

impl fmt::Display for Sm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.number, self.suffix.letter())
    }
}

/// The state of one target feature in a target id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Not named: the code runs either way, or the GPU does not have the feature.
    Any,
    /// `-`
    Off,
    /// `+`
    On,
}

impl Mode {
    /// Whether code in the other mode is among what this names: a mode that is not named may be any.
    #[must_use]
    pub fn allows(self, other: Self) -> bool {
        self == Self::Any || self == other
    }
}

/// An AMD architecture with its modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gfx {
    /// The row of the table.
    pub arch: &'static Arch,
    /// SRAM ECC.
    pub sramecc: Mode,
    /// Page fault replay.
    pub xnack: Mode,
}

impl fmt::Display for Gfx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.arch.name)?;
        for (name, mode) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            match mode {
                Mode::Any => {}
                Mode::Off => write!(f, ":{name}-")?,
                Mode::On => write!(f, ":{name}+")?,
            }
        }
        Ok(())
    }
}

/// What code is for, or what a device is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// NVIDIA.
    Sm(Sm),
    /// AMD.
    Gfx(Gfx),
}

impl Target {
    /// Who makes it.
    #[must_use]
    pub fn vendor(&self) -> Vendor {
        match self {
            Self::Sm(_) => Vendor::Nvidia,
            Self::Gfx(_) => Vendor::Amd,
        }
    }

    /// Reads a name that the table knows. AMD features may stand in any order.
    ///
    /// # Errors
    /// [`UnknownTarget`], with the nearest known name where there is one.
    pub fn parse(text: &str) -> Result<Self, UnknownTarget> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let row = arch::by_name(name).ok_or_else(|| UnknownTarget::Arch {
            name: name.to_owned(),
            nearest: arch::nearest(name),
        })?;
        match row.details {
            Details::Nvidia { sm, suffix } => match parts.next() {
                None => Ok(Self::Sm(Sm { number: sm, suffix })),
                Some(extra) => Err(UnknownTarget::feature(row, extra)),
            },
            Details::Amd { .. } => {
                let mut found = Gfx {
                    arch: row,
                    sramecc: Mode::Any,
                    xnack: Mode::Any,
                };
                for part in parts {
                    let (feature, mode) = match (part.strip_suffix('+'), part.strip_suffix('-')) {
                        (Some(feature), _) => (feature, Mode::On),
                        (_, Some(feature)) => (feature, Mode::Off),
                        _ => return Err(UnknownTarget::feature(row, part)),
                    };
                    let slot = match feature {
                        "sramecc" => &mut found.sramecc,
                        "xnack" => &mut found.xnack,
                        _ => return Err(UnknownTarget::feature(row, part)),
                    };
                    if !row.features().contains(&feature) || *slot != Mode::Any {
                        return Err(UnknownTarget::feature(row, part));
                    }
                    *slot = mode;
                }
                Ok(Self::Gfx(found))
            }
        }
    }

    /// Whether this names the other one too: modes that are not named may be any.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Gfx(this), Self::Gfx(other)) => {
                this.arch.name == other.arch.name
                    && this.xnack.allows(other.xnack)
                    && this.sramecc.allows(other.sramecc)
            }
            _ => self == other,
        }
    }

    /// The key that outputs are sorted by: the table's order, then the text.
    #[must_use]
    pub fn rank(&self) -> (usize, String) {
        let text = self.to_string();
        let name = text.split(':').next().unwrap_or_default();
        (arch::by_name(name).map_or(usize::MAX, Arch::rank), text)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sm(sm) => sm.fmt(f),
            Self::Gfx(gfx) => gfx.fmt(f),
        }
    }
}

/// A name that is no target.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnknownTarget {
    /// The architecture is not in the table.
    #[error("unknown GPU architecture `{name}`{}", hint(.nearest))]
    Arch {
        /// What was asked for.
        name: String,
        /// What was perhaps meant.
        nearest: Option<&'static str>,
    },
    /// The architecture is known, the feature after it is not one of its.
    #[error("`{text}` is no feature of {arch}: {}", features(.known))]
    Feature {
        /// The architecture.
        arch: &'static str,
        /// The text between two colons.
        text: String,
        /// The features it has.
        known: Vec<&'static str>,
    },
}

impl UnknownTarget {
    fn feature(row: &'static Arch, text: &str) -> Self {
        Self::Feature {
            arch: row.name,
            text: text.to_owned(),
            known: row.features(),
        }
    }
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(
        || ": `offload archs` lists those known".to_owned(),
        |name| format!(": did you mean `{name}`?"),
    )
}

fn features(known: &[&str]) -> String {
    if known.is_empty() {
        return "it has none".to_owned();
    }
    let each: Vec<String> = known
        .iter()
        .map(|name| format!("{name}+ or {name}-"))
        .collect();
    format!("write {}, each at most once", each.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_text() {
        for (given, canonical) in [
            ("sm_90", "sm_90"),
            ("sm_90a", "sm_90a"),
            ("sm_120f", "sm_120f"),
            ("gfx90a", "gfx90a"),
            ("gfx90a:xnack-:sramecc+", "gfx90a:sramecc+:xnack-"),
            ("gfx9-4-generic:xnack+", "gfx9-4-generic:xnack+"),
        ] {
            assert_eq!(Target::parse(given).unwrap().to_string(), canonical);
        }
    }

    #[test]
    fn refused_with_a_hint() {
        for (given, says) in [
            ("sm_90b", "did you mean `sm_90`?"),
            ("sm-90", "did you mean `sm_90`?"),
            ("sm_91", "did you mean `sm_90`?"),
            (
                "gfx1100:xnack+",
                "`xnack+` is no feature of gfx1100: it has none",
            ),
            (
                "gfx90a:xnack",
                "write sramecc+ or sramecc-, xnack+ or xnack-",
            ),
            ("gfx90a:xnack+:xnack-", "at most once"),
            ("sm_90:xnack+", "no feature of sm_90"),
            ("", "unknown GPU architecture ``"),
            ("banana", "`offload archs` lists those known"),
        ] {
            let said = Target::parse(given).unwrap_err().to_string();
            assert!(said.contains(says), "{given}: {said}");
        }
    }

    #[test]
    fn a_mode_that_is_not_named_may_be_any() {
        let includes = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|text| Target::parse(text).unwrap());
            one.includes(&other)
        };
        assert!(includes("gfx90a", "gfx90a:xnack+:sramecc-"));
        assert!(includes("gfx90a:xnack+", "gfx90a:xnack+:sramecc-"));
        assert!(!includes("gfx90a:xnack-", "gfx90a:xnack+"));
        assert!(!includes("gfx90a:xnack+", "gfx90a"));
        assert!(!includes("gfx90a", "gfx942"));
        assert!(includes("sm_90", "sm_90") && !includes("sm_90", "sm_90a"));
        assert!(!includes("sm_90", "gfx90a"));
    }

    #[test]
    fn foreign_sm_numbers() {
        assert_eq!(Sm::parse("sm_52").map(|sm| sm.number), Some(52));
        assert_eq!(Sm::parse("sm_90a").map(|sm| sm.suffix), Some(Suffix::Exact));
        for bad in [
            "sm_", "sm_9", "sm_90x", "sm_90aa", "bogus", "sm_99999", "sm_+90", "sm_9é", "sm_090",
            "sm_00",
        ] {
            assert_eq!(Sm::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn rank_follows_the_table() {
        let mut names = [
            "gfx90a",
            "sm_90a",
            "gfx90a:xnack+",
            "sm_75",
            "sm_100",
            "sm_90",
        ]
        .map(|name| Target::parse(name).unwrap());
        names.sort_by_key(Target::rank);
        assert_eq!(
            names.map(|target| target.to_string()),
            [
                "sm_75",
                "sm_90",
                "sm_90a",
                "sm_100",
                "gfx90a",
                "gfx90a:xnack+"
            ]
        );
    }
}
