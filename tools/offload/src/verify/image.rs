//! What one image can have against the rules.

use offload_audit::image::Image;
use offload_image::image::Kind;
use offload_image::policy::PtxPolicy;

use super::breach::{Breach, Rule};
use super::container::in_offload_binary;
use super::origin::Identity;
use super::rules::{parse_target, Rules};
use crate::ceiling::{compiled_by, Ceiling};
use crate::failure::{clean, named, prefix, Complaint};
use crate::report::ImageReport;
use crate::sizes;
use crate::table::place;

/// An image with what is needed to judge it and to name it.
pub struct Found<'a> {
    /// The build target that texts name; may be empty.
    pub label: &'a str,
    /// The file, for people.
    pub path: String,
    pub image: &'a Image,
    pub report: ImageReport,
    pub rules: &'a Rules,
    /// Who says what PTX is for, where that is not `label`.
    pub ptx_from: Option<&'a str>,
    /// What images of the same program were built under.
    pub beside: &'a [PtxPolicy],
    pub seen: &'a Seen,
}

/// What was looked for in the unpacked bytes of an image.
pub struct Seen {
    /// Texts that must not be in it, and where they are.
    pub texts: Vec<TextHit>,
    /// What it is known by, where it is compared with others.
    pub identity: Identity,
    /// The kernels that no other image may have under the same name, where that is asked.
    pub strong: Vec<String>,
}

/// A text that was found in an image.
pub struct TextHit {
    pub text: String,
    /// Of the first one.
    pub offset: usize,
    pub count: usize,
}

