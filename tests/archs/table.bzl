"""Starlark's table of architectures as JSON, in the form of `offload archs --format=json`."""

load("//toolchains:archs.bzl", "ARCHS")

def _arch_table_impl(ctx):
    file = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(file, json.encode_indent(ARCHS.values()) + "\n")
    return [DefaultInfo(files = depset([file]), runfiles = ctx.runfiles([file]))]

arch_table = rule(
    implementation = _arch_table_impl,
    doc = "Writes the table of `//toolchains:archs.bzl`.",
)
