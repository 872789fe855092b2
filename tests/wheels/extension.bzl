"""Fetches the wheels of `wheels.bzl`, each when a test asks for it."""

load("//tests/wheels:wheel_files.bzl", "wheel_files")
load("//tests/wheels:wheels.bzl", "WHEELS")

def _wheels_impl(mctx):
    for name, wheel in WHEELS.items():
        wheel_files(
            name = name,
            package = wheel.package,
            sha256 = wheel.sha256,
            tag = wheel.tag,
            version = wheel.version,
        )
    return mctx.extension_metadata(reproducible = True)

wheels = module_extension(implementation = _wheels_impl)
