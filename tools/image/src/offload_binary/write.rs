//! Writes OffloadBinaries: the same images give the same bytes.

use std::io::{self, Write};

use super::{align, ALIGN, ENTRY, HEADER, MAGIC};

/// An image to write.
#[derive(Debug, Clone)]
pub struct NewImage<'a> {
    /// One of [`image_kind`].
    pub image_kind: u16,
    /// One of [`offload_kind`].
    pub offload_kind: u16,
    /// The keys and values, in the order to write.
    pub strings: Vec<(&'a str, &'a str)>,
    /// The image.
    pub data: &'a [u8],
}

/// Writes images as version 1 binaries, one after another.
#[must_use]
pub fn write(images: &[NewImage<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for image in images {
        out.extend_from_slice(&head(image));
        out.extend_from_slice(image.data);
        out.extend_from_slice(padding(image));
    }
    out
}

/// As [`write`], into something that takes it piece by piece.
///
/// # Errors
/// Only those of `out`.
pub fn write_to(out: &mut dyn Write, images: &[NewImage<'_>]) -> io::Result<()> {
    for image in images {
        out.write_all(&head(image))?;
        out.write_all(image.data)?;
        out.write_all(padding(image))?;
    }
    Ok(())
}

/// All that stands before an image.
fn head(image: &NewImage<'_>) -> Vec<u8> {
    let table_at = HEADER + ENTRY;
    let text_at = table_at + 16 * image.strings.len() as u64;
    let mut table = Vec::new();
    let mut text = Vec::new();
    for (key, value) in &image.strings {
        for part in [key, value] {
            table.extend_from_slice(&(text_at + text.len() as u64).to_le_bytes());
            text.extend_from_slice(part.as_bytes());
            text.push(0);
        }
    }
    let image_at = align(text_at + text.len() as u64);
    let size = align(image_at + image.data.len() as u64);

    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&1_u32.to_le_bytes());
    for word in [size, HEADER, ENTRY] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(&image.image_kind.to_le_bytes());
    out.extend_from_slice(&image.offload_kind.to_le_bytes());
    out.extend_from_slice(&0_u32.to_le_bytes());
    let image_size = image.data.len() as u64;
    for word in [table_at, image.strings.len() as u64, image_at, image_size] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(&table);
    out.extend_from_slice(&text);
    pad(&mut out, image_at);
    out
}

/// What stands behind it: its place is aligned, so its size alone tells.
fn padding(image: &NewImage<'_>) -> &'static [u8] {
    let size = image.data.len() as u64;
    const ZEROS: &[u8] = &[0; ALIGN as usize];
    ZEROS
        .get(..(align(size) - size) as usize)
        .unwrap_or_default()
}

fn pad(out: &mut Vec<u8>, to: u64) {
    while (out.len() as u64) < to {
        out.push(0);
    }
}

/// Writes images as one version 2 binary. Unlike LLVM we align every image, not only the first: a
/// driver may read it where it lies.
#[must_use]
pub fn write_v2(images: &[NewImage<'_>]) -> Vec<u8> {
    let strings: usize = images.iter().map(|image| image.strings.len()).sum();
    let table_at = HEADER + ENTRY * images.len() as u64;
    let text_at = table_at + 24 * strings as u64;
    let mut table = Vec::new();
    let mut text = Vec::new();
    for (key, value) in images.iter().flat_map(|image| &image.strings) {
        let mut put = |part: &str| {
            table.extend_from_slice(&(text_at + text.len() as u64).to_le_bytes());
            text.extend_from_slice(part.as_bytes());
            text.push(0);
        };
        put(key);
        put(value);
        table.extend_from_slice(&(value.len() as u64).to_le_bytes());
    }
    let mut image_at = align(text_at + text.len() as u64);
    let mut strings_at = table_at;
    let mut entries = Vec::new();
    for image in images {
        let (size, count) = (image.data.len() as u64, image.strings.len() as u64);
        entries.extend_from_slice(&image.image_kind.to_le_bytes());
        entries.extend_from_slice(&image.offload_kind.to_le_bytes());
        entries.extend_from_slice(&0_u32.to_le_bytes());
        for word in [strings_at, count, image_at, size] {
            entries.extend_from_slice(&word.to_le_bytes());
        }
        strings_at += 24 * count;
        image_at = align(image_at + size);
    }
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&2_u32.to_le_bytes());
    for word in [image_at, HEADER, images.len() as u64] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    for part in [entries, table, text] {
        out.extend_from_slice(&part);
    }
    for image in images {
        let start = align(out.len() as u64);
        pad(&mut out, start);
        out.extend_from_slice(image.data);
    }
    pad(&mut out, image_at);
    out
}
