//! How a difference is told.

use std::io::{self, Write};

use serde::Serialize;

use super::compare::{Bytes, Change, Changed, Difference, Placed};
use crate::cli::Format;
use crate::failure::{clean, list};
use crate::table::{self, FEW};

/// The version of the JSON.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    same: usize,
    stored_bytes: Bytes,
    added: Vec<&'a Placed>,
    lost: Vec<&'a Placed>,
    changed: Vec<&'a Changed>,
}

impl<'a> Report<'a> {
    fn new(difference: &'a Difference) -> Self {
        let mut report = Self {
            schema: SCHEMA,
            same: difference.same,
            stored_bytes: difference.bytes,
            added: Vec::new(),
            lost: Vec::new(),
            changed: Vec::new(),
        };
        for change in &difference.changes {
            match change {
                Change::Added(image) => report.added.push(image),
                Change::Lost(image) => report.lost.push(image),
                Change::Changed(changed) => report.changed.push(changed),
            }
        }
        report
    }
}

pub fn print(format: Format, difference: &Difference, out: &mut dyn Write) -> io::Result<()> {
    let report = Report::new(difference);
    if format == Format::Json {
        serde_json::to_writer_pretty(&mut *out, &report)?;
        return writeln!(out);
    }
    if difference.is_empty() {
        return writeln!(out, "no GPU code");
    }
    if !difference.changes.is_empty() {
        let mut rows = vec![["", "kind", "arch", "size", "kernels", "where"]
            .map(str::to_owned)
            .to_vec()];
        rows.extend(difference.changes.iter().map(row));
        table::print_rows(out, "", &rows)?;
    }
    let Bytes { old, new } = difference.bytes;
    writeln!(
        out,
        "{} added, {} lost, {} changed, {} the same; {old} -> {new} bytes stored ({:+})",
        report.added.len(),
        report.lost.len(),
        report.changed.len(),
        difference.same,
        i128::from(new) - i128::from(old)
    )
}

fn row(change: &Change) -> Vec<String> {
    let (sign, placed) = match change {
        Change::Added(image) => ("+", image),
        Change::Lost(image) => ("-", image),
        Change::Changed(changed) => ("~", &changed.new),
    };
    let image = &placed.image;
    let (size, kernels) = match change {
        Change::Changed(changed) => {
            let sizes = [&changed.old, &changed.new].map(|side| table::size(&side.image));
            (sizes.join(" -> "), kernels(changed))
        }
        _ => (table::size(image), names(placed)),
    };
    let file = match placed.below.as_str() {
        "" => String::new(),
        below => format!("{}: ", clean(below)),
    };
    vec![
        sign.to_owned(),
        table::kind(image),
        table::arch(image).unwrap_or_else(|| "?".to_owned()),
        size,
        kernels,
        format!("{file}{}", table::place(image)),
    ]
}

fn names(placed: &Placed) -> String {
    let kernels = placed.image.kernels.as_ref();
    kernels.map_or_else(|| "?".to_owned(), |kernels| list(kernels, FEW))
}

/// `added fill; lost copy`, or the names where those are the same.
fn kernels(changed: &Changed) -> String {
    let told = |word: &str, names: &Option<Vec<String>>| {
        let names = names.as_ref().filter(|names| !names.is_empty())?;
        Some(format!("{word} {}", list(names, FEW)))
    };
    let texts = [
        told("added", &changed.kernels_added),
        told("lost", &changed.kernels_lost),
    ];
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    match texts.is_empty() {
        true => names(&changed.new),
        false => texts.join("; "),
    }
}
