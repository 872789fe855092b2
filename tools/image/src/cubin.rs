//! Cubins: NVIDIA's machine code, ELF with `e_machine` 190.
//!
//! Two ABIs are about. Which one a file has depends on the ptxas that wrote it, not on the GPU:
//! before CUDA 13 (and below `sm_100`) the SM number is the low byte of `e_flags`, afterwards it is
//! the second one. The letter of `sm_90a` stands in `e_flags` of the first (bit 11), in those that
//! ptxas 12.9 wrote with the second (bit 3), and with ptxas 13.5 only in the command line that the
//! note of `.note.nv.tkinfo` keeps, where `f` is told as well. All of this is measured.

use crate::arch::Suffix;
use crate::bytes::Bytes;
use crate::elf::{Elf, Note, EM_CUDA};
use crate::error::{Error, Result};
use crate::target::Sm;

/// `EI_OSABI` of the ABI before CUDA 13.
const OS_ABI_OLD: u8 = 0x33;
/// `EI_OSABI` of the ABI since.
const OS_ABI_NEW: u8 = 0x41;
/// The bit of `st_other` that marks an entry point among the functions.
const STO_ENTRY: u8 = 0x10;
/// Type of the note with the tool's command line.
const NT_TKINFO: u32 = 2000;

/// What a cubin says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cubin {
    /// The SM number, 90 for 9.0.
    pub sm: u32,
    /// The letter; `None` where nothing in the file tells.
    pub suffix: Option<Suffix>,
    /// The kernels that can be launched by name, sorted.
    pub kernels: Vec<String>,
}

impl Cubin {
    /// Reads what a cubin is for and what it exports.
    ///
    /// # Errors
    /// Malformed ELF, another machine, an ABI that is neither of the two.
    pub fn parse(bytes: Bytes<'_>) -> Result<Self> {
        Self::from_elf(&Elf::parse(bytes)?)
    }

    pub(crate) fn from_elf(elf: &Elf<'_>) -> Result<Self> {
        if elf.machine != EM_CUDA {
            return Err(Error::malformed(
                "cubin",
                elf.bytes.file_offset(18),
                format!("e_machine is {}, and a cubin's is {EM_CUDA}", elf.machine),
            ));
        }
        if elf.version == 0 {
            return Err(Error::malformed(
                "cubin",
                elf.bytes.file_offset(20),
                "e_version is 0",
            ));
        }
        let (sm, flagged) = match elf.os_abi {
            OS_ABI_OLD => (elf.flags & 0xff, Some(elf.flags & 0x800 != 0)),
            OS_ABI_NEW => (
                elf.flags >> 8 & 0xff,
                (elf.flags & 0x8 != 0).then_some(true),
            ),
            other => {
                return Err(Error::unsupported(
                    "cubin",
                    elf.bytes.file_offset(7),
                    format!("OS ABI {other:#x} is neither {OS_ABI_OLD:#x} nor {OS_ABI_NEW:#x}"),
                ))
            }
        };
        let suffix = match flagged {
            Some(true) => Some(Suffix::Exact),
            Some(false) => Some(Suffix::Plain),
            None => noted_arch(&elf.notes()?)
                .filter(|noted| noted.number == sm)
                .map(|noted| noted.suffix),
        };
        Ok(Self {
            sm,
            suffix,
            kernels: kernels(elf)?,
        })
    }
}

