//! Images whose policies do not go together: `pack` and `link` ask here.

use offload_image::image::Kind;
use offload_image::policy::PtxPolicy;

use crate::failure::{clean, named, prefix, Complaint};

/// An image that is to be in one program with others.
pub struct Part {
    /// The file that it comes from, for people.
    pub from: String,
    pub kind: Kind,
    pub arch: String,
    /// What it was built under; `None` where nothing or nothing known is said.
    pub policy: Option<PtxPolicy>,
}

/// Each image that the policy of another one has no room for: wherever it was built, and under
/// whatever policy, they would be in one program.
pub fn complaints(label: &str, parts: &[Part]) -> Vec<Complaint> {
    let mut found = Vec::new();
    for policy in [PtxPolicy::Forbid, PtxPolicy::Only] {
        let Some(bound) = parts.iter().find(|part| part.policy == Some(policy)) else {
            continue;
        };
        // What breaks its own policy is told as that.
        let strange = |part: &&Part| !policy.admits(part.kind) && part.policy != Some(policy);
        found.extend(parts.iter().filter(strange).map(|part| Complaint {
            what: format!(
                "{}images that were built under ptx = \"{policy}\" would be in one program with {}",
                prefix(label),
                several(part.kind)
            ),
            wanted: format!(
                "no {} beside the images of {}",
                several(part.kind),
                clean(&bound.from)
            ),
            found: format!(
                "{} for {} in {}, built under {}",
                part.kind,
                clean(&part.arch),
                clean(&part.from),
                part.policy
                    .map_or_else(|| "no policy".to_owned(), |p| format!("ptx = \"{p}\""))
            ),
            mend: format!(
                "build both under one policy: set the same `ptx` on the targets that {} brings together",
                named(label)
            ),
        }));
    }
    found
}

fn several(kind: Kind) -> &'static str {
    match kind {
        Kind::Ptx => "PTX",
        _ => "cubins",
    }
}
