//! `offload inspect`: every device image in files.

use std::io::Write;

use offload_audit::scan::scan;

use crate::cli::{Format, InspectArgs};
use crate::failure::{Failure, Outcome};
use crate::report::{FileReport, Report, SCHEMA};
use crate::{files, table};

/// What could be read is printed even where a file is partly malformed; the exit code tells.
pub fn run(args: &InspectArgs, out: &mut dyn Write) -> Outcome {
    let mut report = Report {
        schema: SCHEMA,
        files: Vec::new(),
    };
    let mut problems = Vec::new();
    for path in &args.files {
        let bytes = match files::read(path) {
            Ok(bytes) => bytes,
            Err(failure) => {
                problems.extend(failure.into_texts());
                continue;
            }
        };
        let found = scan(&bytes);
        for problem in &found.problems {
            problems.push(format!("{}: {problem}", path.display()));
        }
        report.files.push(FileReport::new(path, &found));
    }
    print(args, &report, out).map_err(Failure::output)?;
    if !problems.is_empty() {
        return Err(Failure::all_unreadable(problems));
    }
    let none = report.files.iter().all(|file| file.images.is_empty());
    Ok(if none { 4 } else { 0 })
}

fn print(args: &InspectArgs, report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    match args.format {
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, report)?;
            writeln!(out)
        }
        Format::Table => {
            for file in &report.files {
                table::print(out, file, args.kernels)?;
            }
            Ok(())
        }
    }
}
