"""The assembler toolchain: ptxas."""

load("//rules:providers.bzl", "AssemblerToolchainInfo")

def _assembler_toolchain_impl(ctx):
    info = AssemblerToolchainInfo(
        ptxas = ctx.file.ptxas,
        version = ctx.attr.version,
        lacks = ctx.attr.lacks,
        tools = depset(([ctx.file.ptxas] if ctx.file.ptxas else []) + ctx.files.tool_files),
    )
    return [platform_common.ToolchainInfo(assembler = info), info]

assembler_toolchain = rule(
    implementation = _assembler_toolchain_impl,
    doc = "Declares the assembler that turns PTX into cubins.",
    attrs = {
        "lacks": attr.string_list(doc = "Architectures that this version does not assemble for."),
        "ptxas": attr.label(allow_single_file = True, cfg = "exec", doc = "NVIDIA's ptxas."),
        "tool_files": attr.label_list(allow_files = True, cfg = "exec", doc = "What it reads at run time."),
        "version": attr.string(doc = "Its version."),
    },
)
