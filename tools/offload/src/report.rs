//! The JSON form of what `inspect` finds: others rely on its names. `docs/inspect.schema.json` says what
//! they mean.

use offload_audit::image::Image;
use offload_audit::scan::{Member, State};
use offload_image::arch::Suffix;
use offload_image::image::{Compression, Content};
use offload_image::ptx_isa::first_driver;
use serde::Serialize;

use crate::files::hex;
use crate::gather::{Fault, File};

/// The version of the format.
pub const SCHEMA: u32 = 1;

#[derive(Serialize)]
pub struct Report {
    pub schema: u32,
    pub files: Vec<FileReport>,
}

#[derive(Serialize)]
pub struct FileReport {
    pub path: String,
    pub format: &'static str,
    pub state: &'static str,
    /// Why code for a GPU is taken to be in another place; for members see there.
    pub reasons: Vec<String>,
    pub images: Vec<ImageReport>,
    pub problems: Vec<ProblemReport>,
    /// The members of archives that use code from elsewhere or that could not be read.
    pub members: Vec<MemberReport>,
}

/// One image. What cannot be known is `null`: the kernels of an image that is malformed, say.
#[derive(Clone, Serialize)]
pub struct ImageReport {
    pub kind: String,
    /// What the bytes say, or else the container.
    pub arch: Option<String>,
    pub declared_arch: Option<String>,
    pub actual_arch: Option<String>,
    /// Whether the two contradict each other.
    pub mismatch: bool,
    pub suffix: Option<&'static str>,
    pub member: Vec<String>,
    /// The formats around it, outermost first: `elf/fatbin`; `null` for a bare image.
    pub container: Option<String>,
    pub container_offset: Option<u64>,
    pub section: Option<String>,
    /// Which of the packed files that the host file was linked from.
    pub pack: Option<u64>,
    /// Where its stored bytes start in the file or member.
    pub offset: u64,
    /// Where it starts in the blob that was unpacked.
    pub inner_offset: Option<u64>,
    pub relocatable: bool,
    pub compression: &'static str,
    /// In bytes, as stored.
    pub size: u64,
    /// In bytes.
    pub unpacked_size: u64,
    /// Of the unpacked bytes.
    pub sha256: Option<String>,
    /// Sorted.
    pub kernels: Option<Vec<String>>,
    pub ptx_isa: Option<String>,
    pub ptx_target: Option<String>,
    /// The oldest NVIDIA driver that compiles it.
    pub min_driver: Option<String>,
    pub policy: Option<String>,
}

#[derive(Serialize)]
pub struct ProblemReport {
    pub member: Vec<String>,
    pub offset: Option<u64>,
    pub unpacked_from: Option<u64>,
    pub text: String,
}

#[derive(Serialize)]
pub struct MemberReport {
    pub member: Vec<String>,
    pub format: &'static str,
    pub state: &'static str,
    pub reasons: Vec<String>,
}

impl FileReport {
    pub fn new<E>(file: &File<E>) -> Self {
        let (whole, members) = match file.members.split_last() {
            Some((whole, members)) => (Some(whole), members),
            None => (None, &[][..]),
        };
        Self {
            path: file.path.display().to_string(),
            format: whole.map_or("unknown", |whole| whole.format),
            state: file.state().name(),
            reasons: reasons(file.state()),
            images: file.images.iter().map(|i| ImageReport::new(&i.0)).collect(),
            problems: file.faults.iter().map(ProblemReport::new).collect(),
            members: members
                .iter()
                .filter(|m| matches!(m.state, State::Elsewhere(_) | State::Unreadable))
                .map(MemberReport::new)
                .collect(),
        }
    }
}

fn reasons(state: &State) -> Vec<String> {
    match state {
        State::Elsewhere(reasons) => reasons.clone(),
        _ => Vec::new(),
    }
}

impl ImageReport {
    pub fn new(image: &Image) -> Self {
        let location = &image.location;
        Self {
            kind: image.kind.to_string(),
            arch: image.arch(),
            declared_arch: image.label.arch.clone(),
            actual_arch: image.actual_arch(),
            mismatch: image.false_label().is_some(),
            suffix: image.suffix().map(Suffix::letter),
            member: location.member.clone(),
            container: (!location.container.is_empty()).then(|| location.container.clone()),
            container_offset: location.container_offset,
            section: location.section.clone(),
            pack: location.pack,
            offset: location.offset,
            inner_offset: location.inner_offset,
            relocatable: image.relocatable(),
            compression: image.compression.name(),
            size: image.size,
            unpacked_size: image.unpacked_size,
            sha256: image.sha256.map(|hash| hex(&hash)),
            kernels: image.kernels().map(<[String]>::to_vec),
            ptx_isa: image.ptx_isa().map(|isa| isa.to_string()),
            ptx_target: match &image.content {
                Some(Content::Ptx(ptx)) => Some(ptx.target.clone()),
                _ => None,
            },
            min_driver: image
                .ptx_isa()
                .and_then(first_driver)
                .map(|driver| driver.to_string()),
            policy: image.label.policy.clone(),
        }
    }

    pub fn is_packed(&self) -> bool {
        self.compression != Compression::None.name()
    }
}

impl ProblemReport {
    fn new(fault: &Fault) -> Self {
        Self {
            member: fault.member.clone(),
            offset: fault.offset,
            unpacked_from: fault.unpacked_from,
            text: fault.text.clone(),
        }
    }
}

impl MemberReport {
    fn new(member: &Member) -> Self {
        Self {
            member: member.path.clone(),
            format: member.format,
            state: member.state.name(),
            reasons: reasons(&member.state),
        }
    }
}
