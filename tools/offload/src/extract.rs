//! `offload extract`: every device image in files, each written to a file of its own.

mod name;
mod room;

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use offload_audit::image::Image;
use serde::Serialize;

use crate::cli::{ExtractArgs, Format, FoundKind};
use crate::failure::{clean, Failure, Outcome};
use crate::gather::{File, Inputs};
use crate::report::ImageReport;
use crate::table;

use self::room::{Refusal, Room};

/// The version of the JSON.
const SCHEMA: u32 = 1;

/// What became of an image.
enum Fate {
    /// It is in the file of this name.
    Written(String),
    NotAskedFor,
    /// There are no bytes to write. The reading has told why.
    NotUnpacked,
    Refused(Refusal),
}

/// Each image is written when it is found, so that no more than one of a file is in memory.
pub fn run(args: &ExtractArgs, out: &mut dyn Write, err: &mut dyn Write) -> Outcome {
    let mut inputs = Inputs::list(&args.files);
    leave_out(&mut inputs, &args.output_dir);
    let room = Room::make(&args.output_dir)?;
    for note in &inputs.notes {
        Failure::printed(writeln!(err, "offload: note: {}", clean(note)))?;
    }
    let files = inputs.read_paths(&args.read.bytes(), |path, image, bytes| {
        if !asked_for(args, image) {
            return Fate::NotAskedFor;
        }
        match bytes.zip(image.sha256) {
            None => Fate::NotUnpacked,
            Some((bytes, sha256)) => {
                let name = name::of(path, image, &sha256);
                let put = room.put(&name, bytes);
                put.map_or_else(Fate::Refused, |()| Fate::Written(name))
            }
        }
    });
    let report = Report::new(&files);
    Failure::printed(print(args, &report, &files, out))?;
    let mut faults = inputs.faults;
    faults.extend(files.iter().flat_map(|file| file.fault_texts()));
    faults.extend(refusals(&files));
    if !faults.is_empty() {
        return Err(Failure::all_unreadable(faults));
    }
    Ok(if report.images.is_empty() { 4 } else { 0 })
}

/// What an earlier run has written is no input of the next one, even if it is in a folder that is:
/// two runs give the same files.
fn leave_out(inputs: &mut Inputs, output: &Path) {
    let Ok(output) = fs::canonicalize(output) else {
        return; // Not there yet, so nothing is in it.
    };
    let all = inputs.files.len();
    // Images are written into the folder itself: what is further down is none of them.
    let is_written = |path: &Path| {
        fs::canonicalize(path).is_ok_and(|path| path.parent() == Some(output.as_path()))
    };
    inputs
        .files
        .retain(|input| input.named || !is_written(&input.path));
    match all - inputs.files.len() {
        0 => {}
        some => inputs.notes.push(format!(
            "{}: not looked into, as images are written there; files in it: {some}",
            output.display()
        )),
    }
}

fn asked_for(args: &ExtractArgs, image: &Image) -> bool {
    let of_kind = args.kinds.is_empty() || args.kinds.contains(&FoundKind::of(image.kind));
    let of_arch = || {
        let arch = image
            .arch()
            .and_then(|a| crate::verify::parse_target(&a).ok());
        arch.is_some_and(|arch| args.archs.iter().any(|asked| asked.includes(&arch)))
    };
    of_kind && (args.archs.is_empty() || of_arch())
}

/// Every refusal once: where the folder takes no file, that is true of every image.
fn refusals(files: &[File<Fate>]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for (_, fate) in files.iter().flat_map(|file| &file.images) {
        let Fate::Refused(refusal) = fate else {
            continue;
        };
        let text = refusal.to_string();
        if texts.last() != Some(&text) {
            texts.push(text);
        }
    }
    texts
}

#[derive(Serialize)]
struct Report {
    schema: u32,
    /// Those that were asked for, by the files' order, member and offset.
    images: Vec<Extracted>,
}

#[derive(Serialize)]
struct Extracted {
    /// The name in the folder; `null` where it could not be written.
    file: Option<String>,
    /// Where it came from.
    path: String,
    #[serde(flatten)]
    image: ImageReport,
}

impl Report {
    fn new(files: &[File<Fate>]) -> Self {
        let of_file = |file: &File<Fate>| {
            let path = file.path.display().to_string();
            let extracted = |(image, fate): &(Image, Fate)| {
                let file = match fate {
                    Fate::NotAskedFor => return None,
                    Fate::Written(name) => Some(name.clone()),
                    Fate::NotUnpacked | Fate::Refused(_) => None,
                };
                Some(Extracted {
                    file,
                    path: path.clone(),
                    image: ImageReport::new(image),
                })
            };
            file.images.iter().filter_map(extracted).collect::<Vec<_>>()
        };
        Self {
            schema: SCHEMA,
            images: files.iter().flat_map(of_file).collect(),
        }
    }
}

fn print(
    args: &ExtractArgs,
    report: &Report,
    files: &[File<Fate>],
    out: &mut dyn Write,
) -> io::Result<()> {
    if args.format == Format::Json {
        serde_json::to_writer_pretty(&mut *out, report)?;
        return writeln!(out);
    }
    if report.images.is_empty() {
        return match files.iter().map(|file| file.images.len()).sum::<usize>() {
            0 => writeln!(out, "no GPU code"),
            1 => writeln!(out, "1 image, which was not asked for"),
            others => writeln!(out, "{others} images, of which none was asked for"),
        };
    }
    let mut rows = vec![["file", "kind", "arch", "size", "from"]
        .map(str::to_owned)
        .to_vec()];
    rows.extend(report.images.iter().map(|extracted| {
        let image = &extracted.image;
        let file = extracted.file.as_deref().unwrap_or("(not written)");
        vec![
            file.to_owned(),
            table::kind(image),
            table::arch(image).unwrap_or_else(|| "?".to_owned()),
            image.unpacked_size.to_string(),
            format!("{}: {}", clean(&extracted.path), table::place(image)),
        ]
    }));
    table::print_rows(out, "", &rows)
}
