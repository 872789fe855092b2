//! AMD code objects: ELF with `e_machine` 224.
//!
//! `e_flags` name the GPU and, since code object version 4, the state of XNACK and SRAM ECC; before
//! that a bit each says that the feature is on. The note of owner `AMDGPU` lists the kernels, each
//! of which is also exported as a descriptor `NAME.kd`. Source: LLVM's AMDGPU user guide.

use std::collections::HashSet;

use crate::arch::{self, Details};
use crate::bytes::Bytes;
use crate::elf::{Elf, EM_AMDGPU};
use crate::error::{Error, Result};
use crate::msgpack::{Reader, Value};
use crate::target::{Gfx, Mode};

/// `NT_AMDGPU_METADATA`
const NT_METADATA: u32 = 32;
/// `EI_ABIVERSION` of code object version 4, the first with two bits for each feature.
const ABI_V4: u8 = 2;

/// What a code object says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeObject {
    /// The low byte of `e_flags`.
    pub mach: u8,
    /// The target id; `None` where the table has no such `mach`.
    pub target: Option<Gfx>,
    /// The target id as the note spells it, without the triple; `None` where there is no note.
    pub noted: Option<String>,
    /// The kernels that can be launched by name, sorted.
    pub kernels: Vec<String>,
}

impl CodeObject {
    /// Reads what a code object is for and what it exports.
    ///
    /// # Errors
    /// Malformed ELF or metadata, another machine.
    pub fn parse(bytes: Bytes<'_>) -> Result<Self> {
        Self::from_elf(&Elf::parse(bytes)?)
    }

    pub(crate) fn from_elf(elf: &Elf<'_>) -> Result<Self> {
        if elf.machine != EM_AMDGPU {
            return Err(Error::malformed(
                "AMD code object",
                elf.bytes.file_offset(18),
                format!(
                    "e_machine is {}, and a code object's is {EM_AMDGPU}",
                    elf.machine
                ),
            ));
        }
        let mach = elf.flags.to_le_bytes()[0];
        let metadata = metadata(elf)?;
        Ok(Self {
            mach,
            target: target(elf, mach),
            noted: metadata.target,
            kernels: kernels(elf, metadata.kernels)?,
        })
    }
}

fn target(elf: &Elf<'_>, mach: u8) -> Option<Gfx> {
    let row = arch::by_mach(mach)?;
    let Details::Amd { xnack, sramecc, .. } = row.details else {
        return None;
    };
    // Before version 4 there is one bit for each, side by side.
    let modern = elf.abi_version >= ABI_V4;
    let mode = |has: bool, bits: u32| match (has, modern, bits) {
        (true, true, 3) | (true, false, 1) => Mode::On,
        (true, true, 2) | (true, false, 0) => Mode::Off,
        _ => Mode::Any,
    };
    let (xnack_bits, sramecc_bits) = if modern {
        ((elf.flags >> 8) & 3, (elf.flags >> 10) & 3)
    } else {
        ((elf.flags >> 8) & 1, (elf.flags >> 9) & 1)
    };
    Some(Gfx {
        arch: row,
        xnack: mode(xnack, xnack_bits),
        sramecc: mode(sramecc, sramecc_bits),
    })
}

#[derive(Default)]
struct Metadata {
    target: Option<String>,
    kernels: Option<Vec<String>>,
}

fn metadata(elf: &Elf<'_>) -> Result<Metadata> {
    let mut found = Metadata::default();
    for note in elf.notes()? {
        if note.kind == NT_METADATA && note.owner == b"AMDGPU" {
            read_metadata(note.desc, &mut found)?;
        }
    }
    Ok(found)
}

fn read_metadata(note: Bytes<'_>, found: &mut Metadata) -> Result<()> {
    let wrong = |why| Error::malformed("AMD metadata", note.base(), why);
    let mut reader = Reader::new(note);
    let pairs = reader
        .value_as(pairs)?
        .ok_or_else(|| wrong("it is no map"))?;
    for _ in 0..pairs {
        match reader.value()? {
            Value::Str("amdhsa.target") => {
                if let Some(text) = reader.value_as(text)? {
                    let id = text.rsplit_once("--").map_or(text, |(_, id)| id);
                    found.target = Some(id.to_owned());
                }
            }
            Value::Str("amdhsa.kernels") => {
                let kernels = found.kernels.get_or_insert_with(Vec::new);
                read_kernels(&mut reader, kernels)?;
            }
            Value::Str(_) | Value::Other => reader.skip_value()?,
            Value::Array(_) | Value::Map(_) => return Err(wrong("a key that is no text")),
        }
    }
    Ok(())
}

