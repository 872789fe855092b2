//! Images that are not the same and have the same kernel for the same GPUs: the runtime refuses to pick
//! one (`KernelAmbiguous`).

use offload_image::image::Kind;
use offload_image::select::{tie, Candidate, Code};

use super::Image;
use crate::cli::PackArgs;
use crate::failure::{list, named, prefix, Complaint};

/// A complaint for each two; the same bytes twice are told as such elsewhere.
pub fn complaints(args: &PackArgs, images: &[Image]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (at, one) in images.iter().enumerate() {
        for other in images.iter().skip(at + 1) {
            if !tie(&candidate(one), &candidate(other)) {
                continue;
            }
            let has = |kernel: &&String| one.strong.binary_search(kernel).is_ok();
            let both: Vec<String> = other.strong.iter().filter(has).cloned().collect();
            if !both.is_empty() && one.data.bytes() != other.data.bytes() {
                complaints.push(complaint(args, one, other, &list(&both, 5)));
            }
        }
    }
    complaints
}

fn candidate(image: &Image) -> Candidate {
    Candidate {
        code: match image.spec.kind {
            Kind::Ptx => Code::Ptx(None),
            _ => Code::Native,
        },
        target: image.spec.arch,
    }
}

fn complaint(args: &PackArgs, one: &Image, other: &Image, kernels: &str) -> Complaint {
    let told = |image: &Image| {
        let spec = &image.spec;
        format!("{} for {}, {}", spec.kind, spec.arch, spec.file.display())
    };
    Complaint {
        what: format!(
            "{}two images have the same kernels, and no GPU tells them apart: {kernels}",
            prefix(&args.label)
        ),
        wanted: format!("one {} for {} with these", other.spec.kind, other.spec.arch),
        found: format!("{}; and {}", told(one), told(other)),
        mend: format!(
            "rename the kernels in one of the two, or take one out of {}",
            named(&args.label)
        ),
    }
}
