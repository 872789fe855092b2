//! Writes fatbins, field by field as fatbinary 13.5 does: the same entries give the same bytes.

use super::{EntryKind, ENTRY_HEADER, FLAGS, FLAG_EXACT, FLAG_FAMILY, FLAG_LZ4, FLAG_ZSTD};
use super::{HEADER, MAGIC};
use crate::arch::Suffix;
use crate::image::Compression;
use crate::ptx_isa::PtxIsa;
use crate::target::Sm;

/// The options block behind the header of PTX: fatbinary leaves its offset to a name that is empty.
const OPTIONS: [u64; 2] = [0x48, 0];

/// An entry to write. Its bytes come as they are to be stored: nothing is compressed here.
#[derive(Debug, Clone, Copy)]
pub struct NewEntry<'a> {
    /// What it holds.
    pub kind: EntryKind,
    /// What it was built for.
    pub sm: Sm,
    /// For PTX the ISA version; fatbinary writes 1.8 for cubins.
    pub version: PtxIsa,
    /// How the payload is packed: not at all, LZ4 or zstd.
    pub compression: Compression,
    /// The size of the payload when unpacked.
    pub unpacked_size: u64,
    /// The payload, packed.
    pub payload: &'a [u8],
}

/// Writes one fatbin.
#[must_use]
pub fn write(entries: &[NewEntry<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for entry in entries {
        write_entry(&mut body, entry);
    }
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&1_u16.to_le_bytes());
    out.extend_from_slice(&(HEADER as u16).to_le_bytes());
    out.extend_from_slice(&(body.len() as u64).to_le_bytes());
    out.extend_from_slice(&body);
    out
}

fn write_entry(out: &mut Vec<u8>, entry: &NewEntry<'_>) {
    let packing = match entry.compression {
        Compression::None => 0,
        Compression::Lz4 => FLAG_LZ4,
        // A fatbin knows no third one.
        Compression::Zstd | Compression::Zlib | Compression::Unknown => FLAG_ZSTD,
    };
    let letter = match entry.sm.suffix {
        Suffix::Plain => 0,
        Suffix::Exact => FLAG_EXACT,
        Suffix::Family => FLAG_FAMILY,
    };
    let (kind, options) = match entry.kind {
        EntryKind::Ptx => (1, &OPTIONS[..]),
        EntryKind::Cubin => (2, &[][..]),
        EntryKind::Other(number) => (number, &[][..]),
    };
    let stored = entry.payload.len() as u64;
    let padded = stored.next_multiple_of(8);
    let header = ENTRY_HEADER + 8 * options.len() as u64;
    let (compressed, unpacked) = match packing {
        0 => (0, 0),
        _ => (stored, entry.unpacked_size),
    };
    let options_at = if options.is_empty() { 0 } else { ENTRY_HEADER };
    out.extend_from_slice(&u16::to_le_bytes(kind));
    out.extend_from_slice(&0x0101_u16.to_le_bytes());
    out.extend_from_slice(&(header as u32).to_le_bytes());
    out.extend_from_slice(&padded.to_le_bytes());
    out.extend_from_slice(&(compressed as u32).to_le_bytes());
    out.extend_from_slice(&(options_at as u32).to_le_bytes());
    out.extend_from_slice(&entry.version.minor.to_le_bytes());
    out.extend_from_slice(&entry.version.major.to_le_bytes());
    out.extend_from_slice(&entry.sm.number.to_le_bytes());
    // No name.
    out.extend_from_slice(&0_u64.to_le_bytes());
    out.extend_from_slice(&(FLAGS | packing | letter).to_le_bytes());
    out.extend_from_slice(&0_u64.to_le_bytes());
    out.extend_from_slice(&unpacked.to_le_bytes());
    for word in options {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(entry.payload);
    out.resize(out.len() + (padded - stored) as usize, 0);
}
