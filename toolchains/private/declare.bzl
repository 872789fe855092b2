"""What every source of Rust and LLVM tools declares, once their files are there."""

load("@rules_rust//rust:toolchain.bzl", "rust_stdlib_filegroup", "rust_toolchain", "rustfmt_toolchain")
load("//toolchains:archs.bzl", "ARCHS")
load(":device_stdlib.bzl", "device_stdlib")
load(":device_toolchain.bzl", "device_toolchain")
load(":empty_cc_toolchain.bzl", "empty_cc_toolchain")

_TRIPLES = {row.vendor: row.triple for row in ARCHS.values()}
_EXTENSIONS = {"amd": ".elf", "nvidia": ".ptx"}

def _constraint(name):
    return str(Label("//toolchains/constraints:" + name))

def _by_arch(vendor, value):
    """A select: `value(arch)` on the platform of each arch of the vendor, `value(None)` elsewhere."""
    return select({
        _constraint(row.name): value(row.name)
        for row in ARCHS.values()
        if row.vendor == vendor
    } | {"//conditions:default": value(None)})

def _by_feature(feature, value):
    return select({
        _constraint(feature + "_on"): [value("+", feature)],
        _constraint(feature + "_off"): [value("-", feature)],
        "//conditions:default": [],
    })

def _target_flags(vendor):
    flags = _by_arch(vendor, lambda arch: ["-Ctarget-cpu=" + arch] if arch else [])
    if vendor == "amd":
        for feature in ["sramecc", "xnack"]:
            flags = flags + _by_feature(feature, lambda sign, f: "-Ctarget-feature=" + sign + f)
    return flags

# buildifier: disable=unnamed-macro
def declare_rust_src(library):
    """Declares `rust_src`: the sources of what a GPU has of the standard library.

    Args:
      library: the folder with them.
    """
    native.filegroup(
        name = "rust_src",
        srcs = native.glob(
            [library + "/" + sources for sources in [
                "alloc/src/**",
                "compiler-builtins/**",
                "core/src/**",
                "portable-simd/crates/**",
                "stdarch/crates/core_arch/src/**",
            ]],
            allow_empty = True,
            exclude = ["**/tests/**", "**/benches/**", "**/*.toml"],
        ),
    )

def _declare_stdlib(vendor, triple, rustc, rustc_lib, rust_src):
    """The standard library of a vendor's GPUs, compiled from its sources."""
    device_stdlib(
        name = "stdlib_files_" + vendor,
        rustc = rustc,
        # NVIDIA: one set for every SM, so no processor is named. AMD: rustc links with LTO in any case, so
        # machine code in these objects would only be thrown away.
        rustc_flags = [] if vendor == "nvidia" else _target_flags(vendor) + ["-Clinker-plugin-lto"],
        rustc_lib = rustc_lib,
        srcs = rust_src,
        triple = triple,
    )
    rust_stdlib_filegroup(
        name = "stdlib_" + vendor,
        srcs = [":stdlib_files_" + vendor],
    )

