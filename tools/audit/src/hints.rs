//! What a host file without GPU code says of GPU code in other places: stubs and loaders.
//!
//! Only what its tables tell. A program may also find its code by a path in a string, which no
//! reader can know.

use object::read::pe::{ImageNtHeaders, ImageThunkData, PeFile};
use object::{File, LittleEndian, Object};
use offload_image::elf::Elf;

const SHT_DYNAMIC: u32 = 6;
const DT_NEEDED: u64 = 1;

/// No file system has longer names, and no program is linked with so many libraries. Tables may name
/// the same bytes again and again.
const MAX_LIBRARY: usize = 255;
const MAX_LIBRARIES: usize = 64;

/// Functions that hand an image of this file to the runtime.
const REGISTERS: &[&str] = &[
    "__cudaRegisterFatBinary",
    "__hipRegisterFatBinary",
    "__tgt_register_lib",
    "__sycl_register_lib",
];

/// Functions that load an image from a file or from memory.
const LOADS: &[&str] = &[
    "cuModuleLoad",
    "cuLibraryLoad",
    "cudaLibraryLoad",
    "hipModuleLoad",
    "hipLibraryLoad",
];

/// Libraries that bring GPU code of their own. Drivers and runtimes are none of them.
const LIBRARIES: &[&str] = &[
    "libcublas",
    "libcudnn",
    "libcufft",
    "libcurand",
    "libcusolver",
    "libcusparse",
    "libcutensor",
    "libnccl",
    "libnpp",
    "libnvinfer",
    "libhipblas",
    "libhipfft",
    "libhiprand",
    "libhipsolver",
    "libhipsparse",
    "libMIOpen",
    "librccl",
    "librocblas",
    "librocfft",
    "librocrand",
    "librocsolver",
    "librocsparse",
    "libtorch_cuda",
    "libtorch_hip",
];

pub(crate) fn of_elf(elf: &Elf<'_>) -> Vec<String> {
    let mut symbols = elf.symbols(true).unwrap_or_default();
    if symbols.is_empty() {
        symbols = elf.symbols(false).unwrap_or_default();
    }
    let undefined = symbols.iter().filter(|symbol| symbol.section == 0);
    let mut found = of_imports(undefined.map(|symbol| symbol.name));
    for name in needed(elf) {
        found.push(format!("it is linked with {name}, which brings its own"));
    }
    found
}

/// Of a file that the crate `object` has read.
pub(crate) fn of_object(file: &File<'_>) -> Vec<String> {
    let names = match file {
        File::Pe32(pe) => pe_imports(pe),
        File::Pe64(pe) => pe_imports(pe),
        other => other
            .imports()
            .map(|imports| imports.iter().map(|import| import.name()).collect()),
    };
    let names = names.unwrap_or_default();
    of_imports(
        names
            .iter()
            .filter_map(|name| std::str::from_utf8(name).ok()),
    )
}

/// The functions that a PE file imports. The crate lists them too; but the libraries of hostile files
/// may all have one long list, and it would copy that for each.
fn pe_imports<'a, Pe: ImageNtHeaders>(file: &PeFile<'a, Pe>) -> object::Result<Vec<&'a [u8]>> {
    let mut found = Vec::new();
    let Some(table) = file.import_table()? else {
        return Ok(found);
    };
    // Honest lists and names are no larger than the file, however often a name is imported.
    let mut budget = file.data().len().saturating_mul(4);
    let mut libraries = table.descriptors()?;
    while let Some(library) = libraries.next()? {
        let lists = [library.original_first_thunk, library.first_thunk];
        let list = lists.map(|list| list.get(LittleEndian));
        let list = list.into_iter().find(|at| *at != 0).unwrap_or(0);
        let mut thunks = table.thunks(list)?;
        while let Some(thunk) = thunks.next::<Pe>()? {
            let name = match thunk.is_ordinal() {
                true => &[],
                false => table.hint_name(thunk.address())?.1,
            };
            match budget.checked_sub(name.len() + 4) {
                Some(left) => budget = left,
                None => return Ok(found),
            }
            found.push(name);
        }
    }
    Ok(found)
}

fn of_imports<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let (mut registers, mut loads) = (None, None);
    for name in names {
        if REGISTERS.contains(&name) {
            registers.get_or_insert(name);
        } else if LOADS.iter().any(|start| name.starts_with(start)) {
            loads.get_or_insert(name);
        }
    }
    let registers = registers.map(|name| format!("it calls {name}, and has no image to register"));
    let loads = loads.map(|name| format!("it loads images while it runs: it calls {name}"));
    registers.into_iter().chain(loads).collect()
}

/// The libraries with GPU code of their own that the loader loads with this file.
fn needed<'a>(elf: &Elf<'a>) -> Vec<&'a str> {
    let Some(dynamic) = elf.sections.iter().find(|s| s.kind == SHT_DYNAMIC) else {
        return Vec::new();
    };
    let Some(names) = elf.sections.get(dynamic.link as usize) else {
        return Vec::new();
    };
    let brings = |name: &&str| {
        name.len() <= MAX_LIBRARY && LIBRARIES.iter().any(|start| name.starts_with(start))
    };
    let mut found = Vec::new();
    for index in 0..dynamic.bytes.len() / 16 {
        let entry = dynamic.bytes.tail(index * 16);
        let (Ok(tag), Ok(value)) = (entry.u64(0, "tag"), entry.u64(8, "value")) else {
            break;
        };
        match tag {
            0 => break,
            DT_NEEDED if found.len() < MAX_LIBRARIES => {
                let name = names.bytes.c_str(value, "library").ok();
                let new = |name: &&str| !found.contains(name);
                found.extend(name.filter(brings).filter(new));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests;
