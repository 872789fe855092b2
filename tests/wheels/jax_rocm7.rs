//! jax-rocm7-plugin: three libraries with compressed bundles, one of them with two.

use support::assert_same;
use wheels::*;

const LIBRARIES: [(&str, usize); 8] = [
    ("_hybrid.so", 0),
    ("_linalg.so", 27),
    ("_prng.so", 27),
    ("_rnn.so", 0),
    ("_solver.so", 54),
    ("_sparse.so", 0),
    ("_triton.so", 0),
    ("rocm_plugin_extension.so", 0),
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
fn as_llvm_lists_it() {
    for (library, count) in LIBRARIES {
        let theirs = llvm_lists(library);
        assert_same(library, &ours(library, "unpacked_size"), &theirs);
        assert_eq!(theirs.len(), count, "{library}");
    }
}

#[test]
fn what_uses_code_from_elsewhere_says_so() {
    for (library, wanted) in [
        ("_hybrid.so", "no_gpu_code"),
        ("_rnn.so", "elsewhere"),
        ("_solver.so", "images"),
        ("_sparse.so", "elsewhere"),
        ("_triton.so", "elsewhere"),
        ("rocm_plugin_extension.so", "no_gpu_code"),
    ] {
        assert_eq!(state(library), wanted, "{library}");
    }
}

#[test]
fn bytes() {
    let pinned = pinned(include_str!("expected/jax_rocm7_solver.txt"));
    assert_same("_solver.so", &ours("_solver.so", "sha256"), &pinned);
}
