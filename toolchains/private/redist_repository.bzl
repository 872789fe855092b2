"""ptxas out of NVIDIA's redistributable archives: an index in JSON, pinned, names each archive with its sha256."""

_BUILD = """\
load("{assembler_toolchain}", "assembler_toolchain")

package(default_visibility = ["//visibility:public"])

exports_files(["bin/ptxas"])

assembler_toolchain(
    name = "assembler",
    lacks = {lacks},
    ptxas = "bin/ptxas",
    version = "{version}",
)
"""

_PACKAGE = "cuda_nvcc"
_PLATFORM = "linux-x86_64"

def _urls(rctx, path):
    return [template.replace("{}", path) for template in rctx.attr.urls]

def _redist_repository_impl(rctx):
    index = "redistrib_%s.json" % rctx.attr.release
    rctx.download(_urls(rctx, index), "index.json", sha256 = rctx.attr.sha256)
    package = json.decode(rctx.read("index.json")).get(_PACKAGE, {})
    archive = package.get(_PLATFORM)
    if not archive:
        fail("""

rules_offload: offload.ptxas_redist(release = "%s"): the index has no ptxas for this machine.
  wanted: `%s` with `%s`
  found:  %s
  mend:   use another release, or the wheel: offload.ptxas(version = ...)
""" % (rctx.attr.release, _PACKAGE, _PLATFORM, ", ".join(sorted(package)) or "no `%s`" % _PACKAGE))
    path = archive["relative_path"]
    rctx.download_and_extract(
        _urls(rctx, path),
        output = "archive",
        sha256 = archive["sha256"],
        stripPrefix = path.split("/")[-1].rsplit(".tar.", 1)[0],
    )
    if not rctx.path("archive/bin/ptxas").exists:
        fail("rules_offload: offload.ptxas_redist(release = \"%s\"): there is no bin/ptxas in %s" % (rctx.attr.release, path))
    for step in [["mkdir", "bin"], ["mv", "archive/bin/ptxas", "bin/ptxas"], ["rm", "-r", "archive"]]:
        done = rctx.execute(step)
        if done.return_code:
            fail("rules_offload: %s: %s" % (" ".join(step), done.stderr))
    rctx.file("BUILD.bazel", _BUILD.format(
        assembler_toolchain = Label("//toolchains/private:assembler_toolchain.bzl"),
        lacks = rctx.attr.lacks,
        version = package["version"],
    ))

redist_repository = repository_rule(
    implementation = _redist_repository_impl,
    doc = "ptxas out of one release of NVIDIA's redistributable archives.",
    attrs = {
        "lacks": attr.string_list(doc = "Architectures that it does not assemble for."),
        "release": attr.string(mandatory = True, doc = "The CUDA release: `13.0.0`."),
        "sha256": attr.string(mandatory = True, doc = "The sha256 of its index, redistrib_RELEASE.json."),
        "urls": attr.string_list(mandatory = True, doc = "Where it is; `{}` stands for the path."),
    },
)
