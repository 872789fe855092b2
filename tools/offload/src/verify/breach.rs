//! What can be wrong with files that could be read.

use serde::Serialize;

use super::origin::{Origin, Source};
use crate::failure::{clean, Complaint};
use crate::report::ImageReport;

/// Which rule is breached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// PTX where none may be.
    Ptx,
    /// The same, in a form that is still to be linked with other device code.
    RelocatablePtx,
    /// A cubin where there may be PTX alone.
    Cubin,
    /// The policy that an image was packed under does not allow it.
    OwnPolicy,
    /// The policy that other images of the program were built under does not allow it.
    MixedPolicy,
    /// The policy that an image was packed under is none that is known.
    UnknownPolicy,
    /// The container names another architecture than the bytes.
    FalseLabel,
    /// Two images of one program have the same kernel for the same GPUs, and are not the same.
    Conflict,
    RequireArch,
    RequireKernel,
    RequireImages,
    ForbidArch,
    ForbidText,
    MaxImageBytes,
    MaxTotalBytes,
    MaxPtxIsa,
    MinDriver,
}

impl Rule {
    /// As it stands in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ptx => "ptx",
            Self::RelocatablePtx => "relocatable-ptx",
            Self::Cubin => "cubin",
            Self::OwnPolicy => "own-policy",
            Self::MixedPolicy => "mixed-policy",
            Self::UnknownPolicy => "unknown-policy",
            Self::FalseLabel => "false-label",
            Self::Conflict => "conflict",
            Self::RequireArch => "require-arch",
            Self::RequireKernel => "require-kernel",
            Self::RequireImages => "require-images",
            Self::ForbidArch => "forbid-arch",
            Self::ForbidText => "forbid-text",
            Self::MaxImageBytes => "max-image-bytes",
            Self::MaxTotalBytes => "max-total-bytes",
            Self::MaxPtxIsa => "max-ptx-isa",
            Self::MinDriver => "min-driver",
        }
    }
}

/// One breach.
#[derive(Serialize)]
pub struct Breach {
    pub rule: Rule,
    /// The file; `null` where it is about all of them together.
    pub path: Option<String>,
    /// The image, if it is about one.
    pub image: Option<ImageReport>,
    /// The build target that the image came from, or all images that it is about, where that is known.
    pub origin: Option<String>,
    #[serde(flatten)]
    pub complaint: Complaint,
}

impl Breach {
    /// The same, with where the image came from, where origins were asked.
    pub fn from(mut self, source: &Source) -> Self {
        match source {
            Source::Unknown => self,
            Source::None => {
                let none = "; from none of its dependencies: look in its own sources";
                self.complaint.found.push_str(none);
                self
            }
            Source::Target(origin) => self.brought_by(origin),
        }
    }

    /// The same, with the target that brought the images.
    pub fn brought_by(mut self, origin: &Origin) -> Self {
        let found = &mut self.complaint.found;
        found.push_str(&format!("; from {}", origin.text));
        self.excusable(origin)
    }

    /// The same, with how that target may be let through.
    pub fn excusable(mut self, origin: &Origin) -> Self {
        self.complaint.mend.push_str(&format!(
            "; or let it through, and say why: audit_exceptions = {{\"{}\": \"...\"}}",
            clean(&origin.target)
        ));
        self.origin = Some(origin.target.clone());
        self
    }
}
