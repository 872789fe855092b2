//! jax-cuda12-plugin: three libraries with fatbins, one of them with several, and kernels in an
//! anonymous namespace. The others have none, and their tables name no function or library that
//! brings some.

use support::{assert_same, kinds};
use wheels::*;

const LIBRARIES: [(&str, usize); 11] = [
    ("_hybrid.so", 0),
    ("_linalg.so", 9),
    ("_mosaic_gpu_ext.so", 0),
    ("_prng.so", 9),
    ("_rnn.so", 0),
    ("_solver.so", 18),
    ("_sparse.so", 0),
    ("_triton.so", 0),
    ("_versions.so", 0),
    ("cuda_plugin_extension.so", 0),
    ("libmosaic_gpu_runtime.so", 0),
];

#[test]
fn no_library_is_left_out() {
    assert_all_named(LIBRARIES.map(|(library, _)| library));
}

#[test]
fn the_wheel_holds_its_libraries() {
    assert_wheel_holds_its_libraries();
}

#[test]
fn as_cuobjdump_lists_it() {
    for (library, count) in LIBRARIES {
        let theirs = cuobjdump_lists(library).unwrap();
        assert_same(library, &kinds(found(library)), &theirs);
        assert_eq!(theirs.len(), count, "{library}");
        let wanted = if count > 0 { "images" } else { "no_gpu_code" };
        assert_eq!(state(library), wanted, "{library}");
    }
}

#[test]
fn bytes_and_kernels() {
    for (library, _) in LIBRARIES.iter().filter(|(_, count)| *count > 0) {
        assert_same(
            library,
            &ours(library, "sha256"),
            &cuobjdump_extracts(library),
        );
        let kernels = cuobjdump_kernels(library);
        assert_same(library, &our_kernels(library), &kernels);
        assert!(!kernels.is_empty(), "{library}");
    }
}
