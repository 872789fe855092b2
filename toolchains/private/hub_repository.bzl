"""The hub: every `toolchain()` of the extension, in a repository that loads none of the tools."""

_HEADER = """\
package(default_visibility = ["//visibility:public"])
"""

_TOOLCHAIN = """
toolchain(
    name = "{name}",
    exec_compatible_with = ["@platforms//cpu:x86_64", "@platforms//os:linux"],
    target_compatible_with = {target_compatible_with},
    toolchain = "{toolchain}",
    toolchain_type = "{type}",
)
"""

def _hub_repository_impl(rctx):
    constraints = {
        "amd": ["amdgcn", "amdhsa"],
        "nvidia": ["nvptx64", "cuda"],
    }
    build = _HEADER
    for vendor, names in constraints.items():
        target = [str(Label("//toolchains/constraints:" + name)) for name in names]
        for kind, type in {
            "cc": "@bazel_tools//tools/cpp:toolchain_type",
            "device": str(Label("//toolchains:device_toolchain_type")),
            "rust": str(Label("@rules_rust//rust:toolchain_type")),
        }.items():
            build += _TOOLCHAIN.format(
                name = "%s_%s" % (kind, vendor),
                target_compatible_with = target,
                toolchain = "@%s//:%s_%s" % (rctx.attr.device_repository, kind, vendor),
                type = type,
            )
    if rctx.attr.assembler_repository:
        build += _TOOLCHAIN.format(
            name = "assembler_nvidia",
            target_compatible_with = [str(Label("//toolchains/constraints:" + name)) for name in constraints["nvidia"]],
            toolchain = "@%s//:assembler" % rctx.attr.assembler_repository,
            type = str(Label("//toolchains:assembler_toolchain_type")),
        )
    rctx.file("BUILD.bazel", build)

hub_repository = repository_rule(
    implementation = _hub_repository_impl,
    attrs = {
        "assembler_repository": attr.string(doc = "Name of the repository with the assembler; empty: none is registered."),
        "device_repository": attr.string(mandatory = True, doc = "Name of the repository with the device tools."),
    },
)