# The names are fixed: the hub's toolchains point to them.
# buildifier: disable=unnamed-macro
def declare_device_toolchains(exec_triple, rustc, rustdoc, rustc_lib, rust_src, llvm_files, llvm, prebuilt = {}):
    """Declares, for each vendor, a device toolchain `device_VENDOR` and what rules_rust needs for its platforms.

    Args:
      exec_triple: the triple that rustc runs on.
      rustc: label of rustc.
      rustdoc: label of rustdoc.
      rustc_lib: labels of the files that rustc reads at run time.
      rust_src: labels of the files of rust-src.
      llvm_files: labels of the files that the LLVM tools read at run time.
      llvm: dict of tool (`llvm_link`, `opt`, `llc`, `lld`) to label.
      prebuilt: dict of vendor to the folder with its standard library, where that need not be compiled.
    """
    for vendor, triple in _TRIPLES.items():
        features = []
        if vendor == "amd":
            features = _by_feature("sramecc", lambda sign, f: f + sign) + _by_feature("xnack", lambda sign, f: f + sign)
        device_toolchain(
            name = "device_" + vendor,
            arch = _by_arch(vendor, lambda arch: arch or ""),
            features_of_arch = features,
            tool_files = llvm_files,
            vendor = vendor,
            visibility = ["//visibility:public"],
            **llvm
        )
        if vendor in prebuilt:
            rust_stdlib_filegroup(
                name = "stdlib_" + vendor,
                srcs = native.glob([prebuilt[vendor] + "/*.rlib"]),
            )
        else:
            _declare_stdlib(vendor, triple, rustc, rustc_lib, rust_src)
        rust_toolchain(
            name = "rust_" + vendor,
            binary_ext = _EXTENSIONS[vendor],
            default_edition = "2021",
            dylib_ext = _EXTENSIONS[vendor],
            # GPU kernels need the compiler's unstable features (the kernel ABI, core::arch).
            env = {"RUSTC_BOOTSTRAP": "1"},
            exec_triple = exec_triple,
            extra_exec_rustc_flags = _target_flags(vendor) + ["-Cpanic=abort"],
            extra_rustc_flags = _target_flags(vendor) + ["-Cpanic=abort"],
            rust_doc = rustdoc,
            rust_std = ":stdlib_" + vendor,
            rustc = rustc,
            rustc_lib = _single(rustc_lib, "rustc_lib_" + vendor),
            staticlib_ext = ".a",
            stdlib_linkflags = [],
            target_triple = triple,
            visibility = ["//visibility:public"],
        )
        empty_cc_toolchain(
            name = "cc_" + vendor,
            cpu = triple.split("-")[0],
            visibility = ["//visibility:public"],
        )

def declare_host_rust_toolchain(name, triple, rustc, rustdoc, rustc_lib, rust_std, cargo, clippy_driver, rustfmt):
    """Declares toolchains `NAME` and `NAME_fmt` that build and format host programs with the same Rust.

    Args:
      name: name of the first.
      triple: the triple that it runs on and builds for.
      rustc: label of rustc.
      rustdoc: label of rustdoc.
      rustc_lib: labels of the files that rustc reads at run time.
      rust_std: labels of the files of the standard library.
      cargo: label of cargo.
      clippy_driver: label of clippy-driver.
      rustfmt: label of rustfmt.
    """
    constraints = ["@platforms//cpu:" + triple.split("-")[0], "@platforms//os:linux"]
    rust_stdlib_filegroup(name = name + "_std", srcs = rust_std)
    rustc_lib = _single(rustc_lib, name + "_rustc_lib")
    rust_toolchain(
        name = name + "_impl",
        binary_ext = "",
        cargo = cargo,
        clippy_driver = clippy_driver,
        default_edition = "2021",
        dylib_ext = ".so",
        exec_triple = triple,
        rust_doc = rustdoc,
        rust_std = ":%s_std" % name,
        rustc = rustc,
        rustc_lib = rustc_lib,
        rustfmt = rustfmt,
        staticlib_ext = ".a",
        stdlib_linkflags = ["-lpthread", "-ldl"],
        target_triple = triple,
    )
    native.toolchain(
        name = name,
        exec_compatible_with = constraints,
        target_compatible_with = constraints,
        toolchain = ":%s_impl" % name,
        toolchain_type = "@rules_rust//rust:toolchain_type",
    )
    rustfmt_toolchain(
        name = name + "_fmt_impl",
        rustc = rustc,
        rustc_lib = rustc_lib,
        rustfmt = rustfmt,
    )
    native.toolchain(
        name = name + "_fmt",
        exec_compatible_with = constraints,
        target_compatible_with = constraints,
        toolchain = ":%s_fmt_impl" % name,
        toolchain_type = "@rules_rust//rust/rustfmt:toolchain_type",
    )

def _single(labels, name):
    native.filegroup(name = name, srcs = labels)
    return ":" + name
