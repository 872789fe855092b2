//! `offload verify`: files against a PTX policy and other rules about what is in them.

mod breach;
mod conflict;
mod container;
mod coverage;
mod held;
mod image;
mod junit;
mod origin;
mod policy;
mod programs;
mod rules;
mod same;
mod uneven;
mod unique;
mod verdict;

use std::io::{self, Write};
use std::path::PathBuf;

use memchr::memmem;
use offload_audit::image::Image;
use offload_audit::scan::Unpack;
use offload_image::bytes::Bytes;
use offload_image::image::Kind;
use offload_image::strong::strong_kernels;
use serde::Serialize;

use crate::cli::{VerifyArgs, VerifyFormat};
use crate::failure::{prefix, Failure, Outcome};
use crate::files;
use crate::gather::{File, Inputs};
use crate::meta::SCHEMA;
use crate::report::ImageReport;
use crate::table::summary;

pub use self::rules::parse_target;

use self::container::in_offload_binary;
use self::held::Wanted;
use self::image::{Seen, TextHit};
use self::origin::identity;
use self::policy::Policy;
use self::rules::Keys;
use self::verdict::{Excepted, Verdict};

pub fn run(args: &VerifyArgs, out: &mut dyn Write, err: &mut dyn Write) -> Outcome {
    if let Some(output) = &args.output {
        let inputs = args.files.iter().chain(&args.beside).chain(&args.images);
        files::apart(output, inputs.map(PathBuf::as_path))?;
    }
    let wanted = Wanted::read(&args.images, &args.read.contents())?;
    let policy = Policy::new(args.policy.as_deref(), &flags(args))?;
    if policy.is_empty() && wanted.is_empty() {
        return Err(Failure::usage(
            "nothing to verify: give --ptx=forbid, another rule, or --policy=FILE",
        ));
    }
    let inputs = Inputs::list(&args.files).beside(&args.beside);
    let files = read(args, &policy, &wanted, &inputs);
    let verdict = Verdict::new(args, &policy, &wanted, &inputs, &files);
    Failure::printed(verdict.tell(err))?;
    Failure::printed(verdict.print(args, out))?;
    let faults = verdict.fault_texts();
    let breaches = verdict.breaches.iter().map(|b| b.complaint.to_string());
    if !faults.is_empty() {
        // A file that was not read to its end may hold anything.
        return Err(Failure::all_unreadable(
            faults.into_iter().chain(breaches).collect(),
        ));
    }
    let breaches: Vec<String> = breaches.collect();
    if !breaches.is_empty() {
        return Err(Failure::failed(breaches));
    }
    match &args.output {
        Some(output) => files::write_json(output, &stamp(args, &policy, &verdict, &files)?)?,
        None if args.format == VerifyFormat::Text => Failure::printed(say_ok(args, &files, out))?,
        None => {}
    }
    Ok(0)
}

fn flags(args: &VerifyArgs) -> Keys {
    fn list<T: Clone>(given: &[T]) -> Option<Vec<T>> {
        (!given.is_empty()).then(|| given.to_vec())
    }
    Keys {
        ptx: args.ptx,
        require_arch: list(&args.archs),
        require_kernel: list(&args.kernels),
        forbid_arch: list(&args.forbid_archs),
        forbid_text: list(&args.forbid_texts),
        max_image_bytes: args.max_image_bytes,
        max_total_bytes: args.max_total_bytes,
        max_ptx_isa: args.max_ptx_isa,
        min_driver: args.min_driver,
    }
}

/// No more is unpacked than the rules need.
fn read(args: &VerifyArgs, policy: &Policy, wanted: &Wanted, inputs: &Inputs) -> Vec<File<Seen>> {
    let mut texts: Vec<String> = policy.all_rules().flat_map(|r| r.forbid_texts).collect();
    texts.sort();
    texts.dedup();
    let contents = policy.all_rules().any(|rules| rules.need_contents());
    let compared = !wanted.is_empty() || !args.origins.is_empty();
    let unpack = match contents {
        _ if compared || !texts.is_empty() => Unpack::Bytes,
        true => Unpack::Contents,
        false => Unpack::Kinds,
    };
    let options = args.read.options(unpack, compared);
    let hit = |text: &String, bytes: &[u8]| {
        let mut found = memmem::find_iter(bytes, text);
        Some(TextHit {
            text: text.clone(),
            offset: found.next()?,
            count: 1 + found.count(),
        })
    };
    inputs.read(&options, |image, bytes| {
        // Those of a program are in one list: what is there twice is told.
        let listed = in_offload_binary(&image.location.container);
        Seen {
            identity: (compared || listed)
                .then(|| identity(image, bytes))
                .flatten(),
            strong: if listed {
                strong(image, bytes)
            } else {
                Vec::new()
            },
            texts: texts
                .iter()
                .filter_map(|text| hit(text, bytes.unwrap_or_default()))
                .collect(),
        }
    })
}

/// What is wrong with an image that cannot be read is told of the image.
fn strong(image: &Image, bytes: Option<&[u8]>) -> Vec<String> {
    let read = |content| strong_kernels(Bytes::new(bytes?), content).ok();
    image.content.as_ref().and_then(read).unwrap_or_default()
}

/// What is written where all is well.
#[derive(Serialize)]
struct Stamp<'a> {
    schema: u32,
    label: &'a str,
    ptx: Option<&'static str>,
    archs: Vec<String>,
    kernels: &'a [String],
    files: Vec<StampFile>,
    /// What was let through, and why.
    exceptions: &'a [Excepted],
    /// What is no breach and was told all the same.
    notes: &'a [String],
}

#[derive(Serialize)]
struct StampFile {
    path: String,
    sha256: String,
    images: usize,
    ptx: usize,
}

fn stamp<'a, E>(
    args: &'a VerifyArgs,
    policy: &'a Policy,
    verdict: &'a Verdict,
    files: &[File<E>],
) -> Result<Stamp<'a>, Failure> {
    let file = |file: &File<E>| {
        Ok(StampFile {
            path: file.path.display().to_string(),
            sha256: files::sha256_of(&file.path)?,
            images: file.images.len(),
            ptx: file.images.iter().filter(|i| i.0.kind == Kind::Ptx).count(),
        })
    };
    Ok(Stamp {
        schema: SCHEMA,
        label: &args.label,
        ptx: policy.rules.ptx.map(|ptx| ptx.name()),
        archs: policy
            .rules
            .require_archs
            .iter()
            .map(ToString::to_string)
            .collect(),
        kernels: &policy.rules.require_kernels,
        files: files.iter().map(file).collect::<Result<_, Failure>>()?,
        exceptions: &verdict.exceptions,
        notes: &verdict.notes,
    })
}

fn say_ok<E>(args: &VerifyArgs, files: &[File<E>], out: &mut dyn Write) -> io::Result<()> {
    let images = files.iter().flat_map(|file| &file.images);
    let reports: Vec<ImageReport> = images.map(|(image, _)| ImageReport::new(image)).collect();
    writeln!(out, "{}ok: {}", prefix(&args.label), summary(&reports))
}
