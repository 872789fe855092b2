//! What a failing build says: which target, which architecture, what was wanted, what was there,
//! and what mends it.

/// Checks a report of `failed_action`: the target, the exit code, and texts that are said.
fn check(report: &str, target: &str, exit: i32, says: &[&str]) -> String {
    let text = plain(&std::fs::read_to_string(support::path(report)).unwrap());
    let head = format!("target: //tests/failures:{target}\nexit: {exit}\n");
    let said = text
        .strip_prefix(&head)
        .unwrap_or_else(|| panic!("wanted {head}\nfound {text}"));
    for part in says {
        assert!(said.contains(part), "`{part}` is not said:\n{said}");
    }
    said.to_owned()
}

/// rustc's messages without their colours: `ESC [ … m`.
fn plain(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap().to_owned();
    let rest = parts.map(|part| part.split_once('m').unwrap().1);
    rest.fold(first, |all, part| all + part)
}

const ARCHS: [&str; 2] = ["sm_80", "gfx90a"];

#[test]
fn no_kernel_is_exported() {
    for arch in ARCHS {
        let target = format!("no_kernel.{arch}");
        let says = [
            &format!("//tests/failures:no_kernel: {arch}"),
            "no kernel is exported",
            "wanted: at least one kernel",
            "found:  none",
            "mend:   ",
            "no_mangle",
        ];
        check(&target, &format!("{target}.link"), 1, &says);
    }
}

#[test]
fn a_wanted_kernel_is_missing() {
    for arch in ARCHS {
        let target = format!("kernel_missing.{arch}");
        let says = [
            &format!("//tests/failures:kernel_missing: {arch}"),
            "kernel `plan` is not exported",
            "wanted: plan\n",
            "found:  plain",
            "mend:   did you mean `plain`?",
        ];
        check(&target, &format!("{target}.link"), 1, &says);
    }
}

#[test]
fn a_source_error_is_told_once_in_rustcs_words() {
    for arch in ARCHS {
        let report = format!("source_error.{arch}");
        let says = [
            "error[E0308]: mismatched types",
            "tests/failures/source_error.rs:11:12",
        ];
        let said = check(&report, &format!("{report}.crate"), 1, &says);
        assert_eq!(said.matches("error[E0308]").count(), 1, "{said}");
    }
}

#[test]
fn an_undefined_symbol_is_named() {
    for (arch, exit) in [("sm_80", 255), ("gfx90a", 1)] {
        let target = format!("undefined_symbol.{arch}");
        check(&target, &format!("{target}.link"), exit, &["nowhere"]);
    }
}

#[test]
fn ptx_in_the_data_of_a_library_is_found() {
    let target = "carries_ptx_in_data";
    let says = [
        "//tests/failures:carries_ptx_in_data: ptx = \"forbid\" is breached by ",
        "wanted: no PTX, in no container",
        "found:  ptx for sm_70",
        ".rodata",
        "; from //tests/failures:ptx_in_data (libptx_in_data",
        "mend:   set `ptx = \"embed\"` on //tests/failures:carries_ptx_in_data, or remove",
        "audit_exceptions = {\"//tests/failures:ptx_in_data\": \"...\"}",
    ];
    let said = check(target, target, 1, &says);
    assert!(!said.contains(".rmeta"), "{said}");
}

#[test]
fn a_program_lacks_its_images() {
    let target = "without_images";
    let says = [
        "//tests/failures:without_images: an image of bazel-out/",
        "forbid_packed.offload is not in bazel-out/",
        "wanted: cubin for sm_80, ",
        "found:  0 images, and not this one",
        "mend:   have the offload_library that packs it among the `deps` of the program; ",
    ];
    check(target, target, 1, &says);
}

/// The program itself lets PTX in: what mends it is told of the target that does not.
#[test]
fn the_policy_of_the_images_is_told_with_their_target() {
    let target = "bound_by_images";
    let from = "ptx = \"forbid\" of //tests/failures:forbid_packed";
    let says = [
        "//tests/failures:bound_by_images: ptx = \"forbid\" is breached by ",
        &format!("wanted: no PTX, in no container, by {from}\n"),
        &format!("mend:   change {from}, or remove"),
    ];
    let said = check(target, target, 1, &says);
    assert!(!said.contains("set `ptx = \"embed\"`"), "{said}");
}

#[test]
fn ptx_that_a_library_packs_is_found() {
    let target = "carries_ptx_packed";
    let says = [
        "//tests/failures:carries_ptx_packed: ptx = \"forbid\" is breached by ",
        "wanted: no PTX, in no container",
        "found:  ptx for sm_80",
        "in .llvm.offloading",
        "packed under ptx = \"embed\"",
        "mend:   set `ptx = \"embed\"` on //tests/failures:carries_ptx_packed, or remove",
        "the offload_library that packs this image",
        "; from //tests/failures:ptx_packed (",
    ];
    check(target, target, 1, &says);
}

#[test]
fn an_image_from_elsewhere_is_not_what_is_said_of_it() {
    for (target, says) in [
        ("image_of_other_arch", ["wanted: sm_80\n", "found:  sm_90"]),
        ("image_of_other_kind", ["wanted: kind ptx", "kind cubin"]),
        (
            "image_kernel_missing",
            ["kernel `fil` is not exported", "did you mean `fill`?"],
        ),
    ] {
        let named = format!("//tests/failures:{target}: ");
        check(target, target, 1, &[&named, says[0], says[1], "mend:   "]);
    }
}

