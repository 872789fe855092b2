//! Which image runs on which device: the selection rules, most specific first.
//!
//! 1. exactly this architecture (`a` before none);
//! 2. a cubin for the same major version and a lower minor one, the highest first;
//! 3. a family (`f`) cubin for this GPU's family;
//! 4. a generic AMD code object;
//! 5. PTX whose `.target` fits and whose ISA version the driver can compile.
//!
//! Code with an `a` runs on its own GPU only, as cubin and as PTX alike: `sm_90a` does not run on
//! 10.0. Sources: NVIDIA's compatibility rules for compute capabilities, AMD's target id rules in
//! LLVM's AMDGPU user guide.

use std::cmp::Reverse;

use crate::arch::{family, Suffix};
use crate::ptx_isa::PtxIsa;
use crate::target::{Gfx, Mode, Sm, Target};

/// The GPU to find an image for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// An NVIDIA GPU.
    Nvidia {
        /// Compute capability, before the dot.
        major: u32,
        /// Compute capability, after the dot.
        minor: u32,
        /// The newest PTX that its driver compiles; `None` if that is not known, and then no PTX
        /// is ruled out by its version.
        max_ptx: Option<PtxIsa>,
    },
    /// An AMD GPU, with the modes it runs in. A mode that is not given fits no image that asks for it.
    Amd(Gfx),
}

/// The kinds of image that rules exist for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// Machine code: a cubin or an AMD code object.
    Native,
    /// PTX, with the ISA version where it is known.
    Ptx(Option<PtxIsa>),
}

/// An image on offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// What it is.
    pub code: Code,
    /// What it was built for; for PTX its `.target`.
    pub target: Target,
}

/// How well an image fits, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fit {
    /// Built for exactly this architecture.
    Exact,
    /// A cubin of the same major version, for a lower minor one.
    SameMajor,
    /// A cubin for this GPU's family.
    Family,
    /// A generic code object that serves this GPU.
    Generic,
    /// PTX: the driver compiles it.
    Ptx,
}

/// Why an image does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// It is for another architecture.
    Arch,
    /// It is for this architecture in a mode that the device does not run in.
    Mode,
    /// Its PTX is newer than the driver compiles.
    PtxTooNew {
        /// The PTX's ISA version.
        ptx: PtxIsa,
        /// The driver's newest.
        driver: PtxIsa,
    },
}

/// An image that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Its place in the list that was given.
    pub index: usize,
    /// How well it fits.
    pub fit: Fit,
}

/// The images that run on `device`, best first. Among equals the order of `candidates` stays.
#[must_use]
pub fn select(device: &Device, candidates: &[Candidate]) -> Vec<Choice> {
    let mut found: Vec<Choice> = candidates
        .iter()
        .enumerate()
        .filter_map(|(index, candidate)| {
            let fit = fit(device, candidate).ok()?;
            Some(Choice { index, fit })
        })
        .collect();
    found.sort_by_key(|choice| {
        let detail = candidates
            .get(choice.index)
            .map(|candidate| specificity(&candidate.target));
        (choice.fit, Reverse(detail))
    });
    found
}

/// Whether some GPU runs both images and neither goes before the other, so that [`select`] leaves them
/// in their order.
#[must_use]
pub fn tie(one: &Candidate, other: &Candidate) -> bool {
    let compiled = |candidate: &Candidate| matches!(candidate.code, Code::Ptx(_));
    if compiled(one) != compiled(other) {
        return false;
    }
    match (&one.target, &other.target) {
        (Target::Gfx(a), Target::Gfx(b)) => {
            let meet = |a: Mode, b: Mode| a.allows(b) || b.allows(a);
            a.arch.name == b.arch.name
                && meet(a.xnack, b.xnack)
                && meet(a.sramecc, b.sramecc)
                && specificity(&one.target) == specificity(&other.target)
        }
        (one, other) => one == other,
    }
}

/// How one image fits `device`.
///
/// # Errors
/// [`Misfit`]: why it does not.
pub fn fit(device: &Device, candidate: &Candidate) -> Result<Fit, Misfit> {
    match (device, &candidate.target) {
        (
            Device::Nvidia {
                major,
                minor,
                max_ptx,
            },
            Target::Sm(sm),
        ) => {
            let device = major.saturating_mul(10).saturating_add(*minor);
            match candidate.code {
                Code::Native => fit_cubin(device, *sm),
                Code::Ptx(isa) => fit_ptx(device, *sm, isa, *max_ptx),
            }
        }
        (Device::Amd(device), Target::Gfx(gfx)) if candidate.code == Code::Native => {
            fit_gfx(device, gfx)
        }
        _ => Err(Misfit::Arch),
    }
}

fn fit_cubin(device: u32, sm: Sm) -> Result<Fit, Misfit> {
    match sm.suffix {
        Suffix::Exact | Suffix::Plain if sm.number == device => Ok(Fit::Exact),
        Suffix::Plain if sm.number / 10 == device / 10 && sm.number < device => Ok(Fit::SameMajor),
        Suffix::Family if same_family(device, sm.number) => Ok(Fit::Family),
        _ => Err(Misfit::Arch),
    }
}

fn fit_ptx(device: u32, sm: Sm, isa: Option<PtxIsa>, max: Option<PtxIsa>) -> Result<Fit, Misfit> {
    let fits = match sm.suffix {
        Suffix::Plain => sm.number <= device,
        Suffix::Exact => sm.number == device,
        Suffix::Family => same_family(device, sm.number),
    };
    match (fits, isa, max) {
        (false, _, _) => Err(Misfit::Arch),
        (true, Some(ptx), Some(driver)) if ptx > driver => Err(Misfit::PtxTooNew { ptx, driver }),
        _ => Ok(Fit::Ptx),
    }
}

fn same_family(device: u32, image: u32) -> bool {
    image <= device && family(image).is_some() && family(image) == family(device)
}

fn fit_gfx(device: &Gfx, image: &Gfx) -> Result<Fit, Misfit> {
    let fit = if image.arch.name == device.arch.name {
        Fit::Exact
    } else if image.arch.serves(device.arch.name) {
        Fit::Generic
    } else {
        return Err(Misfit::Arch);
    };
    if image.xnack.allows(device.xnack) && image.sramecc.allows(device.sramecc) {
        Ok(fit)
    } else {
        Err(Misfit::Mode)
    }
}

/// Ranks targets that fit equally well: the higher is the more specific.
fn specificity(target: &Target) -> (u32, Suffix, u8) {
    match target {
        Target::Sm(sm) => (sm.number, sm.suffix, 0),
        Target::Gfx(gfx) => {
            let named = |mode: Mode| u8::from(mode != Mode::Any);
            (0, Suffix::Plain, named(gfx.xnack) + named(gfx.sramecc))
        }
    }
}

#[cfg(test)]
mod tests;
