//! The table that `inspect` prints for people.

use std::io::{self, Write};

use crate::failure::{clean, list};
use crate::report::{FileReport, ImageReport, Report};

/// How many kernels a line names unless all are asked for.
pub const FEW: usize = 3;

/// Prints each file: its name, a line for each image, a summary. Of several files those that hold
/// nothing for a GPU are only counted.
pub fn print(out: &mut dyn Write, report: &Report, all_kernels: bool) -> io::Result<()> {
    let single = report.files.len() == 1;
    let mut silent = 0;
    for file in &report.files {
        if !single && file.images.is_empty() && file.problems.is_empty() && says_nothing(file) {
            silent += 1;
        } else {
            print_file(out, file, all_kernels)?;
        }
    }
    match silent {
        0 => Ok(()),
        1 => writeln!(out, "1 more file has no GPU code"),
        more => writeln!(out, "{more} more files have no GPU code"),
    }
}

fn says_nothing(file: &FileReport) -> bool {
    file.reasons.is_empty() && file.members.is_empty()
}

fn print_file(out: &mut dyn Write, file: &FileReport, all_kernels: bool) -> io::Result<()> {
    writeln!(out, "{}", clean(&file.path))?;
    if !file.images.is_empty() {
        print_images(out, &file.images, all_kernels)?;
    }
    for member in &file.members {
        let name = clean(&member.member.join(": "));
        writeln!(out, "  {name}: {}", state(member.state, &member.reasons))?;
    }
    if file.images.is_empty() && file.members.is_empty() {
        return writeln!(out, "  {}", state(file.state, &file.reasons));
    }
    Ok(())
}

fn print_images(out: &mut dyn Write, images: &[ImageReport], all: bool) -> io::Result<()> {
    let limit = if all { usize::MAX } else { FEW };
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .filter(|column| column.always || images.iter().any(|i| (column.cell)(i, 0).is_some()))
        .collect();
    let mut rows: Vec<Vec<String>> = vec![columns.iter().map(|c| c.head.to_owned()).collect()];
    rows.extend(images.iter().map(|image| {
        let cell = |column: &&Column| {
            let cell = (column.cell)(image, limit);
            cell.unwrap_or_else(|| column.none.to_owned())
        };
        columns.iter().map(cell).collect()
    }));
    print_rows(out, "  ", &rows)?;
    let unread = images
        .iter()
        .filter(|image| image.kernels.is_none())
        .count();
    let how = match (unread, all) {
        (0, _) | (_, true) => String::new(),
        (more, false) => format!(
            "; of {more} the contents were not read: archs are as their container says, `--kernels` reads them"
        ),
    };
    writeln!(out, "  {}{how}", summary(images))
}

/// Prints rows of as many cells each, one under the other.
pub fn print_rows(out: &mut dyn Write, indent: &str, rows: &[Vec<String>]) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        writeln!(out, "{indent}{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}

struct Column {
    head: &'static str,
    /// What stands for nothing.
    none: &'static str,
    /// Whether it is there even where no image has a cell of it.
    always: bool,
    /// Of an image, with so many kernels at most.
    cell: fn(&ImageReport, usize) -> Option<String>,
}

const COLUMNS: [Column; 7] = [
    Column {
        head: "kind",
        none: "?",
        always: true,
        cell: |image, _| Some(kind(image)),
    },
    Column {
        head: "arch",
        none: "?",
        always: true,
        cell: |image, _| arch(image),
    },
    Column {
        head: "size",
        none: "?",
        always: true,
        cell: |image, _| Some(size(image)),
    },
    Column {
        head: "sha256",
        none: "?",
        always: false,
        cell: |image, _| Some(image.sha256.as_ref()?.chars().take(12).collect()),
    },
    Column {
        head: "kernels",
        none: "?",
        always: false,
        cell: |image, limit| Some(list(image.kernels.as_ref()?, limit)),
    },
    Column {
        head: "policy",
        none: "-",
        always: false,
        cell: |image, _| image.policy.as_deref().map(clean),
    },
    Column {
        head: "where",
        none: "?",
        always: true,
        cell: |image, _| Some(place(image)),
    },
];

pub fn kind(image: &ImageReport) -> String {
    let isa = image.ptx_isa.iter().map(|isa| format!(" {isa}"));
    let relocatable = image.relocatable.then(|| " relocatable".to_owned());
    let more: String = isa.chain(relocatable).collect();
    format!("{}{more}", image.kind)
}

pub fn arch(image: &ImageReport) -> Option<String> {
    let arch = clean(image.arch.as_deref()?);
    match image.declared_arch.as_deref().filter(|_| image.mismatch) {
        Some(label) => Some(format!("{arch} (labelled {})", clean(label))),
        None => Some(arch),
    }
}

pub fn size(image: &ImageReport) -> String {
    if image.is_packed() {
        let (how, unpacked) = (image.compression, image.unpacked_size);
        format!("{} ({how} of {unpacked})", image.size)
    } else {
        image.size.to_string()
    }
}

/// `lib/x.so: .nv_fatbin @ 0x40`: the members, the section, and the offset in the file or member.
pub fn place(image: &ImageReport) -> String {
    place_at(image, image.offset)
}

/// As [`place`], of something else that is in the same section.
pub fn place_at(image: &ImageReport, offset: u64) -> String {
    let mut text = String::new();
    for member in &image.member {
        text.push_str(&format!("{}: ", clean(member)));
    }
    let section = image.section.as_deref();
    let section = section.map_or_else(|| "file".to_owned(), clean);
    format!("{text}{section} @ {offset:#x}")
}

fn state(state: &str, reasons: &[String]) -> String {
    let reasons: Vec<String> = reasons.iter().map(|reason| clean(reason)).collect();
    match state {
        "elsewhere" => format!("no GPU code here, but elsewhere: {}", reasons.join("; ")),
        "unreadable" => "not readable".to_owned(),
        "not_binary" => "not a binary".to_owned(),
        _ => "no GPU code".to_owned(),
    }
}

/// `5 images, 2 PTX, 1 of it relocatable`
pub fn summary(images: &[ImageReport]) -> String {
    let count = images.len();
    let ptx = images.iter().filter(|image| image.kind == "ptx");
    let (ptx, relocatable) = (ptx.clone().count(), ptx.filter(|i| i.relocatable).count());
    let plural = if count == 1 { "" } else { "s" };
    match (ptx, relocatable) {
        (0, _) => format!("{count} image{plural}, no PTX"),
        (ptx, 0) => format!("{count} image{plural}, {ptx} PTX"),
        (ptx, more) => format!("{count} image{plural}, {ptx} PTX, {more} of it relocatable"),
    }
}