#[test]
fn a_required_architecture_is_missing() {
    let check_library = |target: &str, says: &[&str]| {
        let named = format!("//tests/failures:{target}: ");
        check(target, target, 1, &[&[&*named], says].concat());
    };
    check_library(
        "lacks_an_arch",
        &[
            "no image for sm_100 in",
            "wanted: an image that runs on sm_100 as it is",
            "found:  images for: sm_80, sm_90",
            "mend:   add \"sm_100\" to the archs of",
        ],
    );
    // There is an image for it, of another kernel.
    check_library(
        "lacks_an_arch_for_a_kernel",
        &[
            "lack an image for sm_90",
            "wanted: an image for sm_90 with other",
            "found:  images for sm_90 with: plain",
        ],
    );
}

#[test]
fn ptx_is_too_new() {
    let isa = "wanted: PTX ISA 6.9 at most\n";
    let driver = "wanted: PTX ISA 6.5 at most, which driver 440 compiles\n";
    for (report, target, wanted, mend) in [
        ("image_too_new", "image_too_new", isa, "raise max_ptx_isa"),
        (
            "image_too_new_for_driver",
            "image_too_new_for_driver",
            driver,
            "raise min_driver",
        ),
        (
            "crate_too_new.sm_80",
            "crate_too_new",
            isa,
            "raise max_ptx_isa",
        ),
        (
            "library_too_new",
            "library_too_new",
            driver,
            "raise min_driver",
        ),
        (
            "program_too_new",
            "program_too_new",
            isa,
            "raise max_ptx_isa",
        ),
    ] {
        let says = [
            &format!("//tests/failures:{target}: "),
            "too new\n",
            wanted,
            "PTX ISA 7.0",
            ", for driver 450 or newer",
            mend,
        ];
        // What is made for one architecture is made by the target that links.
        check(report, &report.replace(".sm_80", ".sm_80.link"), 1, &says);
    }
    check("image_old_enough", "image_old_enough", 0, &[]);
}

#[test]
fn images_are_too_large() {
    let check_size = |target: &str, says: &[&str]| {
        let named = format!("//tests/failures:{target}: ");
        check(
            target,
            target,
            1,
            &[&[&*named, " too large\n"], says].concat(),
        )
    };
    let said = check_size(
        "image_too_large",
        &[
            "an image in bazel-out/",
            "image_too_large.offload is",
            "wanted: at most 2048 bytes in one image",
            "found:  cubin for sm_80, ",
            "mend:   raise the limit of //tests/failures:image_too_large (max_image_size; ",
        ],
    );
    // The other limit holds.
    assert!(!said.contains("max_size"), "{said}");
    let said = check_size(
        "images_too_large",
        &[
            "the images in bazel-out/",
            "images_too_large.offload are",
            "wanted: at most 4096 bytes in all images of a file",
            " bytes in 2 images, the largest: cubin for sm_90, ",
            "; cubin for sm_80, ",
            "mend:   name fewer GPUs in the `archs` of what //tests/failures:images_too_large packs",
            "(max_size; ",
        ],
    );
    assert!(!said.contains("max_image_size"), "{said}");
    check_size(
        "program_too_large",
        &[
            "program_too_large.host are",
            "wanted: at most 4096 bytes",
            " bytes in 2 images, the largest: cubin for sm_80, ",
            "in .llvm.offloading @ ",
        ],
    );
}

/// Two libraries have one kernel for other architectures: no breach, and told.
#[test]
fn the_same_kernel_for_other_architectures_is_noted() {
    let target = "with.uneven_archs";
    let says = [
        "note: ",
        "has plain more than once, for different architectures: .llvm.offloading @ 0x",
        ", from //tests/failures:library.sm_80 (",
        " for sm_80, and .llvm.offloading @ 0x",
        ", from //tests/failures:library.sm_90 (",
        " for sm_90\n",
    ];
    let said = check(target, target, 0, &says);
    assert_eq!(said.matches("note: ").count(), 1, "{said}");
    // One library has it for both.
    let said = check("with.even_archs", "with.even_archs", 0, &[]);
    assert!(!said.contains("note: "), "{said}");
}

#[test]
fn the_same_image_in_two_libraries_is_noted() {
    let target = "with.the_same_image";
    let says = [
        "has cubin for sm_80 more than once, the same bytes: in .llvm.offloading @ 0x",
        ", pack 0, from //tests/failures:library.sm_80 (",
        ", pack 1, from //tests/failures:library.sm_80_too (",
        " bytes could be saved\n",
    ];
    let said = check(target, target, 0, &says);
    assert!(!said.contains("different architectures"), "{said}");
}

#[test]
fn the_same_kernel_for_the_same_gpu_in_two_libraries_is_refused() {
    let target = "with.conflict";
    let says = [
        "//tests/failures:with.conflict: two images in ",
        "have the same kernels, and no GPU tells them apart: plain\n",
        "wanted: one cubin for sm_80 with these\n",
        "found:  cubin for sm_80 in .llvm.offloading @ 0x",
        ", from //tests/failures:library.sm_80 (",
        "; and cubin for sm_80 in .llvm.offloading @ 0x",
        ", from //tests/failures:library.again (",
        ": the runtime refuses to pick one\n",
        "mend:   rename the kernels in one of the two, or take one out; or let it through",
    ];
    check(target, target, 1, &says);
}

/// The program has images for what is required; a library in it has not.
#[test]
fn each_library_is_asked_for_the_architectures() {
    let target = "with.lacking_an_arch";
    let says = [
        "//tests/failures:with.lacking_an_arch: no image for sm_90 in ",
        "wanted: an image that runs on sm_90 as it is\n",
        "found:  images for: sm_80; from //tests/failures:library.sm_80 (",
        "mend:   build //tests/failures:library.sm_80 for \"sm_90\" too; or let it through, and say why: \
         audit_exceptions = {\"//tests/failures:library.sm_80\": \"...\"}",
    ];
    let said = check(target, target, 1, &says);
    assert_eq!(said.matches("no image for").count(), 1, "{said}");
}
