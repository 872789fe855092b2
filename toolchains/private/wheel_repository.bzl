"""Tools out of NVIDIA's wheels."""

load(":pip.bzl", "PIP_ENVIRON", "WHEEL_ATTRS", "extract_wheel", "pip_download", "requirement")

_BUILD = """\
load("{assembler_toolchain}", "assembler_toolchain")

package(default_visibility = ["//visibility:public"])

exports_files(glob(["bin/*"]))
{toolchain}"""

_TOOLCHAIN = """
assembler_toolchain(
    name = "assembler",
    lacks = {lacks},
    ptxas = "bin/ptxas",
    version = "{version}",
)
"""

def _wheel_repository_impl(rctx):
    wheel = pip_download(rctx, mend = "where the hash is what differs, set `sha256` beside `version` where the module extension `offload` is used")
    extract_wheel(rctx, wheel, output = "files")
    rctx.delete("wheel")
    for tool in rctx.attr.tools:
        found = [f for f in [
            rctx.path("files/nvidia/%s/bin/%s" % (layout, tool))
            for layout in ["cu13", "cuda_nvcc", "cuda_cuobjdump", "cuda_nvdisasm"]
        ] if f.exists]
        if not found:
            fail("rules_offload: the wheel of %s has no tool '%s'" % (requirement(rctx), tool))
        rctx.execute(["mkdir", "-p", "bin"])
        moved = rctx.execute(["mv", str(found[0]), "bin/" + tool])
        if moved.return_code:
            fail("rules_offload: %s: %s" % (requirement(rctx), moved.stderr))
        rctx.execute(["chmod", "755", "bin/" + tool])
    rctx.delete("files")
    rctx.file("BUILD.bazel", _BUILD.format(
        assembler_toolchain = Label("//toolchains/private:assembler_toolchain.bzl"),
        toolchain = _TOOLCHAIN.format(lacks = rctx.attr.lacks, version = rctx.attr.version) if "ptxas" in rctx.attr.tools else "",
    ))

wheel_repository = repository_rule(
    implementation = _wheel_repository_impl,
    doc = "Command-line tools out of one wheel.",
    attrs = WHEEL_ATTRS | {
        "lacks": attr.string_list(doc = "For ptxas: architectures that it does not assemble for."),
        "tools": attr.string_list(mandatory = True, doc = "Names of the tools to keep."),
    },
    environ = PIP_ENVIRON,
)
