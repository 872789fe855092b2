"""A C++ toolchain that compiles nothing.

rules_rust asks for a C++ toolchain on every platform, a GPU's included, and calls nothing of it
for Rust libraries.
"""

load("@rules_cc//cc:defs.bzl", "cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/toolchains:cc_toolchain_config_info.bzl", "CcToolchainConfigInfo")

def _config_impl(ctx):
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = ctx.label.name,
        compiler = "none",
        target_cpu = ctx.attr.cpu,
        target_system_name = ctx.attr.cpu,
        target_libc = "none",
        abi_version = "none",
        abi_libc_version = "none",
    )

_config = rule(
    implementation = _config_impl,
    attrs = {"cpu": attr.string(mandatory = True)},
    provides = [CcToolchainConfigInfo],
)

def empty_cc_toolchain(name, cpu, **kwargs):
    """Declares a `cc_toolchain` with no tool in it.

    Args:
      name: its name.
      cpu: what it says to be for.
      **kwargs: as for every rule.
    """
    _config(name = name + "_config", cpu = cpu)
    native.filegroup(name = name + "_no_files")
    files = {k: ":" + name + "_no_files" for k in ["all_files", "compiler_files", "dwp_files", "linker_files", "objcopy_files", "strip_files"]}
    cc_toolchain(
        name = name,
        toolchain_config = ":" + name + "_config",
        supports_param_files = 0,
        **(files | kwargs)
    )
