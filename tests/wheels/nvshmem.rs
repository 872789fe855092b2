//! nvidia-nvshmem-cu12: 125 MB, of which 700 MB of device code unpack; also a static library of
//! relocatable device code, and LLVM bitcode.

use support::{assert_same, kinds};
use wheels::*;

const LIBRARIES: [(&str, usize); 13] = [
    ("libnvshmem_device.a", 10),
    ("libnvshmem_host.so.3", 191),
    ("nvshmem_bootstrap_mpi.so.3", 0),
    ("nvshmem_bootstrap_pmi.so.3", 0),
    ("nvshmem_bootstrap_pmi2.so.3", 0),
    ("nvshmem_bootstrap_pmix.so.3", 0),
    ("nvshmem_bootstrap_shmem.so.3", 0),
    ("nvshmem_bootstrap_uid.so.3", 0),
    ("nvshmem_transport_ibdevx.so.3", 0),
    ("nvshmem_transport_ibgda.so.3", 0),
    ("nvshmem_transport_ibrc.so.3", 0),
    ("nvshmem_transport_libfabric.so.3", 0),
    ("nvshmem_transport_ucx.so.3", 0),
];
/// For a device's linker; no reader looks into it.
const BITCODE: &str = "libnvshmem_device.bc";

#[test]
fn no_library_is_left_out() {
    let libraries = LIBRARIES.iter().map(|(library, _)| *library);
    assert_all_named(libraries.chain([BITCODE]));
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
    }
    assert_eq!(state(BITCODE), "elsewhere");
}

#[test]
fn kernels() {
    let library = "libnvshmem_host.so.3";
    let kernels = cuobjdump_kernels(library);
    assert_same(library, &our_kernels(library), &kernels);
    assert!(!kernels.is_empty());
}

#[test]
fn bytes_of_an_archive() {
    let library = "libnvshmem_device.a";
    assert_same(
        library,
        &ours(library, "sha256"),
        &cuobjdump_extracts(library),
    );
}
