"""`refusal_test`: a target that is refused before anything runs, and in which words."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("//rules:providers.bzl", "DeviceImageInfo")

def _refusal_test_impl(ctx):
    env = analysistest.begin(ctx)
    for text in ctx.attr.says:
        asserts.expect_failure(env, text)
    return analysistest.end(env)

def _acceptance_test_impl(ctx):
    env = analysistest.begin(ctx)
    images = analysistest.target_under_test(env)[DeviceImageInfo].images.to_list()
    asserts.equals(env, ctx.attr.images, [image.kind + " " + image.arch for image in images])
    return analysistest.end(env)

acceptance_test = analysistest.make(
    _acceptance_test_impl,
    attrs = {"images": attr.string_list(doc = "Kind and architecture of each image.")},
    doc = "The other direction: a target that looks like one of these and is fine.",
)

_ATTRS = {"says": attr.string_list(doc = "Texts that the message contains.")}

refusal_test = analysistest.make(_refusal_test_impl, attrs = _ATTRS, expect_failure = True)

no_ptxas_refusal_test = analysistest.make(
    _refusal_test_impl,
    attrs = _ATTRS,
    config_settings = {"//command_line_option:extra_toolchains": str(Label("//tests/refusals:no_ptxas"))},
    doc = "The same where the assembler toolchain has no ptxas.",
    expect_failure = True,
)

def _under_floor_refusal_test(floor):
    return analysistest.make(
        _refusal_test_impl,
        attrs = _ATTRS,
        config_settings = {str(Label("//rules/settings:ptx")): floor},
        expect_failure = True,
    )

# The same under the flag of the whole build.
under_forbid_refusal_test = _under_floor_refusal_test("forbid")
under_only_refusal_test = _under_floor_refusal_test("only")
