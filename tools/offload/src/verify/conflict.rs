//! Two images of which the runtime would have to pick one for a kernel, and cannot tell which: both
//! have it, neither fits a GPU better, and their code differs. It refuses to (`KernelAmbiguous`) on the
//! user's machine; here is where that is seen before.
//!
//! Asked of images that the runtime looks through as one list: those that `offload link` put into one
//! program, or those of one packed file. Each fatbin is registered by itself and calls its own kernels,
//! so that among them nothing is ambiguous; of what other compilers leave in `.llvm.offloading` their
//! own linkers make fatbins.

use std::collections::BTreeMap;

use offload_image::image::Kind;
use offload_image::select::{tie, Candidate, Code};
use offload_image::target::Target;

use super::breach::{Breach, Rule};
use super::container::{self, in_offload_binary};
use super::image::Found;
use super::origin::{Origin, Origins};
use super::rules::parse_target;
use crate::failure::{list, prefix, Complaint};

/// An image of a list.
#[derive(Clone, Copy)]
struct Offered<'f, 'a> {
    image: &'f Found<'a>,
    candidate: Candidate,
}

/// A breach for each two images, with all kernels that they are about.
pub fn breaches(found: &[Found<'_>], origins: &Origins<'_>) -> Vec<Breach> {
    let mut lists: BTreeMap<(&str, &[String]), Vec<Offered<'_, '_>>> = BTreeMap::new();
    for offered in found.iter().filter_map(Offered::new) {
        let key = (
            offered.image.path.as_str(),
            &offered.image.report.member[..],
        );
        lists.entry(key).or_default().push(offered);
    }
    let mut breaches = Vec::new();
    for list in lists.into_values() {
        let pairs = pairs(&list).into_iter();
        breaches.extend(pairs.map(|((first, other), kernels)| {
            breach(list[first].image, list[other].image, &kernels, origins)
        }));
    }
    breaches
}

/// The kernels of each two that conflict, by their places in the list: of those that tie, the first one
/// is held against each of the others.
fn pairs(list: &[Offered<'_, '_>]) -> BTreeMap<(usize, usize), Vec<String>> {
    let mut firsts: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    let mut pairs: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (at, offered) in list.iter().enumerate() {
        for kernel in &offered.image.seen.strong {
            let firsts = firsts.entry((kernel, offered.arch())).or_default();
            let tied = |first: &&usize| tie(&list[**first].candidate, &offered.candidate);
            match firsts.iter().find(tied) {
                Some(first) if !list[*first].same(offered) => {
                    pairs.entry((*first, at)).or_default().push(kernel.clone());
                }
                Some(_) => {}
                // As many as there are kinds and modes of an architecture.
                None => firsts.push(at),
            }
        }
    }
    pairs
}

impl<'f, 'a> Offered<'f, 'a> {
    /// `None` for what no runtime of ours would find or pick.
    fn new(image: &'f Found<'a>) -> Option<Self> {
        let report = &image.report;
        let container = report
            .container
            .as_deref()
            .filter(|c| in_offload_binary(c))?;
        let around = container.rsplit('/').nth(1);
        if report.pack.is_none() && !matches!(around, None | Some("zip" | "ar")) {
            return None;
        }
        let code = match image.image.kind {
            Kind::Cubin | Kind::Gfx => Code::Native,
            Kind::Ptx => Code::Ptx(image.image.ptx_isa()),
            Kind::Bitcode | Kind::Spirv | Kind::Unknown(_) => return None,
        };
        let target = parse_target(report.arch.as_deref()?).ok()?;
        let candidate = Candidate { code, target };
        Some(Self { image, candidate })
    }

    /// The architecture without modes: what is for others never ties.
    fn arch(&self) -> &'f str {
        match self.candidate.target {
            Target::Gfx(gfx) => gfx.arch.name,
            Target::Sm(_) => self.image.report.arch.as_deref().unwrap_or_default(),
        }
    }

    fn same(&self, other: &Self) -> bool {
        let identity = self.image.seen.identity;
        identity.is_some() && identity == other.image.seen.identity
    }
}

fn breach(
    first: &Found<'_>,
    other: &Found<'_>,
    kernels: &[String],
    origins: &Origins<'_>,
) -> Breach {
    let [one, two] = [first, other].map(|image| (image, origins.of_container(&[image])));
    let told = |(image, origin): &(&Found<'_>, Option<Origin>)| {
        let place = container::place(image, origin.as_ref()).unwrap_or_default();
        format!("{} for {} in {place}", image.report.kind, image.arch())
    };
    let breach = Breach {
        rule: Rule::Conflict,
        path: Some(other.path.clone()),
        image: Some(other.report.clone()),
        origin: None,
        complaint: Complaint {
            what: format!(
                "{}two images in {} have the same kernels, and no GPU tells them apart: {}",
                prefix(other.label),
                other.path,
                list(kernels, 5)
            ),
            wanted: format!("one {} for {} with these", other.report.kind, other.arch()),
            found: format!(
                "{}; and {}: the runtime refuses to pick one",
                told(&one),
                told(&two)
            ),
            mend: "rename the kernels in one of the two, or take one out".to_owned(),
        },
    };
    // Whichever of the two may, that one is let through.
    let both = [two.1, one.1].into_iter().flatten();
    let (allowed, others): (Vec<Origin>, Vec<Origin>) =
        both.partition(|origin| origins.reason(&origin.target).is_some());
    match allowed.first().or(others.first()) {
        Some(origin) => breach.excusable(origin),
        None => breach,
    }
}
