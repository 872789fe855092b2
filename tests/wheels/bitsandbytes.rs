//! bitsandbytes: seven CUDA libraries, raw, LZ4 and zstd; six for ROCm, compressed bundles of two
//! versions; two for SYCL; one without GPU code.

use support::{assert_same, kinds, stdout};
use wheels::*;

/// Each library, and how many images are in it: that two readers find nothing is no agreement.
const CUDA: [(&str, usize); 6] = [
    ("libbitsandbytes_cuda118.so", 55),
    ("libbitsandbytes_cuda124.so", 55),
    ("libbitsandbytes_cuda126.so", 55),
    ("libbitsandbytes_cuda128.so", 62),
    ("libbitsandbytes_cuda130.so", 55),
    ("libbitsandbytes_cuda132.so", 55),
];
/// The one that the pinned cuobjdump gives up on.
const CUDA_121: &str = "libbitsandbytes_cuda121.so";
const ROCM: [(&str, usize); 6] = [
    ("libbitsandbytes_rocm64.so", 28),
    ("libbitsandbytes_rocm70.so", 30),
    ("libbitsandbytes_rocm71.so", 30),
    ("libbitsandbytes_rocm714.so", 50),
    ("libbitsandbytes_rocm715.so", 50),
    ("libbitsandbytes_rocm72.so", 30),
];
/// Modules of SPIR-V, and of Intel's machine code with what is around it.
const SYCL: [(&str, [usize; 2]); 2] = [
    ("libbitsandbytes_xpu2025.so", [3, 3]),
    ("libbitsandbytes_xpu2026.so", [5, 3]),
];
const CPU: &str = "libbitsandbytes_cpu.so";

#[test]
fn no_library_is_left_out() {
    let counted = CUDA.iter().chain(&ROCM).map(|(library, _)| *library);
    let sycl = SYCL.map(|(library, _)| library);
    assert_all_named(counted.chain([CUDA_121, CPU]).chain(sycl));
}

#[test]
fn the_wheel_holds_its_libraries() {
    assert_wheel_holds_its_libraries();
}

#[test]
fn cuda_as_cuobjdump_lists_it() {
    for (library, count) in CUDA {
        let theirs = cuobjdump_lists(library).unwrap();
        assert_same(library, &kinds(found(library)), &theirs);
        assert_eq!(theirs.len(), count, "{library}");
    }
}

#[test]
fn cuda_121_as_an_older_cuobjdump_extracts_it() {
    // Should another version read it, the list is no longer needed.
    let said = cuobjdump_lists(CUDA_121).unwrap_err();
    assert!(said.contains("Invalid ELF"), "{said}");
    let pinned = pinned(include_str!("expected/cuda121.txt"));
    assert_same(CUDA_121, &ours(CUDA_121, "sha256"), &pinned);
}

#[test]
fn cuda_bytes_and_kernels() {
    // LZ4 and zstd; in all of them a few are raw.
    for library in ["libbitsandbytes_cuda118.so", "libbitsandbytes_cuda130.so"] {
        assert_same(
            library,
            &ours(library, "sha256"),
            &cuobjdump_extracts(library),
        );
        assert_same(library, &our_kernels(library), &cuobjdump_kernels(library));
    }
}

#[test]
fn rocm_as_llvm_lists_it() {
    for (library, count) in ROCM {
        let theirs = llvm_lists(library);
        assert_same(library, &ours(library, "unpacked_size"), &theirs);
        assert_eq!(theirs.len(), count, "{library}");
    }
}

#[test]
fn rocm_bytes() {
    for (library, text) in [
        (
            "libbitsandbytes_rocm64.so",
            include_str!("expected/rocm64.txt"),
        ),
        (
            "libbitsandbytes_rocm714.so",
            include_str!("expected/rocm714.txt"),
        ),
    ] {
        assert_same(library, &ours(library, "sha256"), &pinned(text));
    }
}

#[test]
fn sycl_has_neither_nvidias_nor_amds() {
    let (machine_code, spirv) = ("spir64_gen unknown kind 0", "spir64 spirv");
    for (library, counts) in SYCL {
        assert_eq!(cuobjdump_lists(library), Ok(vec![]));
        assert_eq!(llvm_lists(library), [""; 0]);
        let wanted = [vec![spirv; counts[0]], vec![machine_code; counts[1]]].concat();
        assert_eq!(kinds(found(library)), wanted, "{library}");
        // They fill the sections that are named for their targets, from end to end.
        for target in ["spir64", "spir64_gen"] {
            let section = format!("__CLANG_OFFLOAD_BUNDLE__sycl-{target}");
            let here = found(library).iter();
            let here: Vec<_> = here.filter(|image| image["section"] == *section).collect();
            let start = here[0]["offset"].as_u64().unwrap();
            let last = here.last().unwrap();
            let end = last["offset"].as_u64().unwrap() + last["size"].as_u64().unwrap();
            assert_eq!((start, end - start), bounds(library, &section), "{section}");
        }
    }
}

/// Offset and size of a section, by `llvm-readelf`.
fn bounds(library: &str, section: &str) -> (u64, u64) {
    let out = stdout("READELF", ["-SW", path_of(library).to_str().unwrap()]);
    let mut rows = out
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let row = rows.find(|row| row.contains(&section)).unwrap();
    let at = row.iter().position(|word| *word == "PROGBITS").unwrap();
    let number = |word: &str| u64::from_str_radix(word, 16).unwrap();
    (number(row[at + 2]), number(row[at + 3]))
}

#[test]
fn the_one_for_the_processor_has_no_gpu_code() {
    assert_eq!(cuobjdump_lists(CPU), Ok(vec![]));
    assert_eq!(state(CPU), "no_gpu_code");
}
