//! `offload inspect`: every device image in files and folders.

use std::io::Write;

use offload_audit::scan::{Options, Unpack};

use crate::cli::{Format, InspectArgs};
use crate::failure::{clean, Failure, Outcome};
use crate::gather::Inputs;
use crate::report::{FileReport, Report, SCHEMA};
use crate::table;

/// What could be read is printed even where a file is partly malformed; the exit code tells.
pub fn run(args: &InspectArgs, out: &mut dyn Write, err: &mut dyn Write) -> Outcome {
    let inputs = Inputs::list(&args.files);
    for note in &inputs.notes {
        Failure::printed(writeln!(err, "offload: note: {}", clean(note)))?;
    }
    let files = inputs.read(&options(args), |_, _| ());
    let report = Report {
        schema: SCHEMA,
        files: files.iter().map(FileReport::new).collect(),
    };
    Failure::printed(print(args, &report, out))?;
    let mut faults = inputs.faults;
    faults.extend(files.iter().flat_map(|file| file.fault_texts()));
    if !faults.is_empty() {
        return Err(Failure::all_unreadable(faults));
    }
    let none = report.files.iter().all(|file| file.images.is_empty());
    Ok(if none { 4 } else { 0 })
}

/// A table for people comes at once: of packed images no more is read than tells what they are.
fn options(args: &InspectArgs) -> Options {
    let json = args.format == Format::Json;
    let sha256 = json || args.sha256;
    let unpack = match sha256 || args.kernels {
        true => Unpack::Contents,
        false => Unpack::Kinds,
    };
    args.read.options(unpack, sha256)
}

fn print(args: &InspectArgs, report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    match args.format {
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, report)?;
            writeln!(out)
        }
        Format::Table => table::print(out, report, args.kernels),
    }
}
