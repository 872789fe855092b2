"""Tools out of NVIDIA's wheels, fetched by pip: by name and version, and checked by sha256."""

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
    python = rctx.os.environ.get("OFFLOAD_PYTHON", "") or "python3"
    python = python if python.startswith("/") else rctx.which(python)
    requirement = "%s==%s" % (rctx.attr.package, rctx.attr.version)
    if not python:
        fail("rules_offload: %s is fetched by pip, and there is no python3 on PATH; install Python 3 with pip, or set OFFLOAD_PYTHON" % requirement)
    if len(rctx.attr.sha256) != 64:
        fail("rules_offload: %s: wanted the 64 hexadecimal digits of the wheel's sha256, found '%s'" % (requirement, rctx.attr.sha256))
    rctx.file("requirements.txt", "%s --hash=sha256:%s\n" % (requirement, rctx.attr.sha256))
    rctx.report_progress("pip download " + requirement)
    result = rctx.execute(
        [
            python,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-cache-dir",
            "--no-deps",
            "--only-binary=:all:",
            "--require-hashes",
            "--requirement=requirements.txt",
            "--dest=wheel",
        ],
        timeout = 1200,
    )
    if result.return_code:
        fail("""

rules_offload: pip could not fetch %s with sha256 %s.
  pip said: %s
  mend:     check that pip works on this machine (%s -m pip --version) and reaches its index; where the hash
            is what differs, set `sha256` beside `version` where the module extension `offload` is used
""" % (requirement, rctx.attr.sha256, result.stderr.strip() or result.stdout.strip(), python))
    wheel = [f for f in rctx.path("wheel").readdir() if f.basename.endswith(".whl")][0]

    # Bazel tells an archive's type by its name.
    rctx.symlink(wheel, "wheel.zip")
    rctx.extract("wheel.zip", output = "files")
    rctx.delete("wheel.zip")
    rctx.delete("wheel")
    for tool in rctx.attr.tools:
        found = [f for f in [
            rctx.path("files/nvidia/%s/bin/%s" % (layout, tool))
            for layout in ["cu13", "cuda_nvcc", "cuda_cuobjdump", "cuda_nvdisasm"]
        ] if f.exists]
        if not found:
            fail("rules_offload: the wheel of %s has no tool '%s'" % (requirement, tool))
        rctx.execute(["mkdir", "-p", "bin"])
        moved = rctx.execute(["mv", str(found[0]), "bin/" + tool])
        if moved.return_code:
            fail("rules_offload: %s: %s" % (requirement, moved.stderr))
        rctx.execute(["chmod", "755", "bin/" + tool])
    rctx.delete("files")
    rctx.file("BUILD.bazel", _BUILD.format(
        assembler_toolchain = Label("//toolchains/private:assembler_toolchain.bzl"),
        toolchain = _TOOLCHAIN.format(lacks = rctx.attr.lacks, version = rctx.attr.version) if "ptxas" in rctx.attr.tools else "",
    ))

wheel_repository = repository_rule(
    implementation = _wheel_repository_impl,
    doc = "Command-line tools out of one wheel.",
    attrs = {
        "lacks": attr.string_list(doc = "For ptxas: architectures that it does not assemble for."),
        "package": attr.string(mandatory = True, doc = "The wheel's name."),
        "sha256": attr.string(mandatory = True, doc = "Its sha256."),
        "tools": attr.string_list(mandatory = True, doc = "Names of the tools to keep."),
        "version": attr.string(mandatory = True, doc = "Its version."),
    },
    environ = ["OFFLOAD_PYTHON", "PATH", "PIP_CERT", "PIP_CONFIG_FILE", "PIP_INDEX_URL"],
)
