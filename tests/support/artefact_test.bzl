"""`artefact_test`: a Rust test that looks at files of the build, with the tools of others beside it."""

load("@rules_rust//rust:defs.bzl", "rust_test")

# Who judges our bytes: NVIDIA's and LLVM's own readers; and what is put to the test.
_TOOLS = {
    "CUOBJDUMP": "@offload_cuobjdump//:bin/cuobjdump",
    "NVDISASM": "@offload_nvdisasm//:bin/nvdisasm",
    "OBJCOPY": "@offload_system//:bin/llvm-objcopy",
    "OBJDUMP": "@offload_system//:bin/llvm-objdump",
    "OFFLOAD": "//tools/offload",
    "OFFLOAD_BINARY": "@offload_system//:bin/llvm-offload-binary",
    "READELF": "@offload_system//:bin/llvm-readelf",
    "STRIP": "@offload_system//:bin/llvm-strip",
}

def artefact_test(name, srcs, files = {}, tools = None, env = {}, size = "small", deps = [], **kwargs):
    """A `rust_test` with the library `support`, which finds files by the names that are given here.

    Args:
      name: a unique name.
      srcs: the test.
      files: dict of name to label; `support::path(name)` is where the target's only file lies,
        `support::paths(name)` are all its files.
      tools: names of tools, of those in this file; `support::stdout(name, …)` runs one.
      env: more environment.
      size: the test's.
      deps: more libraries.
      **kwargs: what else a `rust_test` takes.
    """
    files = files | {tool: _TOOLS[tool] for tool in tools or ["OFFLOAD"]}
    rust_test(
        name = name,
        size = size,
        srcs = srcs,
        visibility = ["//tests/lint:__pkg__"],
        data = {label: None for label in files.values()}.keys(),
        edition = "2021",
        env = env | {key: "$(rlocationpaths %s)" % label for key, label in files.items()},
        deps = [
            "//tests/support",
            "@offload_crates//:serde_json",
        ] + deps,
        **kwargs
    )
