//! A reader for 64-bit little-endian ELF: sections, symbols and notes.
//!
//! Our own, because device images break rules that general readers enforce: a cubin's `e_version`
//! is a toolkit number, its OS ABI is NVIDIA's, and every fault has to be told with its offset.
//! Source of the layout: the System V ABI and the GNU extensions to it.

use crate::bytes::Bytes;
use crate::error::{Error, Result};

/// `\x7fELF`
pub const MAGIC: &[u8] = b"\x7fELF";
/// `e_machine` of NVIDIA device code.
pub const EM_CUDA: u16 = 190;
/// `e_machine` of AMD device code.
pub const EM_AMDGPU: u16 = 224;
/// Section type of LLVM's `.llvm.offloading`.
pub const SHT_LLVM_OFFLOADING: u32 = 0x6fff_4c0b;
/// Section type of relocations with addends.
pub const SHT_RELA: u32 = 4;

const ET_REL: u16 = 1;
const SHT_SYMTAB: u32 = 2;
pub(crate) const SHT_NOTE: u32 = 7;
const SHT_NOBITS: u32 = 8;
const SHT_DYNSYM: u32 = 11;
/// Cubins have types of their own for memory that takes no room in the file: global, local and
/// shared. ptxas gives them an offset and a size all the same (measured on cubins of CUDA 11.8 to 13).
const SHT_CUDA_NOBITS: [u32; 3] = [0x7000_0007, 0x7000_0009, 0x7000_000a];

/// What the names of sections may have together, beyond the file's own size: room for small files
/// with names that do not end.
const NAMES: u64 = 1 << 22;
const HEADER: u64 = 64;
const SECTION_HEADER: u64 = 64;
const SYMBOL: u64 = 24;

/// An ELF file whose header and section table have been read.
#[derive(Debug, Clone)]
pub struct Elf<'a> {
    /// The file.
    pub bytes: Bytes<'a>,
    /// `e_type`.
    pub kind: u16,
    /// `e_machine`.
    pub machine: u16,
    /// `EI_OSABI`.
    pub os_abi: u8,
    /// `EI_ABIVERSION`.
    pub abi_version: u8,
    /// `e_version`.
    pub version: u32,
    /// `e_flags`.
    pub flags: u32,
    /// Every section, the null section first.
    pub sections: Vec<Section<'a>>,
    tables_end: u64,
}

/// One section.
#[derive(Debug, Clone, Copy)]
pub struct Section<'a> {
    /// Its name; `?` where that is not UTF-8.
    pub name: &'a str,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_addr`.
    pub address: u64,
    /// `sh_link`.
    pub link: u32,
    /// `sh_info`.
    pub info: u32,
    /// Its bytes; none for sections that take no room in the file.
    pub bytes: Bytes<'a>,
}

/// One symbol.
#[derive(Debug, Clone, Copy)]
pub struct Symbol<'a> {
    /// Its name.
    pub name: &'a str,
    /// Low four bits of `st_info`: 1 object, 2 function, 3 section.
    pub kind: u8,
    /// High four bits of `st_info`: 0 local, 1 global, 2 weak.
    pub binding: u8,
    /// `st_other`.
    pub other: u8,
    /// Index of its section, 0 where it is not defined here.
    pub section: u16,
}

/// One note.
#[derive(Debug, Clone, Copy)]
pub struct Note<'a> {
    /// Who defines the type, without the NUL at its end.
    pub owner: &'a [u8],
    /// `n_type`.
    pub kind: u32,
    /// The content.
    pub desc: Bytes<'a>,
}

/// Whether an `e_machine` is a GPU's.
#[must_use]
pub fn is_device_machine(machine: u16) -> bool {
    matches!(machine, EM_CUDA | EM_AMDGPU)
}

impl<'a> Elf<'a> {
    /// Reads the header and the section table.
    ///
    /// # Errors
    /// Truncated or contradictory tables; 32-bit or big-endian files, which hold no device code.
    pub fn parse(bytes: Bytes<'a>) -> Result<Self> {
        let magic = bytes.slice(0, 4, "ELF magic")?;
        if magic.data() != MAGIC {
            return Err(Error::malformed(
                "ELF magic",
                bytes.base(),
                "it is not \\x7fELF",
            ));
        }
        bytes.slice(0, 16, "ELF identification")?;
        let (class, order) = (bytes.u8(4, "ELF class")?, bytes.u8(5, "ELF byte order")?);
        if class != 2 || order != 1 {
            return Err(Error::unsupported(
                "ELF file",
                bytes.base(),
                "only 64-bit little-endian ELF is handled",
            ));
        }
        bytes.slice(0, HEADER, "ELF header")?;
        let mut elf = Self {
            bytes,
            kind: bytes.u16(16, "ELF type")?,
            machine: bytes.u16(18, "ELF machine")?,
            os_abi: bytes.u8(7, "ELF OS ABI")?,
            abi_version: bytes.u8(8, "ELF ABI version")?,
            version: bytes.u32(20, "ELF version")?,
            flags: bytes.u32(48, "ELF flags")?,
            sections: Vec::new(),
            tables_end: HEADER,
        };
        let segments = u64::from(bytes.u16(54, "ELF program header size")?)
            * u64::from(bytes.u16(56, "ELF program header count")?);
        if segments != 0 {
            let start = bytes.u64(32, "ELF program headers")?;
            bytes.slice(start, segments, "ELF program headers")?;
            elf.tables_end = elf.tables_end.max(start.saturating_add(segments));
        }
        let table = bytes.u64(40, "ELF section table offset")?;
        if table != 0 {
            elf.read_sections(table)?;
        }
        Ok(elf)
    }

