//! What a file can have against the policy, image by image.

use offload_image::image::Kind;
use offload_image::policy::PtxPolicy;

use crate::cli::VerifyArgs;
use crate::failure::{clean, prefix, target as named, Complaint};
use crate::report::ImageReport;
use crate::table::place;

/// An image with what is needed to judge it and to name it.
pub struct Found {
    /// The file, for people.
    pub path: String,
    pub kind: Kind,
    pub report: ImageReport,
    /// The label of the container where it contradicts the bytes.
    pub false_label: Option<String>,
}

impl Found {
    pub fn arch(&self) -> String {
        self.report
            .arch
            .as_deref()
            .map_or_else(|| "?".to_owned(), clean)
    }

    /// `ptx for sm_80, PTX ISA 8.8, 328 bytes (lz4), in .nv_fatbin @ 0x40 (elf/fatbin)`
    fn describe(&self) -> String {
        let report = &self.report;
        let mut text = format!("{} for {}", self.kind, self.arch());
        if let Some(isa) = &report.ptx_isa {
            text.push_str(&format!(", PTX ISA {isa}"));
        }
        text.push_str(&format!(", {} bytes", report.size));
        if report.compression != "none" {
            text.push_str(&format!(" ({})", report.compression));
        }
        let place = place(report.section.as_deref(), report.offset);
        text.push_str(&format!(", in {place}"));
        if let Some(container) = &report.container {
            text.push_str(&format!(" ({container})"));
        }
        if let Some(policy) = &report.policy {
            text.push_str(&format!(", packed under ptx = \"{}\"", clean(policy)));
        }
        text
    }

    fn where_from(&self) -> &'static str {
        match self.report.container.as_deref() {
            Some(container) if container.ends_with("fatbin") => {
                "the object or library that brings this fatbin (compile it with cubins only: \
                 -gencode=arch=compute_NN,code=sm_NN)"
            }
            Some(container) if container.ends_with("offload_binary") => {
                "the offload_library that packs this image"
            }
            _ => "the code that holds this text or image",
        }
    }
}

/// Every breach of the policy by one image.
pub fn of_image(args: &VerifyArgs, found: &Found) -> Vec<Complaint> {
    let (prefix, target) = (prefix(&args.label), named(&args.label));
    let mut breaches = Vec::new();
    let own = found.report.policy.as_deref().map(str::parse::<PtxPolicy>);
    if let Some(wanted) = refused_by(args.ptx, found.kind) {
        breaches.push(Complaint {
            what: format!(
                "{prefix}ptx = \"{}\" is breached by {}",
                args.ptx, found.path
            ),
            wanted: wanted.to_owned(),
            found: found.describe(),
            mend: format!(
                "set `ptx = \"embed\"` on {target}, or remove {}",
                found.where_from()
            ),
        });
    } else if let Some(Ok(own)) = own {
        if let Some(wanted) = refused_by(own, found.kind) {
            breaches.push(Complaint {
                what: format!("{prefix}an image in {} breaches its own policy", found.path),
                wanted: format!("{wanted}, by the policy it was packed under"),
                found: found.describe(),
                mend: "pack it anew with `offload pack`, which refuses this".to_owned(),
            });
        }
    }
    if let Some(Err(unknown)) = own {
        breaches.push(Complaint {
            what: format!(
                "{prefix}an image in {} has a policy that is not known",
                found.path
            ),
            wanted: "forbid, embed or only".to_owned(),
            found: format!("{}: {}", found.describe(), clean(&unknown)),
            mend: "use the release of this tool that packed it, or pack it anew".to_owned(),
        });
    }
    if let Some(label) = &found.false_label {
        breaches.push(Complaint {
            what: format!(
                "{prefix}an image in {} is labelled for another GPU",
                found.path
            ),
            wanted: format!("an image for {}, as its container says", clean(label)),
            found: found.describe(),
            mend: format!("rebuild {}", found.where_from()),
        });
    }
    breaches
}

/// What the policy wants instead, if it does not allow this kind.
fn refused_by(policy: PtxPolicy, kind: Kind) -> Option<&'static str> {
    match (policy, kind) {
        (PtxPolicy::Forbid, Kind::Ptx) => Some("no PTX, in no container"),
        (PtxPolicy::Only, Kind::Cubin) => Some("PTX and no cubin"),
        _ => None,
    }
}
