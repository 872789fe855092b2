//! The table that `inspect` prints for people.

use std::io::{self, Write};

use crate::failure::{clean, list};
use crate::report::{FileReport, ImageReport};

/// How many kernels a line names unless all are asked for.
const FEW: usize = 3;
const HEAD: [&str; 7] = [
    "kind", "arch", "size", "sha256", "kernels", "policy", "where",
];

/// Prints one file: its name, a line for each image, a summary.
pub fn print(out: &mut dyn Write, file: &FileReport, all_kernels: bool) -> io::Result<()> {
    writeln!(out, "{}", clean(&file.path))?;
    if file.images.is_empty() {
        let text = if file.whole {
            "no GPU code"
        } else {
            "not readable"
        };
        return writeln!(out, "  {text}");
    }
    let mut rows = vec![HEAD.map(str::to_owned)];
    rows.extend(file.images.iter().map(|image| row(image, all_kernels)));
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        writeln!(out, "  {}", cells.join("  ").trim_end())?;
    }
    writeln!(out, "  {}", summary(&file.images))
}

fn row(image: &ImageReport, all_kernels: bool) -> [String; 7] {
    let unknown = || "?".to_owned();
    let size = if image.compression == "none" {
        image.size.to_string()
    } else {
        format!(
            "{} ({} of {})",
            image.size, image.compression, image.unpacked_size
        )
    };
    let kind = match &image.ptx_isa {
        Some(isa) => format!("{} {isa}", image.kind),
        None => image.kind.clone(),
    };
    let limit = if all_kernels { usize::MAX } else { FEW };
    [
        kind,
        image.arch.as_deref().map_or_else(unknown, clean),
        size,
        image
            .sha256
            .as_ref()
            .map_or_else(unknown, |hash| hash.chars().take(12).collect()),
        image
            .kernels
            .as_ref()
            .map_or_else(unknown, |names| list(names, limit)),
        image
            .policy
            .as_deref()
            .map_or_else(|| "-".to_owned(), clean),
        place(image.section.as_deref(), image.offset),
    ]
}

/// `.nv_fatbin @ 0x40`: the section, and the offset in the file.
pub fn place(section: Option<&str>, offset: u64) -> String {
    format!(
        "{} @ {offset:#x}",
        section.map_or_else(|| "file".to_owned(), clean)
    )
}

/// `5 images, no PTX`
pub fn summary(images: &[ImageReport]) -> String {
    let count = images.len();
    let ptx = images.iter().filter(|image| image.kind == "ptx").count();
    let plural = if count == 1 { "" } else { "s" };
    match ptx {
        0 => format!("{count} image{plural}, no PTX"),
        _ => format!("{count} image{plural}, {ptx} PTX"),
    }
}