/// Reads the list of kernels: of each its `.symbol`, which is the name with `.kd` after it.
fn read_kernels(reader: &mut Reader<'_>, found: &mut Vec<String>) -> Result<()> {
    for _ in 0..reader.value_as(items)?.unwrap_or(0) {
        for _ in 0..reader.value_as(pairs)?.unwrap_or(0) {
            if reader.value_as(text)? != Some(".symbol") {
                reader.skip_value()?;
            } else if let Some(symbol) = reader.value_as(text)? {
                found.push(symbol.strip_suffix(".kd").unwrap_or(symbol).to_owned());
            }
        }
    }
    Ok(())
}

fn text(value: Value<'_>) -> Option<&str> {
    match value {
        Value::Str(text) => Some(text),
        _ => None,
    }
}

fn items(value: Value<'_>) -> Option<u64> {
    match value {
        Value::Array(count) => Some(count),
        _ => None,
    }
}

fn pairs(value: Value<'_>) -> Option<u64> {
    match value {
        Value::Map(count) => Some(count),
        _ => None,
    }
}

/// A kernel can be launched where its descriptor is exported and, if there is metadata, where that
/// knows it too. Files that are not linked yet have no loader's symbol table.
fn kernels(elf: &Elf<'_>, noted: Option<Vec<String>>) -> Result<Vec<String>> {
    let mut symbols = elf.symbols(true)?;
    if symbols.is_empty() {
        symbols = elf.symbols(false)?;
    }
    let noted: Option<HashSet<String>> = noted.map(|names| names.into_iter().collect());
    let mut found: Vec<String> = symbols
        .iter()
        .filter(|symbol| symbol.binding != 0 && symbol.section != 0)
        .filter_map(|symbol| symbol.name.strip_suffix(".kd"))
        .filter(|name| noted.as_ref().is_none_or(|noted| noted.contains(*name)))
        .map(str::to_owned)
        .collect();
    found.sort();
    found.dedup();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GFX90A_MODES: &[u8] = include_bytes!("../tests/data/gfx90a.modes.elf");
    const GFX1100: &[u8] = include_bytes!("../tests/data/gfx1100.elf");
    const GFX906_XNACK: &[u8] = include_bytes!("../tests/data/gfx906.xnack.elf");
    const GFX9_4_GENERIC: &[u8] = include_bytes!("../tests/data/gfx9-4-generic.elf");

    #[test]
    fn target_ids_and_kernels() {
        for (bytes, id) in [
            (GFX90A_MODES, "gfx90a:sramecc+:xnack-"),
            (GFX1100, "gfx1100"),
            (GFX906_XNACK, "gfx906:xnack+"),
            (GFX9_4_GENERIC, "gfx9-4-generic"),
        ] {
            let code = CodeObject::parse(Bytes::new(bytes)).unwrap();
            assert_eq!(code.target.unwrap().to_string(), id);
            assert_eq!(code.noted.as_deref(), Some(id));
            assert_eq!(code.kernels, ["fill", "nothing"]);
        }
    }

    #[test]
    fn version_3_has_a_bit_for_each_feature() {
        for (bits, id) in [
            (0x000, "gfx906:sramecc-:xnack-"),
            (0x100, "gfx906:sramecc-:xnack+"),
            (0x300, "gfx906:sramecc+:xnack+"),
        ] {
            let mut bytes = GFX906_XNACK.to_vec();
            bytes[8] = 1;
            bytes[48..52].copy_from_slice(&(0x2f_u32 | bits).to_le_bytes());
            let code = CodeObject::parse(Bytes::new(&bytes)).unwrap();
            assert_eq!(code.target.unwrap().to_string(), id);
        }
    }

    #[test]
    fn an_unknown_gpu_keeps_the_text_of_its_note() {
        let mut bytes = GFX1100.to_vec();
        bytes[48] = 0xfe;
        let code = CodeObject::parse(Bytes::new(&bytes)).unwrap();
        assert_eq!((code.mach, code.target), (0xfe, None));
        assert_eq!(code.noted.as_deref(), Some("gfx1100"));
    }

    #[test]
    fn a_value_of_another_type_is_skipped_whole() {
        let target = b"\xadamdhsa.target\xa7x--gfx1";
        let kernels = b"\xaeamdhsa.kernels";
        let values: [&[u8]; 4] = [
            // A map in place of the list, with a target in it.
            b"\x81\xadamdhsa.target\xa3bad",
            // A list in place of a kernel, and a kernel whose symbol is a list.
            b"\x92\x92\xa1a\xa1b\x81\xa7.symbol\x91\xadamdhsa.target",
            // A key that is a list.
            b"\x91\x81\x92\xa7.symbol\xa1x\xa1y",
            b"\x91\x81\xa7.symbol\xa4k.kd",
        ];
        for (value, names) in values.into_iter().zip([0, 0, 0, 1]) {
            let note = [b"\x82", &kernels[..], value, target].concat();
            let mut found = Metadata::default();
            read_metadata(Bytes::new(&note), &mut found).unwrap();
            assert_eq!(found.target.as_deref(), Some("gfx1"));
            assert_eq!(found.kernels.map(|k| k.len()), Some(names));
        }
    }
}
