//! Whether images are there for every required architecture.
//!
//! Asked of each container by itself: a program loads one fatbin or bundle at a time, so that an
//! architecture in one does nothing for the kernels of another. What was packed together is one
//! container, or else all OffloadBinaries of one section, of which each holds one image. So are bare
//! images: those in one section of a program, those that are members of one archive, and those that
//! are files of their own.

use std::collections::BTreeSet;

use offload_image::arch::{Suffix, Vendor};
use offload_image::image::Kind;
use offload_image::near::nearest;
use offload_image::policy::PtxPolicy;
use offload_image::select::{fit, Candidate, Code, Device};
use offload_image::target::{Gfx, Mode, Target};

use super::breach::{Breach, Rule};
use super::container::place;
use super::image::Found;
use super::origin::{Origin, Origins};
use super::rules::{parse_target, Rules};
use crate::failure::{clean, list, named, prefix, Complaint};

/// What is asked of the run as a whole.
pub struct Asked<'a> {
    pub label: &'a str,
    /// The rules where no exception holds.
    pub rules: &'a Rules,
    /// The files, for people.
    pub files: String,
    /// Where images came from.
    pub origins: &'a Origins<'a>,
}

impl Asked<'_> {
    /// Every architecture and kernel that is missing, in all files and in the containers of them.
    pub fn breaches(&self, found: &[Found<'_>], groups: &[Vec<&Found<'_>>]) -> Vec<Breach> {
        let mut breaches: Vec<Breach> = groups.iter().flat_map(|g| self.of_group(g)).collect();
        breaches.extend(self.nowhere(found));
        breaches.extend(self.kernels(found));
        breaches
    }

    /// A container without an image of that vendor is not asked.
    fn of_group(&self, group: &[&Found<'_>]) -> Vec<Breach> {
        let Some(first) = group.first() else {
            return Vec::new();
        };
        let asked = first.rules.require_archs.iter();
        asked.filter_map(|arch| self.of_arch(arch, group)).collect()
    }

    fn of_arch(&self, arch: &Target, group: &[&Found<'_>]) -> Option<Breach> {
        let of_vendor = |image: &&&Found<'_>| vendor(image) == Some(arch.vendor());
        let images: Vec<&Found<'_>> = group.iter().filter(of_vendor).copied().collect();
        let first = images.first()?;
        let there: Vec<&&Found<'_>> = images.iter().filter(|i| covers(i, arch)).collect();
        if there.is_empty() {
            let what = format!("no image for {arch} in {}", self.container(first));
            let path = Some(first.path.clone());
            let origin = self.origins.of_container(group);
            return Some(self.missing(arch, path, what, &images, origin));
        }
        let names = |images: &mut dyn Iterator<Item = &&Found<'_>>| -> BTreeSet<String> {
            images
                .flat_map(|i| i.report.kernels.iter().flatten().cloned())
                .collect()
        };
        let all = names(&mut images.iter());
        let covered = names(&mut there.into_iter());
        let lost: Vec<String> = all.difference(&covered).cloned().collect();
        if lost.is_empty() {
            return None;
        }
        let breach = Breach {
            rule: Rule::RequireArch,
            path: Some(first.path.clone()),
            image: None,
            origin: None,
            complaint: Complaint {
                what: format!(
                    "{}kernels in {} lack an image for {arch}",
                    prefix(self.label),
                    self.container(first)
                ),
                wanted: format!("an image for {arch} with {}", list(&lost, 20)),
                found: format!("images for {arch} with: {}", list(&set(covered), 20)),
                mend: format!("compile these kernels for \"{arch}\" too, or remove them"),
            },
        };
        Some(match self.origins.of_container(group) {
            Some(origin) => breach.brought_by(&origin),
            None => breach,
        })
    }

    /// The container of an image, for people.
    fn container(&self, image: &Found<'_>) -> String {
        let report = &image.report;
        match (&report.container, place(image, None)) {
            (Some(kind), Some(place)) => format!("{}, {place} ({kind})", image.path),
            (Some(kind), None) => format!("{} ({kind})", image.path),
            (None, _) => self.files.clone(),
        }
    }

    /// Architectures whose vendor has no image at all.
    fn nowhere(&self, found: &[Found<'_>]) -> Vec<Breach> {
        let asked = self.rules.require_archs.iter();
        asked
            .filter(|arch| !found.iter().any(|i| vendor(i) == Some(arch.vendor())))
            .map(|arch| {
                let what = format!("no image for {arch} in {}", self.files);
                let images: Vec<&Found<'_>> = found.iter().collect();
                self.missing(arch, None, what, &images, None)
            })
            .collect()
    }

    fn missing(
        &self,
        arch: &Target,
        path: Option<String>,
        what: String,
        images: &[&Found<'_>],
        origin: Option<Origin>,
    ) -> Breach {
        let there: BTreeSet<String> = images
            .iter()
            .filter(|image| code(image).is_some())
            .map(|image| image.arch())
            .collect();
        let breach = Breach {
            rule: Rule::RequireArch,
            path,
            image: None,
            origin: None,
            complaint: Complaint {
                what: format!("{}{what}", prefix(self.label)),
                wanted: format!("an image that runs on {arch} as it is"),
                found: format!("images for: {}", list(&set(there), 50)),
                mend: match &origin {
                    Some(origin) => format!("build {} for \"{arch}\" too", clean(&origin.target)),
                    None => format!(
                        "add \"{arch}\" to the archs of {}, or of what it packs",
                        named(self.label)
                    ),
                },
            },
        };
        match origin {
            Some(origin) => breach.brought_by(&origin),
            None => breach,
        }
    }

    /// Each required kernel has to be somewhere; for which architectures, its container is asked.
    fn kernels(&self, found: &[Found<'_>]) -> Vec<Breach> {
        let there: BTreeSet<String> = found
            .iter()
            .flat_map(|image| image.report.kernels.iter().flatten().cloned())
            .collect();
        let unread = found.iter().filter(|i| i.report.kernels.is_none()).count();
        let asked = self.rules.require_kernels.iter();
        asked
            .filter(|kernel| !there.contains(*kernel))
            .map(|kernel| {
                let mut has = format!("kernels: {}", list(&set(there.clone()), 20));
                if unread > 0 {
                    has.push_str(&format!("; of {unread} images the kernels were not read"));
                }
                Breach {
                    rule: Rule::RequireKernel,
                    path: None,
                    image: None,
                    origin: None,
                    complaint: Complaint {
                        what: format!(
                            "{}kernel `{kernel}` is in no image in {}",
                            prefix(self.label),
                            self.files
                        ),
                        wanted: format!("an image with `{kernel}`"),
                        found: has,
                        mend: match nearest(kernel, there.iter().map(String::as_str)) {
                            Some(near) => format!("did you mean `{near}`?"),
                            None => {
                                format!("export it from a device crate of {}", named(self.label))
                            }
                        },
                    },
                }
            })
            .collect()
    }
}

fn set(names: BTreeSet<String>) -> Vec<String> {
    names.into_iter().collect()
}

fn vendor(image: &Found<'_>) -> Option<Vendor> {
    match image.image.kind {
        Kind::Cubin | Kind::Ptx => Some(Vendor::Nvidia),
        Kind::Gfx => Some(Vendor::Amd),
        Kind::Bitcode | Kind::Spirv | Kind::Unknown(_) => None,
    }
}

/// What counts: machine code does, and PTX only where the policy has nothing else.
fn code(image: &Found<'_>) -> Option<Code> {
    match image.image.kind {
        Kind::Cubin | Kind::Gfx => Some(Code::Native),
        Kind::Ptx if image.rules.ptx == Some(PtxPolicy::Only) => {
            Some(Code::Ptx(image.image.ptx_isa()))
        }
        _ => None,
    }
}

/// Whether an image runs on a GPU of that architecture as it is.
fn covers(image: &Found<'_>, arch: &Target) -> bool {
    let (Some(code), Some(text)) = (code(image), &image.report.arch) else {
        return false;
    };
    let Ok(target) = parse_target(text) else {
        return false;
    };
    let device = match (arch, &target) {
        // A GPU has no letter: who asks for one wants that image and no other.
        (Target::Sm(sm), _) if sm.suffix != Suffix::Plain => return *arch == target,
        (Target::Sm(sm), _) => Device::Nvidia {
            major: sm.number / 10,
            minor: sm.number % 10,
            max_ptx: None,
        },
        (Target::Gfx(asked), Target::Gfx(image)) => Device::Amd(in_modes(*asked, image)),
        (Target::Gfx(asked), Target::Sm(_)) => Device::Amd(*asked),
    };
    fit(&device, &Candidate { code, target }).is_ok()
}

/// A GPU in the modes that were asked for, and otherwise in those that the image is for.
fn in_modes(asked: Gfx, image: &Gfx) -> Gfx {
    let mode = |asked: Mode, image: Mode| match asked {
        Mode::Any => image,
        asked => asked,
    };
    Gfx {
        xnack: mode(asked.xnack, image.xnack),
        sramecc: mode(asked.sramecc, image.sramecc),
        ..asked
    }
}