    fn read_sections(&mut self, table: u64) -> Result<()> {
        let bytes = self.bytes;
        let size = u64::from(bytes.u16(58, "ELF section header size")?);
        let mut count = u64::from(bytes.u16(60, "ELF section count")?);
        let mut names = u64::from(bytes.u16(62, "ELF section name index")?);
        if size != SECTION_HEADER {
            return Err(Error::malformed(
                "ELF section header size",
                bytes.file_offset(58),
                format!("it is {size}, and has to be {SECTION_HEADER}"),
            ));
        }
        // Counts that do not fit 16 bits stand in the null section.
        let null = bytes.slice(table, SECTION_HEADER, "ELF section table")?;
        if count == 0 {
            count = null.u64(32, "ELF section count")?;
        }
        if names == 0xffff {
            names = u64::from(null.u32(40, "ELF section name index")?);
        }
        let length = count.checked_mul(SECTION_HEADER).ok_or_else(|| {
            Error::malformed(
                "ELF section count",
                bytes.file_offset(60),
                "it is too large",
            )
        })?;
        // Bounded by the file's own size, so the table's length may size an allocation.
        let headers = bytes.slice(table, length, "ELF section table")?;
        let end = table.saturating_add(length.max(SECTION_HEADER));
        self.tables_end = self.tables_end.max(end);
        let name_table = if names == 0 || count == 0 {
            Bytes::new(&[])
        } else if names < count {
            self.section_bytes(headers.tail(names * SECTION_HEADER))?
        } else {
            return Err(Error::malformed(
                "ELF section name index",
                bytes.file_offset(62),
                format!("it is {names}, and there are {count} sections"),
            ));
        };
        // As for symbols: many names may share their ends, and not be one long text each.
        let mut budget = bytes.len().saturating_mul(4).saturating_add(NAMES);
        for index in 0..count {
            let header = headers.tail(index * SECTION_HEADER);
            let name = u64::from(header.u32(0, "ELF section name")?);
            let name = name_table.c_str(name, "ELF section name");
            let cost = name.as_ref().map_or(1 << 16, |name| name.len() as u64);
            budget = budget.checked_sub(cost).ok_or_else(|| {
                Error::malformed(
                    "ELF section name",
                    header.base(),
                    "the names are too long together",
                )
            })?;
            self.sections.push(Section {
                name: name.unwrap_or("?"),
                kind: header.u32(4, "ELF section type")?,
                address: header.u64(16, "ELF section address")?,
                link: header.u32(40, "ELF section link")?,
                info: header.u32(44, "ELF section info")?,
                bytes: self.section_bytes(header)?,
            });
        }
        Ok(())
    }

    fn section_bytes(&self, header: Bytes<'a>) -> Result<Bytes<'a>> {
        let kind = header.u32(4, "ELF section type")?;
        let offset = header.u64(24, "ELF section offset")?;
        let size = header.u64(32, "ELF section size")?;
        let nobits =
            kind == SHT_NOBITS || self.machine == EM_CUDA && SHT_CUDA_NOBITS.contains(&kind);
        // The null section's size field holds a count where there are very many sections.
        if nobits || kind == 0 {
            return self.bytes.slice(0, 0, "ELF section");
        }
        self.bytes.slice(offset, size, "ELF section")
    }

    /// Whether this is a device image of a GPU, not a host file.
    #[must_use]
    pub fn is_device(&self) -> bool {
        is_device_machine(self.machine)
    }

    /// Whether it is an object that is still to be linked: its sections have no addresses yet.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.kind == ET_REL
    }

