//! Which kernels of an image are its alone.
//!
//! A name that two images export is ambiguous, unless the language says that both mean the same: inline
//! functions and templates are compiled into every unit that uses them, as weak symbols, and what is
//! local to a unit (an anonymous namespace) nobody asks for by name. Linkers go by the same rule.

use crate::bytes::Bytes;
use crate::elf::{Elf, EM_AMDGPU, MAGIC};
use crate::error::Result;
use crate::image::Content;
use crate::ptx;

/// `STB_GLOBAL`
const GLOBAL: u8 = 1;

/// Of the kernels that an image exports those whose names are global, and not weak; sorted.
///
/// # Errors
/// As [`Content::parse`], of which `content` is the result for the same bytes.
pub fn strong_kernels(bytes: Bytes<'_>, content: &Content) -> Result<Vec<String>> {
    let mut found = match bytes.data().starts_with(MAGIC) {
        true => of_elf(&Elf::parse(bytes)?)?,
        false => ptx::visible_entries(bytes.data()),
    };
    let kernels = content.kernels();
    found.retain(|name| kernels.binary_search(name).is_ok());
    found.sort();
    found.dedup();
    Ok(found)
}

/// AMD's kernels are known by their descriptors, `NAME.kd`.
fn of_elf(elf: &Elf<'_>) -> Result<Vec<String>> {
    let global = |symbol: &&crate::elf::Symbol<'_>| symbol.binding == GLOBAL && symbol.section != 0;
    let name = |symbol: &crate::elf::Symbol<'_>| match elf.machine {
        EM_AMDGPU => symbol.name.strip_suffix(".kd").map(str::to_owned),
        _ => Some(symbol.name.to_owned()),
    };
    let mut found = Vec::new();
    for dynamic in [false, true] {
        let symbols = elf.symbols(dynamic)?;
        found.extend(symbols.iter().filter(global).filter_map(name));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strong(bytes: &[u8]) -> Vec<String> {
        let bytes = Bytes::new(bytes);
        strong_kernels(bytes, &Content::parse(bytes).unwrap()).unwrap()
    }

    #[test]
    fn compilers_export_kernels_for_good() {
        for bytes in [
            &include_bytes!("../tests/data/sm_75.old.cubin")[..],
            include_bytes!("../tests/data/sm_90.new.cubin"),
            include_bytes!("../tests/data/gfx1100.elf"),
            include_bytes!("../tests/data/tiny.ptx"),
        ] {
            assert_eq!(strong(bytes), ["fill", "nothing"]);
        }
    }

    #[test]
    fn what_is_local_is_not() {
        let cubin = include_bytes!("../tests/data/relocatable.cubin");
        assert_eq!(strong(cubin), ["kern"]);
        let ptx = b".version 7.0 .target sm_70\n.weak .entry w() { ret; }\n.entry l() { ret; }\n\
            .visible .func f() { ret; }\n.extern .entry e();\n.visible\n.entry v() { ret; }\n";
        assert_eq!(strong(ptx), ["v"]);
    }

    #[test]
    fn what_is_weak_is_not() {
        for (bytes, name) in [
            (&include_bytes!("../tests/data/sm_90.new.cubin")[..], "fill"),
            (include_bytes!("../tests/data/gfx1100.elf"), "fill.kd"),
        ] {
            let elf = Elf::parse(Bytes::new(bytes)).unwrap();
            let mut weak = bytes.to_vec();
            for dynamic in [false, true] {
                let symbols = elf.symbols(dynamic).unwrap();
                let kind = if dynamic { 11 } else { 2 };
                let Some(table) = elf.sections.iter().find(|s| s.kind == kind) else {
                    continue;
                };
                for at in symbols.iter().enumerate().filter(|(_, s)| s.name == name) {
                    let info = table.bytes.base() as usize + 24 * at.0 + 4;
                    weak[info] = weak[info] & 0xf | 2 << 4;
                }
            }
            assert_eq!(strong(&weak), ["nothing"], "{name}");
        }
    }
}
