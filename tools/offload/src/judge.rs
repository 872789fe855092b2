//! Whether the bytes of an image are what was declared: `check` and `pack` ask here.

use std::path::Path;

use offload_image::arch::Vendor;
use offload_image::bytes::Bytes;
use offload_image::image::{Content, Kind};
use offload_image::near::nearest;
use offload_image::ptx::Ptx;
use offload_image::target::Target;

use crate::ceiling::{compiled_by, Ceiling};
use crate::failure::{list, named, prefix, Complaint, Failure};

/// What somebody declared about an image.
pub struct Declared<'a> {
    pub label: &'a str,
    pub path: &'a Path,
    pub kind: Kind,
    pub arch: &'a Target,
    pub kernels: &'a [String],
    /// The newest PTX that it may be.
    pub ceilings: &'a [Ceiling],
}

/// Reads the image and compares. Every complaint is told, not only the first.
pub fn judge(declared: &Declared<'_>, bytes: &[u8]) -> Result<Content, Failure> {
    let subject = declared.subject();
    let fits = match declared.arch.vendor() {
        Vendor::Nvidia => declared.kind != Kind::Gfx,
        Vendor::Amd => declared.kind == Kind::Gfx,
    };
    if !fits {
        return Err(Failure::usage(format!(
            "{subject}: {} is an architecture of {}, and no image for it is a {}",
            declared.arch,
            declared.arch.vendor().name(),
            declared.kind,
        )));
    }
    let content = Content::parse(Bytes::new(bytes))
        .map_err(|error| Failure::unreadable(format!("{subject}: {error}")))?;
    let mut complaints = Vec::new();
    if content.kind() == declared.kind {
        complaints.extend(declared.arch_complaint(&content));
        complaints.extend(declared.kernel_complaints(&content));
        complaints.extend(declared.isa_complaints(&content));
    } else {
        complaints.push(Complaint {
            what: format!("{subject}: the image is of another kind than declared"),
            wanted: format!("kind {}", declared.kind),
            found: format!("kind {}, for {}", content.kind(), content.arch(None)),
            mend: format!(
                "declare kind {}, or give {} the {} that was meant",
                content.kind(),
                named(declared.label),
                declared.kind
            ),
        });
    }
    if complaints.is_empty() {
        return Ok(content);
    }
    let texts = complaints.iter().map(Complaint::to_string).collect();
    Err(Failure::failed(texts))
}

impl Declared<'_> {
    /// `//x:y: sm_90 cubin out/k.cubin`
    pub fn subject(&self) -> String {
        let (label, path) = (prefix(self.label), self.path.display());
        format!("{label}{} {} {path}", self.arch, self.kind)
    }

    fn arch_complaint(&self, content: &Content) -> Option<Complaint> {
        let wanted = self.arch.to_string();
        // The declaration counts only where the bytes leave the letter open.
        let found = content.arch(Some(&wanted));
        if found == wanted {
            return None;
        }
        let from = match content {
            Content::Cubin(_) => "in the cubin's header and notes",
            Content::Gfx(_) => "in the code object's e_flags",
            Content::Ptx(_) => "in the PTX's `.target`",
        };
        Some(Complaint {
            what: format!("{}: the image is for another architecture", self.subject()),
            wanted,
            found: format!("{found}, {from}"),
            mend: format!(
                "declare arch {found}, or compile the image of {} for {}",
                named(self.label),
                self.arch
            ),
        })
    }

    fn isa_complaints(&self, content: &Content) -> Vec<Complaint> {
        let Content::Ptx(Ptx { isa, .. }) = content else {
            return Vec::new();
        };
        let below = self.ceilings.iter().filter(|c| c.is_below(*isa));
        below
            .map(|ceiling| Complaint {
                what: format!("{}: the PTX is too new", self.subject()),
                wanted: ceiling.wanted(),
                found: format!("PTX ISA {isa}{}", compiled_by(*isa)),
                mend: ceiling.mend(&named(self.label)),
            })
            .collect()
    }

    fn kernel_complaints(&self, content: &Content) -> Vec<Complaint> {
        let exported = content.kernels();
        if exported.is_empty() {
            return vec![Complaint {
                what: format!("{}: no kernel is exported", self.subject()),
                wanted: if self.kernels.is_empty() {
                    "at least one kernel".to_owned()
                } else {
                    list(self.kernels, usize::MAX)
                },
                found: "none".to_owned(),
                mend: "mark it `#[unsafe(no_mangle)] pub unsafe extern \"gpu-kernel\" fn`, \
                     in the crate that is the root of the device build"
                    .to_owned(),
            }];
        }
        let missing = self.kernels.iter().filter(|name| !exported.contains(name));
        missing
            .map(|name| Complaint {
                what: format!("{}: kernel `{name}` is not exported", self.subject()),
                wanted: name.clone(),
                found: list(exported, 20),
                mend: match nearest(name, exported.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!(
                        "export it, or take `{name}` out of the kernels of {}",
                        named(self.label)
                    ),
                },
            })
            .collect()
    }
}
