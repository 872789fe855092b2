"""`args_test`: the command line of a test that was declared before."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")

def _args_test_impl(ctx):
    env = unittest.begin(ctx)
    asserts.equals(env, ctx.attr.wanted, ctx.attr.found)
    return unittest.end(env)

_args_test = unittest.make(
    _args_test_impl,
    attrs = {
        "found": attr.string_list(),
        "wanted": attr.string_list(),
    },
)

def args_test(name, test, wanted):
    _args_test(
        name = name,
        found = native.existing_rule(test)["args"],
        wanted = wanted,
    )