impl Found<'_> {
    pub fn arch(&self) -> String {
        self.report
            .arch
            .as_deref()
            .map_or_else(|| "?".to_owned(), clean)
    }

    /// `ptx for sm_80, PTX ISA 8.8, 328 bytes (lz4), in .nv_fatbin @ 0x40 (elf/fatbin)`
    pub fn describe(&self) -> String {
        let report = &self.report;
        let relocatable = if report.relocatable {
            "relocatable "
        } else {
            ""
        };
        let mut text = format!("{relocatable}{} for {}", report.kind, self.arch());
        if let Some(isa) = &report.ptx_isa {
            text.push_str(&format!(", PTX ISA {isa}"));
        }
        text.push_str(&format!(", {}", sizes::bytes(report.size)));
        if report.is_packed() {
            text.push_str(&format!(" ({})", report.compression));
        }
        text.push_str(&format!(", in {}", place(report)));
        if let Some(container) = &report.container {
            text.push_str(&format!(" ({container})"));
        }
        if let Some(policy) = &report.policy {
            text.push_str(&format!(", packed under ptx = \"{}\"", clean(policy)));
        }
        text
    }

    /// Whether its container could tell a policy, and does not.
    pub fn lacks_policy(&self) -> bool {
        let container = self.report.container.as_deref().unwrap_or_default();
        in_offload_binary(container) && self.report.policy.is_none()
    }

    /// Every breach by this image alone.
    pub fn breaches(&self) -> Vec<Breach> {
        let checks = [
            self.of_policy(),
            self.of_label(),
            self.of_forbidden_archs(),
            self.of_size(),
        ];
        let mut breaches: Vec<Breach> = checks.into_iter().flatten().collect();
        breaches.extend(self.of_isa());
        breaches.extend(self.of_texts());
        breaches
    }

    fn breach(&self, rule: Rule, what: &str, wanted: String, mend: String) -> Breach {
        Breach {
            rule,
            path: Some(self.path.clone()),
            image: Some(self.report.clone()),
            origin: None,
            complaint: Complaint {
                what: format!("{}{what}", prefix(self.label)),
                wanted,
                found: self.describe(),
                mend,
            },
        }
    }

    fn of_policy(&self) -> Option<Breach> {
        let kind = self.image.kind;
        let rule = match kind {
            Kind::Ptx if self.report.relocatable => Rule::RelocatablePtx,
            Kind::Ptx => Rule::Ptx,
            _ => Rule::Cubin,
        };
        if let Some((policy, wanted)) = self.rules.ptx.and_then(|p| Some((p, refused(p, kind)?))) {
            return Some(self.breach(
                rule,
                &format!("ptx = \"{policy}\" is breached by {}", self.path),
                match self.ptx_from {
                    Some(from) => format!("{wanted}, by {}", clean(from)),
                    None => wanted.to_owned(),
                },
                format!(
                    "{}, or remove {}{}",
                    self.otherwise(),
                    self.origin(),
                    self.without_it()
                ),
            ));
        }
        let own = self.report.policy.as_deref().map(str::parse::<PtxPolicy>);
        let refused_by = |policy: &PtxPolicy| Some((*policy, refused(*policy, kind)?));
        match own {
            Some(Ok(own)) if !own.admits(kind) => Some(self.breach(
                Rule::OwnPolicy,
                &format!("an image in {} breaches its own policy", self.path),
                format!("{}, by the policy it was packed under", refused(own, kind)?),
                "pack it anew with `offload pack`, which refuses this".to_owned(),
            )),
            None | Some(Ok(_)) => {
                let (policy, wanted) = self.beside.iter().find_map(refused_by)?;
                Some(self.breach(
                    Rule::MixedPolicy,
                    &format!(
                        "{} has images that were built under ptx = \"{policy}\", and one that this does \
                         not allow",
                        self.path
                    ),
                    format!("{wanted}, beside images that were built under \"{policy}\""),
                    format!(
                        "set the same `ptx` on every target that {} links, or remove {}{}",
                        named(self.label),
                        self.origin(),
                        self.without_it()
                    ),
                ))
            }
            Some(Err(unknown)) => Some(self.breach(
                Rule::UnknownPolicy,
                &format!(
                    "an image in {} has a policy that is not known: {}",
                    self.path,
                    clean(&unknown)
                ),
                "forbid, embed or only".to_owned(),
                "use the release of this tool that packed it, or pack it anew".to_owned(),
            )),
        }
    }

    fn of_label(&self) -> Option<Breach> {
        let label = self.image.false_label()?;
        Some(self.breach(
            Rule::FalseLabel,
            &format!("an image in {} is labelled for another GPU", self.path),
            format!("an image for {}, as its container says", clean(label)),
            format!("rebuild {}", self.origin()),
        ))
    }

    fn of_forbidden_archs(&self) -> Option<Breach> {
        let arch = parse_target(self.report.arch.as_deref()?).ok()?;
        let forbidden = self.rules.forbid_archs.iter().find(|f| f.includes(&arch))?;
        Some(self.breach(
            Rule::ForbidArch,
            &format!("{} has an image for {forbidden}", self.path),
            format!("nothing for {forbidden}"),
            format!("remove {forbidden} from the archs of {}", self.origin()),
        ))
    }

    fn of_size(&self) -> Option<Breach> {
        let limit = self.rules.max_image_bytes?;
        (self.report.size > limit).then(|| {
            self.breach(
                Rule::MaxImageBytes,
                &format!("an image in {} is too large", self.path),
                format!("at most {} in one image", sizes::bytes(limit)),
                format!(
                    "raise the limit of {} (max_image_size; max-image-bytes), strip debug \
                     information, or divide the kernels over several crates",
                    named(self.label)
                ),
            )
        })
    }

    fn of_isa(&self) -> Vec<Breach> {
        let Some(isa) = self.image.ptx_isa() else {
            return Vec::new();
        };
        let ceilings = Ceiling::all(self.rules.max_ptx_isa, self.rules.min_driver);
        let below = ceilings.into_iter().filter(|c| c.is_below(isa));
        below
            .map(|ceiling| {
                let rule = match ceiling {
                    Ceiling::Isa(_) => Rule::MaxPtxIsa,
                    Ceiling::Driver(_) => Rule::MinDriver,
                };
                let mut breach = self.breach(
                    rule,
                    &format!("PTX in {} is too new", self.path),
                    ceiling.wanted(),
                    ceiling.mend(&named(self.label)),
                );
                breach.complaint.found.push_str(&compiled_by(isa));
                breach
            })
            .collect()
    }

    fn of_texts(&self) -> Vec<Breach> {
        let asked = |hit: &&TextHit| self.rules.forbid_texts.contains(&hit.text);
        let hits = self.seen.texts.iter().filter(asked);
        hits.map(|hit| {
            let text = clean(&hit.text);
            let mut breach = self.breach(
                Rule::ForbidText,
                &format!("`{text}` is in an image in {}", self.path),
                "an image without this text".to_owned(),
                "remap paths (`--remap-path-prefix`, `-ffile-prefix-map`), or strip debug \
                 information"
                    .to_owned(),
            );
            breach.complaint.found.push_str(&format!(
                "; {} times, first at byte {:#x} of the unpacked image",
                hit.count, hit.offset
            ));
            breach
        })
        .collect()
    }

    /// How another policy is set.
    fn otherwise(&self) -> String {
        match self.ptx_from {
            Some(from) => format!("change {}", clean(from)),
            None => format!("set `ptx = \"embed\"` on {}", named(self.label)),
        }
    }

    /// Who brings the image, as far as its container tells.
    fn origin(&self) -> &'static str {
        match self.report.container.as_deref() {
            Some(container) if container.ends_with("fatbin") => {
                "the object or library that brings this fatbin"
            }
            Some(container) if in_offload_binary(container) => {
                "the offload_library that packs this image"
            }
            _ => "the code that holds this text or image",
        }
    }

    /// How a fatbin is made without an image of this kind.
    fn without_it(&self) -> &'static str {
        let container = self.report.container.as_deref().unwrap_or_default();
        match (container.ends_with("fatbin"), self.image.kind) {
            (false, _) => "",
            (true, Kind::Ptx) => {
                " (compile it with cubins only: -gencode=arch=compute_NN,code=sm_NN)"
            }
            (true, _) => " (compile it with PTX only: -gencode=arch=compute_NN,code=compute_NN)",
        }
    }
}

/// What the policy wants instead, if it does not allow this kind.
fn refused(policy: PtxPolicy, kind: Kind) -> Option<&'static str> {
    let wanted = match kind {
        Kind::Ptx => "no PTX, in no container",
        _ => "PTX and no cubin",
    };
    (!policy.admits(kind)).then_some(wanted)
}
