//! `offload verify`: files against a PTX policy and what has to be in them.

use std::io::Write;
use std::path::PathBuf;

use offload_audit::scan::scan;
use offload_image::image::Kind;
use offload_image::near::nearest;
use offload_image::policy::PtxPolicy;
use serde::Serialize;

use crate::breach::{of_image, Found};
use crate::cli::VerifyArgs;
use crate::failure::{list, prefix, target as named, Complaint, Failure, Outcome};
use crate::files;
use crate::meta::SCHEMA;
use crate::report::ImageReport;
use crate::table::summary;

/// What is written where all is well.
#[derive(Serialize)]
struct Stamp<'a> {
    schema: u32,
    label: &'a str,
    ptx: &'static str,
    archs: Vec<String>,
    kernels: &'a [String],
    files: Vec<StampFile>,
}

#[derive(Serialize)]
struct StampFile {
    path: String,
    sha256: String,
    images: usize,
    ptx: usize,
}

pub fn run(args: &VerifyArgs, out: &mut dyn Write, err: &mut dyn Write) -> Outcome {
    if let Some(output) = &args.output {
        files::apart(output, args.files.iter().map(PathBuf::as_path))?;
    }
    let mut found = Vec::new();
    let mut problems = Vec::new();
    let mut stamps = Vec::new();
    for path in &args.files {
        let text = path.display().to_string();
        let bytes = match files::read(path) {
            Ok(bytes) => bytes,
            Err(failure) => {
                problems.extend(failure.into_texts());
                continue;
            }
        };
        let scanned = scan(&bytes);
        for problem in &scanned.problems {
            problems.push(format!("{}{text}: {problem}", prefix(&args.label)));
        }
        stamps.push(StampFile {
            path: text.clone(),
            sha256: files::sha256(&bytes),
            images: scanned.images.len(),
            ptx: scanned
                .images
                .iter()
                .filter(|i| i.kind == Kind::Ptx)
                .count(),
        });
        found.extend(scanned.images.iter().map(|image| Found {
            path: text.clone(),
            kind: image.kind,
            report: ImageReport::new(image),
            false_label: image.false_label().map(str::to_owned),
        }));
    }
    let mut breaches: Vec<Complaint> = found
        .iter()
        .flat_map(|image| of_image(args, image))
        .collect();
    breaches.extend(missing_archs(args, &found));
    breaches.extend(missing_kernels(args, &found));
    let breached = !breaches.is_empty();
    let texts: Vec<String> = breaches.iter().map(Complaint::to_string).collect();
    if !problems.is_empty() {
        // A file that was not read to its end may hold anything.
        problems.extend(texts);
        return Err(Failure::all_unreadable(problems));
    }
    if breached {
        return Err(Failure::failed(texts));
    }
    note_unjudged(args, &found, err).map_err(Failure::output)?;
    if let Some(output) = &args.output {
        let stamp = Stamp {
            schema: SCHEMA,
            label: &args.label,
            ptx: args.ptx.name(),
            archs: args.archs.iter().map(ToString::to_string).collect(),
            kernels: &args.kernels,
            files: stamps,
        };
        files::write_json(output, &stamp)?;
    } else {
        let reports: Vec<ImageReport> = found.into_iter().map(|image| image.report).collect();
        writeln!(out, "{}ok: {}", prefix(&args.label), summary(&reports))
            .map_err(Failure::output)?;
    }
    Ok(0)
}

/// Whether an image counts for a required architecture: machine code does, and PTX only where the
/// policy has nothing else.
fn counts(args: &VerifyArgs, image: &Found) -> bool {
    match image.kind {
        Kind::Cubin | Kind::Gfx => true,
        Kind::Ptx => args.ptx == PtxPolicy::Only,
        _ => false,
    }
}

fn archs_there(args: &VerifyArgs, found: &[Found]) -> Vec<String> {
    let mut archs: Vec<String> = Vec::new();
    for image in found.iter().filter(|image| counts(args, image)) {
        let arch = image.arch();
        if !archs.contains(&arch) {
            archs.push(arch);
        }
    }
    archs
}

fn files_text(args: &VerifyArgs) -> String {
    let names: Vec<String> = args
        .files
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    list(&names, 5)
}

fn missing_archs(args: &VerifyArgs, found: &[Found]) -> Vec<Complaint> {
    let there = archs_there(args, found);
    let missing = args
        .archs
        .iter()
        .map(ToString::to_string)
        .filter(|arch| !there.contains(arch));
    missing
        .map(|arch| Complaint {
            what: format!(
                "{}no image for {arch} in {}",
                prefix(&args.label),
                files_text(args)
            ),
            found: format!("images for: {}", list(&there, 50)),
            mend: format!("add \"{arch}\" to the archs of {}", named(&args.label)),
            wanted: arch,
        })
        .collect()
}

/// Each kernel has to be in an image of each required architecture or, where none is required, in
/// any image.
fn missing_kernels(args: &VerifyArgs, found: &[Found]) -> Vec<Complaint> {
    let there = archs_there(args, found);
    let mut groups: Vec<(Option<String>, Vec<&Found>)> = Vec::new();
    for arch in args.archs.iter().map(ToString::to_string) {
        // That there is none has been told already.
        if there.contains(&arch) {
            let images = found
                .iter()
                .filter(|i| counts(args, i) && i.arch() == arch)
                .collect();
            groups.push((Some(arch), images));
        }
    }
    if args.archs.is_empty() {
        groups.push((None, found.iter().collect()));
    }
    let mut complaints = Vec::new();
    for kernel in &args.kernels {
        for (arch, images) in &groups {
            complaints.extend(missing_kernel(args, kernel, arch.as_deref(), images));
        }
    }
    complaints
}

fn missing_kernel(
    args: &VerifyArgs,
    kernel: &String,
    arch: Option<&str>,
    images: &[&Found],
) -> Option<Complaint> {
    let mut names: Vec<String> = images
        .iter()
        .flat_map(|image| image.report.kernels.iter().flatten().cloned())
        .collect();
    names.sort();
    names.dedup();
    if names.contains(kernel) {
        return None;
    }
    let unread = images
        .iter()
        .filter(|image| image.report.kernels.is_none())
        .count();
    let mut found = format!("kernels: {}", list(&names, 20));
    if unread > 0 {
        found.push_str(&format!("; of {unread} images the kernels were not read"));
    }
    let images_for = arch.map_or_else(
        || "any image".to_owned(),
        |arch| format!("an image for {arch}"),
    );
    Some(Complaint {
        what: format!(
            "{}kernel `{kernel}` is in no image{} in {}",
            prefix(&args.label),
            arch.map(|arch| format!(" for {arch}")).unwrap_or_default(),
            files_text(args)
        ),
        wanted: format!("`{kernel}` in {images_for}"),
        found,
        mend: match nearest(kernel, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("export it from a device crate of {}", named(&args.label)),
        },
    })
}

/// Code of kinds that cannot be judged is no breach, and must not go unsaid either.
fn note_unjudged(args: &VerifyArgs, found: &[Found], err: &mut dyn Write) -> std::io::Result<()> {
    for image in found {
        if !matches!(image.kind, Kind::Cubin | Kind::Gfx | Kind::Ptx) {
            writeln!(
                err,
                "offload: {}note: {} for {} in {} is not judged",
                prefix(&args.label),
                image.kind,
                image.arch(),
                image.path
            )?;
        }
    }
    Ok(())
}
