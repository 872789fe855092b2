//! What a host file without GPU code says of GPU code in other places: stubs and loaders.
//!
//! Only what its tables tell. A program may also find its code by a path in a string, which no
//! reader can know.

use offload_image::elf::Elf;

const SHT_DYNAMIC: u32 = 6;
const DT_NEEDED: u64 = 1;

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
    let libraries = needed(elf);
    let brings = |name: &&str| LIBRARIES.iter().any(|start| name.starts_with(start));
    for name in libraries.into_iter().filter(|name| brings(name)) {
        found.push(format!("it is linked with {name}, which brings its own"));
    }
    found
}

pub(crate) fn of_imports<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
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

/// The names of the libraries that the loader loads with this one.
fn needed<'a>(elf: &Elf<'a>) -> Vec<&'a str> {
    let Some(dynamic) = elf.sections.iter().find(|s| s.kind == SHT_DYNAMIC) else {
        return Vec::new();
    };
    let Some(names) = elf.sections.get(dynamic.link as usize) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for index in 0..dynamic.bytes.len() / 16 {
        let entry = dynamic.bytes.tail(index * 16);
        let (Ok(tag), Ok(value)) = (entry.u64(0, "tag"), entry.u64(8, "value")) else {
            break;
        };
        match tag {
            0 => break,
            DT_NEEDED => found.extend(names.bytes.c_str(value, "library").ok()),
            _ => {}
        }
    }
    found
}
