//! The one table of GPU architectures on the Rust side, and the lookups into it.
//!
//! Names of NVIDIA architectures are those that ptxas 12.9 and 13.5 list from `sm_70` on, which is
//! the lowest that rustc's nvptx64 target compiles for; `sm_101` of CUDA 12 is the later `sm_110`
//! and has no row. Names, `MACH` numbers and features of AMD architectures were read out of code
//! objects that LLVM 22 compiled for each of them; coverage of the generic ones is from LLVM's
//! AMDGPU user guide.

use crate::arch_table::ARCHS;

/// Who makes the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Vendor {
    /// NVIDIA: `sm_*`, images are cubins or PTX.
    Nvidia,
    /// AMD: `gfx*`, images are code objects.
    Amd,
}

impl Vendor {
    /// The word used in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nvidia => "nvidia",
            Self::Amd => "amd",
        }
    }

    /// LLVM's target triple for device code of this vendor.
    #[must_use]
    pub fn triple(self) -> &'static str {
        match self {
            Self::Nvidia => "nvptx64-nvidia-cuda",
            Self::Amd => "amdgcn-amd-amdhsa",
        }
    }
}

/// The letter after an SM number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Suffix {
    /// No letter: runs on GPUs of the same major version with the same or a higher minor one.
    Plain,
    /// `f`: runs on the GPUs of one family.
    Family,
    /// `a`: runs on exactly this GPU.
    Exact,
}

impl Suffix {
    /// The letter, empty for [`Suffix::Plain`].
    #[must_use]
    pub fn letter(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Family => "f",
            Self::Exact => "a",
        }
    }
}

/// What only one vendor's architectures have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Details {
    /// An NVIDIA architecture.
    Nvidia {
        /// Compute capability times ten: 90 is 9.0, 121 is 12.1.
        sm: u32,
        /// The letter.
        suffix: Suffix,
    },
    /// An AMD architecture.
    Amd {
        /// `EF_AMDGPU_MACH`, the low byte of `e_flags`.
        mach: u8,
        /// Whether code comes in modes with and without XNACK (page fault replay).
        xnack: bool,
        /// Whether code comes in modes with and without SRAM ECC.
        sramecc: bool,
        /// Which architectures a generic target serves; empty for an ordinary one.
        serves: &'static [&'static str],
    },
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Arch {
    /// The name that compilers take: `sm_90a`, `gfx1100`.
    pub name: &'static str,
    /// What else is known.
    pub details: Details,
}

impl Arch {
    /// Who makes it.
    #[must_use]
    pub fn vendor(&self) -> Vendor {
        match self.details {
            Details::Nvidia { .. } => Vendor::Nvidia,
            Details::Amd { .. } => Vendor::Amd,
        }
    }

    /// The names of the target features whose modes are part of a target id, in canonical order.
    #[must_use]
    pub fn features(&self) -> Vec<&'static str> {
        match self.details {
            Details::Nvidia { .. } => Vec::new(),
            Details::Amd { xnack, sramecc, .. } => [("sramecc", sramecc), ("xnack", xnack)]
                .into_iter()
                .filter_map(|(name, has)| has.then_some(name))
                .collect(),
        }
    }

    /// Whether this generic architecture serves the one called `name`.
    #[must_use]
    pub fn serves(&self, name: &str) -> bool {
        matches!(self.details, Details::Amd { serves, .. } if serves.contains(&name))
    }

    /// The place in the table: what every output is sorted by.
    #[must_use]
    pub fn rank(&self) -> usize {
        ARCHS
            .iter()
            .position(|arch| arch.name == self.name)
            .unwrap_or(ARCHS.len())
    }
}

/// Every row, in the table's order.
#[must_use]
pub fn all() -> &'static [Arch] {
    ARCHS
}

/// The row of that exact name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Arch> {
    ARCHS.iter().find(|arch| arch.name == name)
}

/// The AMD row with that `EF_AMDGPU_MACH`.
#[must_use]
pub fn by_mach(wanted: u8) -> Option<&'static Arch> {
    ARCHS
        .iter()
        .find(|arch| matches!(arch.details, Details::Amd { mach, .. } if mach == wanted))
}

/// The SM numbers that code for a family (`f`) architecture may run on, told by the lowest of them.
///
/// ptxas 13.5 assembles PTX for `sm_100f` and `sm_103f` to `sm_107`, and refuses 110 and 120 as
/// another family.
#[must_use]
pub fn family(sm: u32) -> Option<u32> {
    match sm {
        100 | 103 | 107 => Some(100),
        110 => Some(110),
        120 | 121 => Some(120),
        _ => None,
    }
}

/// The known name that `wanted` is most likely a slip of, if any is near enough.
#[must_use]
pub fn nearest(wanted: &str) -> Option<&'static str> {
    let wanted = wanted.to_ascii_lowercase();
    if wanted.starts_with("sm_101") || wanted.starts_with("compute_101") {
        return Some("sm_110");
    }
    crate::near::nearest(&wanted, ARCHS.iter().map(|arch| arch.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_unique_and_agree() {
        for (index, arch) in ARCHS.iter().enumerate() {
            assert_eq!(arch.rank(), index, "{} twice", arch.name);
            match arch.details {
                Details::Nvidia { sm, suffix } => {
                    assert_eq!(arch.name, format!("sm_{sm}{}", suffix.letter()));
                    assert_eq!(suffix == Suffix::Family, arch.name.ends_with('f'));
                    if suffix == Suffix::Family {
                        assert!(family(sm).is_some(), "{}", arch.name);
                    }
                }
                Details::Amd { mach, serves, .. } => {
                    assert_eq!(by_mach(mach), Some(arch));
                    assert_eq!(!serves.is_empty(), arch.name.ends_with("-generic"));
                    for served in serves {
                        assert!(by_name(served).is_some(), "{served}");
                    }
                }
            }
        }
    }

    #[test]
    fn nearest_name() {
        assert_eq!(nearest("sm90"), Some("sm_90"));
        assert_eq!(nearest("gfx110"), Some("gfx1100"));
        assert_eq!(nearest("GFX90A"), Some("gfx90a"));
        assert_eq!(nearest("sm_101a"), Some("sm_110"));
        assert_eq!(nearest("bogus"), None);
    }
}
