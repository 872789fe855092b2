//! `offload link`: packed images into one relocatable object.

use std::io::Write;
use std::path::{Path, PathBuf};

use offload_image::bytes::Bytes;
use offload_image::image::{Content, Kind};
use offload_image::offload_binary::{image_kind, Entry, OffloadBinary};
use offload_image::policy::PtxPolicy;
use offload_image::relocatable;

use crate::cli::LinkArgs;
use crate::failure::{clean, named, prefix, Complaint, Failure, Outcome};
use crate::files;

pub fn run(args: &LinkArgs, err: &mut dyn Write) -> Outcome {
    files::apart(&args.output, args.inputs.iter().map(PathBuf::as_path))?;
    let mut inputs = Vec::new();
    for path in &args.inputs {
        inputs.push((path.as_path(), files::read(path)?));
    }
    let mut images = Vec::new();
    for (path, bytes) in &inputs {
        let subject = format!("{}{}", prefix(&args.label), path.display());
        let binaries = OffloadBinary::parse_all(Bytes::new(bytes))
            .map_err(|error| Failure::unreadable(format!("{subject}: {error}")))?;
        if binaries.is_empty() {
            return Err(Failure::unreadable(format!(
                "{subject}: there are no images in it"
            )));
        }
        let entries = binaries.iter().flat_map(|binary| &binary.entries);
        images.extend(entries.filter_map(|entry| Linked::new(path, entry)));
    }
    let texts: Vec<String> = mixed(&args.label, &images)
        .iter()
        .map(Complaint::to_string)
        .collect();
    if !texts.is_empty() {
        return Err(Failure::failed(texts));
    }
    for path in without_policy(&images) {
        let (label, path) = (prefix(&args.label), clean(&path.display().to_string()));
        // Nobody may be reading, and the object is written all the same.
        let _ = writeln!(
            err,
            "offload: {label}note: {path} has images that were packed without a policy: what they \
             may be mixed with is not known"
        );
    }
    let binaries: Vec<&[u8]> = inputs.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    files::write(&args.output, |out| {
        relocatable::write(out, args.machine.machine(), &binaries)
    })?;
    Ok(0)
}

/// An image that is linked.
struct Linked<'a> {
    path: &'a Path,
    ptx: bool,
    arch: &'a str,
    /// What it was packed under; `None` where nothing or nothing known is said.
    policy: Option<PtxPolicy>,
}

impl<'a> Linked<'a> {
    fn new(path: &'a Path, entry: &Entry<'a>) -> Option<Self> {
        let kind = Content::parse(entry.image?).map(|content| content.kind());
        Some(Self {
            path,
            // What cannot be read is what its pack says.
            ptx: kind.map_or(entry.image_kind == image_kind::PTX, |k| k == Kind::Ptx),
            arch: entry.get("arch").unwrap_or("?"),
            policy: entry.get(PtxPolicy::KEY).and_then(|p| p.parse().ok()),
        })
    }
}

/// PTX beside images that were packed under `forbid`: wherever it was packed, and under whatever
/// policy, they would be in one program.
fn mixed(label: &str, images: &[Linked<'_>]) -> Vec<Complaint> {
    let Some(forbids) = images
        .iter()
        .find(|image| image.policy == Some(PtxPolicy::Forbid))
    else {
        return Vec::new();
    };
    let forbids = clean(&forbids.path.display().to_string());
    let ptx = images.iter().filter(|image| image.ptx);
    ptx.map(|image| Complaint {
        what: format!(
            "{}images that were packed under ptx = \"forbid\" would be linked with PTX",
            prefix(label)
        ),
        wanted: format!("no PTX beside the images of {forbids}"),
        found: format!(
            "ptx for {} in {}, packed under {}",
            clean(image.arch),
            clean(&image.path.display().to_string()),
            image
                .policy
                .map_or_else(|| "no policy".to_owned(), |p| format!("ptx = \"{p}\""))
        ),
        mend: format!(
            "pack both with the same policy: set the same `ptx` on what {} links",
            named(label)
        ),
    })
    .collect()
}

fn without_policy<'a>(images: &[Linked<'a>]) -> Vec<&'a Path> {
    let mut paths: Vec<&Path> = images
        .iter()
        .filter(|image| image.policy.is_none())
        .map(|image| image.path)
        .collect();
    paths.dedup();
    paths
}