/// The `-arch` of the command line that ptxas leaves in its note.
fn noted_arch(notes: &[Note<'_>]) -> Option<Sm> {
    let note = notes
        .iter()
        .find(|note| note.kind == NT_TKINFO && note.owner.starts_with(b"NVIDIA"))?;
    let text = String::from_utf8_lossy(note.desc.data());
    let mut words = text.split(|c: char| c == '\0' || c == '=' || c.is_whitespace());
    words.find(|word| matches!(*word, "-arch" | "--gpu-name" | "-gpu-name"))?;
    words.next().and_then(Sm::parse)
}

/// An entry point is a function that is marked as one and has code; functions for device callers
/// lack the mark. Those that were not `.visible` are local symbols: the compiler makes them of
/// kernels in an anonymous namespace, and the driver finds them by name as it does the others.
fn kernels(elf: &Elf<'_>) -> Result<Vec<String>> {
    let mut found: Vec<String> = elf
        .symbols(false)?
        .iter()
        .filter(|symbol| symbol.kind == 2 && symbol.other & STO_ENTRY != 0)
        .filter(|symbol| {
            elf.section(symbol.section)
                .is_some_and(|section| section.name.strip_prefix(".text.") == Some(symbol.name))
        })
        .map(|symbol| symbol.name.to_owned())
        .collect();
    found.sort();
    found.dedup();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SM_75_OLD: &[u8] = include_bytes!("../tests/data/sm_75.old.cubin");
    const SM_90_NEW: &[u8] = include_bytes!("../tests/data/sm_90.new.cubin");
    const SM_90A_NEW: &[u8] = include_bytes!("../tests/data/sm_90a.new.cubin");
    const SM_90A_OLD: &[u8] = include_bytes!("../tests/data/sm_90a.old.cubin");
    const SM_100F_NEW: &[u8] = include_bytes!("../tests/data/sm_100f.new.cubin");
    const RDC: &[u8] = include_bytes!("../tests/data/relocatable.cubin");

    #[test]
    fn both_abis_and_their_letters() {
        for (bytes, sm, suffix) in [
            (SM_75_OLD, 75, Suffix::Plain),
            (SM_90_NEW, 90, Suffix::Plain),
            (SM_90A_NEW, 90, Suffix::Exact),
            (SM_90A_OLD, 90, Suffix::Exact),
            (SM_100F_NEW, 100, Suffix::Family),
        ] {
            let cubin = Cubin::parse(Bytes::new(bytes)).unwrap();
            assert_eq!((cubin.sm, cubin.suffix), (sm, Some(suffix)));
            assert_eq!(cubin.kernels, ["fill", "nothing"]);
        }
    }

    #[test]
    fn without_its_note_the_letter_is_unknown() {
        let mut bytes = SM_90A_NEW.to_vec();
        let at = memchr::memmem::find(&bytes, b"-arch sm_90a").unwrap();
        bytes[at..at + 5].copy_from_slice(b"-xxxx");
        let cubin = Cubin::parse(Bytes::new(&bytes)).unwrap();
        assert_eq!((cubin.sm, cubin.suffix), (90, None));
    }

    #[test]
    fn entries_are_kernels_visible_or_not_and_functions_are_none() {
        let cubin = Cubin::parse(Bytes::new(RDC)).unwrap();
        assert_eq!(cubin.kernels, ["hidden", "kern"]);
    }

    #[test]
    fn any_toolkit_number_but_zero() {
        for version in [0x76, 0x81, 1, u32::MAX, 0] {
            let mut bytes = SM_75_OLD.to_vec();
            bytes[20..24].copy_from_slice(&version.to_le_bytes());
            assert_eq!(Cubin::parse(Bytes::new(&bytes)).is_ok(), version != 0);
        }
    }

    #[test]
    fn memory_that_takes_no_room_in_the_file() {
        for kind in [0x7000_0007_u32, 0x7000_0009, 0x7000_000a] {
            let mut bytes = SM_75_OLD.to_vec();
            // The last section becomes memory of more bytes than the file has.
            let table = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
            let last = table + 64 * (usize::from(bytes[60]) - 1);
            bytes[last + 4..last + 8].copy_from_slice(&kind.to_le_bytes());
            bytes[last + 32..last + 40].copy_from_slice(&1_395_303_u64.to_le_bytes());
            assert!(Cubin::parse(Bytes::new(&bytes)).is_ok());
            bytes[last + 4] = 1;
            assert!(Cubin::parse(Bytes::new(&bytes)).is_err());
        }
    }

    #[test]
    fn another_abi_is_an_error_with_its_place() {
        let mut bytes = SM_75_OLD.to_vec();
        bytes[7] = 0x42;
        let error = Cubin::parse(Bytes::new(&bytes)).unwrap_err();
        assert_eq!(error.offset(), 7);
        assert!(error.to_string().contains("0x42"), "{error}");
    }

    #[test]
    fn a_fault_in_an_empty_string_table_counts_from_the_file() {
        let mut bytes = vec![0; 64];
        bytes.extend_from_slice(SM_75_OLD);
        let file = Bytes::new(SM_75_OLD).u64(40, "").unwrap() as usize;
        let symbols = (0..usize::from(SM_75_OLD[60]))
            .map(|index| file + 64 * index)
            .find(|at| SM_75_OLD[at + 4] == 2)
            .unwrap();
        let names = file + 64 * usize::from(SM_75_OLD[symbols + 40]);
        // Its string table becomes the null section.
        bytes[64 + names + 4] = 0;
        let places = [64, 0].map(|start| {
            let found = Cubin::parse(Bytes::new(&bytes[64 - start..]).tail(start as u64));
            found.unwrap_err().offset()
        });
        assert_eq!(places[0], places[1] + 64);
    }
}
