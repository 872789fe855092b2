"""`refusal_test`: a target that is refused before anything runs, and in which words."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")

def _refusal_test_impl(ctx):
    env = analysistest.begin(ctx)
    for text in ctx.attr.says:
        asserts.expect_failure(env, text)
    return analysistest.end(env)

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