    /// The section of that index.
    #[must_use]
    pub fn section(&self, index: u16) -> Option<&Section<'a>> {
        self.sections.get(usize::from(index))
    }

    /// How many bytes belong to this ELF file, where more bytes follow it.
    #[must_use]
    pub fn extent(&self) -> u64 {
        self.sections
            .iter()
            .map(|section| section.bytes.file_offset(section.bytes.len()))
            .map(|end| end.saturating_sub(self.bytes.base()))
            .fold(self.tables_end, u64::max)
    }

    /// The section that holds the byte at that file offset.
    #[must_use]
    pub fn section_at(&self, offset: u64) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| {
            let start = section.bytes.base();
            offset >= start && offset - start < section.bytes.len()
        })
    }

    /// The sections of one type. Honest ones do not overlap, so together they fit the file; hostile
    /// ones could make every reader walk the same bytes again and again.
    fn of_kind(&self, kind: u32) -> Result<Vec<&Section<'a>>> {
        let found: Vec<_> = self.sections.iter().filter(|s| s.kind == kind).collect();
        let size = found
            .iter()
            .fold(0_u64, |sum, s| sum.saturating_add(s.bytes.len()));
        if size > self.bytes.len() {
            return Err(Error::malformed(
                "ELF section table",
                self.bytes.base(),
                format!("the sections of type {kind} are larger than the file"),
            ));
        }
        Ok(found)
    }

    /// Every symbol of the linker's table (`dynamic` false) or the loader's one.
    ///
    /// # Errors
    /// Names outside their string table, tables that are cut short.
    pub fn symbols(&self, dynamic: bool) -> Result<Vec<Symbol<'a>>> {
        let mut found = Vec::new();
        // Names may share their ends, so together they may be a little longer than the file, and
        // not a lot.
        let mut budget = self.bytes.len().saturating_mul(4);
        for table in self.of_kind(if dynamic { SHT_DYNSYM } else { SHT_SYMTAB })? {
            let names = self.string_table(table)?;
            for index in 0..table.bytes.len() / SYMBOL {
                let entry = table.bytes.slice(index * SYMBOL, SYMBOL, "ELF symbol")?;
                let symbol = symbol(entry, names)?;
                budget = budget
                    .checked_sub(symbol.name.len() as u64)
                    .ok_or_else(|| {
                        Error::malformed(
                            "ELF symbol",
                            entry.base(),
                            "the names are too long together",
                        )
                    })?;
                found.push(symbol);
            }
        }
        Ok(found)
    }

    fn string_table(&self, table: &Section<'a>) -> Result<Bytes<'a>> {
        match self.sections.get(table.link as usize) {
            Some(names) => Ok(names.bytes),
            None => Err(Error::malformed(
                "ELF symbol table",
                table.bytes.base(),
                format!(
                    "its string table is section {}, which is not there",
                    table.link
                ),
            )),
        }
    }

    /// Every note of every note section.
    ///
    /// # Errors
    /// Notes that reach beyond their section.
    pub fn notes(&self) -> Result<Vec<Note<'a>>> {
        let mut found = Vec::new();
        for section in self.of_kind(SHT_NOTE)? {
            let mut rest = section.bytes;
            while !rest.is_empty() {
                let owner = u64::from(rest.u32(0, "ELF note")?);
                let desc = u64::from(rest.u32(4, "ELF note")?);
                let kind = rest.u32(8, "ELF note")?;
                let name = rest.slice(12, owner, "ELF note owner")?.data();
                let start = 12 + align4(owner);
                found.push(Note {
                    owner: name.strip_suffix(&[0]).unwrap_or(name),
                    kind,
                    desc: rest.slice(start, desc, "ELF note")?,
                });
                rest = rest.tail(start + align4(desc));
            }
        }
        Ok(found)
    }
}

fn symbol<'a>(entry: Bytes<'a>, names: Bytes<'a>) -> Result<Symbol<'a>> {
    let info = entry.u8(4, "ELF symbol")?;
    let name = u64::from(entry.u32(0, "ELF symbol name")?);
    Ok(Symbol {
        name: if name == 0 {
            ""
        } else {
            names.c_str(name, "ELF symbol name")?
        },
        kind: info & 0xf,
        binding: info >> 4,
        other: entry.u8(5, "ELF symbol")?,
        section: entry.u16(6, "ELF symbol")?,
    })
}

/// Note parts are padded to four bytes. The argument comes from 32 bits and cannot overflow here.
fn align4(length: u64) -> u64 {
    length.saturating_add(3) & !3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_null_section_belongs_to_the_file() {
        // Its table has no section, so that the number may stand in the null section: there it is 0.
        let mut bytes = vec![0x7f, b'E', b'L', b'F', 2, 1];
        bytes.resize(256, 0);
        (bytes[40], bytes[58]) = (64, 64);
        let elf = Elf::parse(Bytes::new(&bytes)).unwrap();
        assert_eq!((elf.sections.len(), elf.extent()), (0, 128));
        assert!(Elf::parse(Bytes::new(&bytes[..128])).is_ok());
        assert!(Elf::parse(Bytes::new(&bytes[..127])).is_err());
    }
}
