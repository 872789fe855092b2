//! `offload archs`: the table of GPU architectures. A test compares the JSON with Starlark's table.

use std::io::Write;

use offload_image::arch::{self, Arch, Details};
use serde::Serialize;

use crate::cli::{ArchsArgs, Format};
use crate::failure::{Failure, Outcome};

#[derive(Serialize)]
struct Row {
    name: &'static str,
    vendor: &'static str,
    triple: &'static str,
    sm: Option<u32>,
    suffix: &'static str,
    features: Vec<&'static str>,
    generic_for: &'static [&'static str],
}

impl Row {
    fn new(arch: &Arch) -> Self {
        let (sm, suffix, generic_for) = match arch.details {
            Details::Nvidia { sm, suffix } => (Some(sm), suffix.letter(), &[][..]),
            Details::Amd { serves, .. } => (None, "", serves),
        };
        Self {
            name: arch.name,
            vendor: arch.vendor().name(),
            triple: arch.vendor().triple(),
            sm,
            suffix,
            features: arch.features(),
            generic_for,
        }
    }
}

pub fn run(args: &ArchsArgs, out: &mut dyn Write) -> Outcome {
    Failure::printed(print(args, out))?;
    Ok(0)
}

fn print(args: &ArchsArgs, out: &mut dyn Write) -> std::io::Result<()> {
    let rows: Vec<Row> = arch::all().iter().map(Row::new).collect();
    if args.format == Format::Json {
        serde_json::to_writer_pretty(&mut *out, &rows)?;
        return writeln!(out);
    }
    for row in rows {
        let notes = match (row.features.is_empty(), row.generic_for.is_empty()) {
            (_, false) => format!("serves {}", row.generic_for.join(", ")),
            (false, true) => row.features.join(", "),
            (true, true) => String::new(),
        };
        let line = format!("{:16}{:8}{notes}", row.name, row.vendor);
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
