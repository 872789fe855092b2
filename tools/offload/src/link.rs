//! `offload link`: packed images into one relocatable object.

use std::io::Write;
use std::path::{Path, PathBuf};

use offload_audit::files::Opened;
use offload_image::bytes::Bytes;
use offload_image::fatbin::{EntryKind, Fatbin};
use offload_image::image::{Content, Kind};
use offload_image::offload_binary::{image_kind, Entry, OffloadBinary};
use offload_image::policy::PtxPolicy;
use offload_image::relocatable;

use crate::cli::LinkArgs;
use crate::failure::{clean, named, prefix, Complaint, Failure, Outcome};
use crate::files;
use crate::mixed::{self, Part};
use crate::sizes;

pub fn run(args: &LinkArgs, err: &mut dyn Write) -> Outcome {
    files::apart(&args.output, args.inputs.iter().map(PathBuf::as_path))?;
    let mut inputs = Vec::new();
    for path in &args.inputs {
        inputs.push((path.as_path(), files::open(path)?));
    }
    let mut parts = Vec::new();
    for (path, opened) in &inputs {
        let subject = format!("{}{}", prefix(&args.label), path.display());
        let binaries = OffloadBinary::parse_all(Bytes::new(opened.bytes()))
            .map_err(|error| Failure::unreadable(format!("{subject}: {error}")))?;
        if binaries.is_empty() {
            return Err(Failure::unreadable(format!(
                "{subject}: there are no images in it"
            )));
        }
        let entries = binaries.iter().flat_map(|binary| &binary.entries);
        parts.extend(entries.flat_map(|entry| parts_of(path, entry)));
    }
    let texts: Vec<String> = mixed::complaints(&args.label, &parts)
        .iter()
        .map(Complaint::to_string)
        .collect();
    if !texts.is_empty() {
        return Err(Failure::failed(texts));
    }
    for path in without_policy(&parts) {
        let (label, path) = (prefix(&args.label), clean(path));
        // Nobody may be reading, and the object is written all the same.
        let _ = writeln!(
            err,
            "offload: {label}note: {path} has images that were packed without a policy: what they \
             may be mixed with is not known"
        );
    }
    let mut policies: Vec<PtxPolicy> = parts.iter().filter_map(|part| part.policy).collect();
    policies.sort();
    policies.dedup();
    let from: Vec<&Opened> = inputs.iter().map(|(_, opened)| opened).collect();
    let binaries: Vec<&[u8]> = from.iter().map(|opened| opened.bytes()).collect();
    files::write(&args.output, |out| {
        let mut out = files::Passing { from, out };
        relocatable::write(&mut out, args.machine.machine(), &binaries, &policies)
    })?;
    let size = size_of(&inputs);
    if size > args.warn_above {
        let _ = writeln!(err, "offload: {}", warning(args, size));
    }
    Ok(0)
}

fn size_of(inputs: &[(&Path, Opened)]) -> u64 {
    let sizes = inputs.iter().map(|(_, opened)| opened.bytes().len() as u64);
    sizes.sum()
}

/// Many images link all the same (see `offload_image::relocatable`), but each program that has them
/// is as large, and what else it is linked from may not allow for that.
fn warning(args: &LinkArgs, size: u64) -> Complaint {
    Complaint {
        what: format!(
            "{}warning: so many images make a program that is hard to link and to ship",
            prefix(&args.label)
        ),
        wanted: format!("at most {} of images in one object", sizes::bytes(args.warn_above)),
        found: format!("{} in {}", sizes::bytes(size), args.output.display()),
        mend: format!(
            "name fewer GPUs in the `archs` of what {} packs, or family and generic ones (sm_100f, \
             gfx11-generic), which serve several each; or give each part of the kernels an \
             offload_library of its own, in a shared library of its own. Position-independent programs \
             and shared libraries link as they are; static programs may not, nor others by lld without \
             -Wl,-z,lrodata-after-bss",
            named(&args.label)
        ),
    }
}

/// The images of an entry: of fatbins each has several.
fn parts_of(path: &Path, entry: &Entry<'_>) -> Vec<Part> {
    let Some(image) = entry.image else {
        return Vec::new();
    };
    let part = |kind, arch| Part {
        from: path.display().to_string(),
        kind,
        arch,
        policy: entry.get(PtxPolicy::KEY).and_then(|p| p.parse().ok()),
    };
    let mut parts = Vec::new();
    let mut rest = image;
    // Several may stand in a row, with zeros between them.
    while let Ok(fatbin) = Fatbin::parse(rest) {
        let entries = fatbin.entries.iter();
        parts.extend(entries.map(|entry| part(kind_of(entry.kind), entry.sm.to_string())));
        rest = rest.tail(fatbin.length);
        let zeros = rest.data().iter().take_while(|byte| **byte == 0).count();
        rest = rest.tail(zeros as u64);
    }
    if !parts.is_empty() {
        return parts;
    }
    let kind = Content::parse(image).map(|content| content.kind());
    // What cannot be read is what its pack says.
    let kind = kind.unwrap_or(match entry.image_kind {
        image_kind::PTX => Kind::Ptx,
        image_kind::CUBIN => Kind::Cubin,
        other => Kind::Unknown(other),
    });
    vec![part(kind, entry.get("arch").unwrap_or("?").to_owned())]
}

fn kind_of(kind: EntryKind) -> Kind {
    match kind {
        EntryKind::Ptx => Kind::Ptx,
        EntryKind::Cubin => Kind::Cubin,
        EntryKind::Other(number) => Kind::Unknown(number),
    }
}

fn without_policy(parts: &[Part]) -> Vec<&str> {
    let mut paths: Vec<&str> = parts
        .iter()
        .filter(|part| part.policy.is_none())
        .map(|part| part.from.as_str())
        .collect();
    paths.dedup();
    paths
}
