"""A wheel as it is published, and the libraries in it."""

# buildifier: disable=bzl-visibility
load("//toolchains/private:pip.bzl", "PIP_ENVIRON", "WHEEL_ATTRS", "extract_wheel", "pip_download")

_BUILD = """\
package(default_visibility = ["//visibility:public"])

filegroup(
    name = "wheel",
    srcs = glob(["wheel/*.whl"]),
)

filegroup(
    name = "libraries",
    srcs = glob([
        "files/**/*.a",
        "files/**/*.bc",
        "files/**/*.so",
        "files/**/*.so.*",
    ], allow_empty = True),
)
"""

def _wheel_files_impl(rctx):
    wheel = pip_download(
        rctx,
        mend = "without a network, leave out the tests that read published wheels: --build_tag_filters=-wheels --test_tag_filters=-wheels",
        tag = rctx.attr.tag,
    )
    extract_wheel(rctx, wheel, output = "files")
    rctx.file("BUILD.bazel", _BUILD)

wheel_files = repository_rule(
    implementation = _wheel_files_impl,
    attrs = WHEEL_ATTRS | {
        "tag": attr.string(doc = "The wheel's compatibility tag, where it is for one version of Python."),
    },
    environ = PIP_ENVIRON,
)
