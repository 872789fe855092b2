"""Rust's own release archives as the source of device tools: rustc, its LLVM, and its sources.

Each archive is pinned by its sha256; where they come from is a template, so that a mirror does as well as
Rust's server.
"""

load(":dist_names.bzl", "archives")

_BUILD = """\
load("{declare}", "declare_device_toolchains", "declare_host_rust_toolchain", "declare_rust_src")

package(default_visibility = ["//visibility:public"])

_RUSTLIB = "lib/rustlib/{triple}"

declare_rust_src("lib/rustlib/src/rust/library")

# What rustc loads, and the linkers that it may call.
filegroup(
    name = "rustc_lib",
    srcs = glob(
        ["lib/*.so*", _RUSTLIB + "/bin/**", _RUSTLIB + "/lib/*.so*"],
        allow_empty = True,
    ),
)

filegroup(
    name = "host_std",
    srcs = glob(
        [_RUSTLIB + "/lib/*." + extension for extension in ["a", "rlib", "rmeta", "so"]],
        allow_empty = True,
    ),
)

declare_device_toolchains(
    exec_triple = "{triple}",
    llvm = {{
        "llc": _RUSTLIB + "/bin/llc",
        "lld": _RUSTLIB + "/bin/rust-lld",
        "llvm_link": _RUSTLIB + "/bin/llvm-link",
        "opt": _RUSTLIB + "/bin/opt",
    }},
    llvm_files = [":rustc_lib"],
    prebuilt = {prebuilt},
    rust_src = [":rust_src"],
    rustc = "bin/rustc",
    rustc_lib = [":rustc_lib"],
    rustdoc = "bin/rustdoc",
)

declare_host_rust_toolchain(
    name = "host_rust_toolchain",
    cargo = "{cargo}",
    clippy_driver = "{clippy}",
    rust_std = [":host_std"],
    rustc = "bin/rustc",
    rustc_lib = [":rustc_lib"],
    rustdoc = "bin/rustdoc",
    rustfmt = "{rustfmt}",
    triple = "{triple}",
)
"""

_TOOLS = ["llc", "llvm-link", "opt", "rust-lld"]

def _rust_dist_repository_impl(rctx):
    triple = rctx.attr.triple
    found = archives(rctx.attr.version, triple, rctx.attr.sha256s)
    for archive in found:
        rctx.download_and_extract(
            url = [template.replace("{}", archive.path) for template in rctx.attr.urls],
            sha256 = rctx.attr.sha256s[archive.path],
            stripPrefix = "%s/%s" % (archive.name, archive.folder),
        )
    for tool in _TOOLS:
        path = "lib/rustlib/%s/bin/%s" % (triple, tool)
        if not rctx.path(path).exists:
            fail("""

rules_offload: the archives of Rust %s have no %s.
  wanted: %s, out of %s
  found:  no such file
  mend:   use a release of Rust that has it; or the installed tools: take offload.rust(...) out of MODULE.bazel
""" % (rctx.attr.version, tool, path, "rustc" if tool == "rust-lld" else "llvm-tools"))

    # rules_rust wants each of them named; only rustc is sure to be called.
    optional = {
        name: path if rctx.path(path).exists else "bin/rustc"
        for name, path in {
            "cargo": "bin/cargo",
            "clippy": "bin/clippy-driver",
            "rustfmt": "bin/rustfmt",
        }.items()
    }
    prebuilt = {
        vendor: "lib/rustlib/%s/lib" % device
        for vendor, device in {"nvidia": "nvptx64-nvidia-cuda"}.items()
        if rctx.path("lib/rustlib/%s/lib" % device).exists
    }
    rctx.file("BUILD.bazel", _BUILD.format(
        declare = Label("//toolchains/private:declare.bzl"),
        prebuilt = prebuilt,
        triple = triple,
        **optional
    ))

rust_dist_repository = repository_rule(
    implementation = _rust_dist_repository_impl,
    doc = "Device tools, and host tools beside them, out of Rust's release archives.",
    attrs = {
        "sha256s": attr.string_dict(mandatory = True, doc = "The sha256 of each archive, by its name without `.tar.xz`."),
        "triple": attr.string(mandatory = True, doc = "The machine that the tools run on."),
        "urls": attr.string_list(mandatory = True, doc = "Where archives are; `{}` stands for the name."),
        "version": attr.string(mandatory = True, doc = "`1.97.1`, or `nightly/2026-11-01`."),
    },
)
