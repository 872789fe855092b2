"""Unit tests of `//rules/private:lists.bzl`: what it fails with, while packages are loaded, no rule's test sees."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")

# buildifier: disable=bzl-visibility
load("//rules/private:lists.bzl", "list_error", "names_error")

def _lists_impl(ctx):
    env = unittest.begin(ctx)
    chosen = select({"//conditions:default": ["sm_90"]})
    for value in [[], ["sm_90"], ["sm_90", "gfx90a"]]:
        asserts.equals(env, None, names_error(value))
        asserts.equals(env, None, list_error(value))
    for value in [["sm_90"], chosen, ["sm_90"] + chosen]:
        asserts.equals(env, None, list_error(value))
    for value, start in {
        "sm_90": "is \"sm_90\"; ",
        90: "is 90; ",
        None: "is None; ",
        ("sm_90",): "is (\"sm_90\",); ",
    }.items():
        asserts.true(env, names_error(value).startswith(start + "wanted a list of names such as [\"sm_90\"]"), names_error(value))
        asserts.equals(env, start + "wanted a list", list_error(value))
    asserts.true(env, names_error([90]).startswith("is [90]; wanted a list of names"))
    asserts.true(env, names_error([["sm_90"]]).startswith("is [[\"sm_90\"]]; wanted a list of names"))
    asserts.true(env, "no select()" in names_error(chosen), names_error(chosen))
    return unittest.end(env)

lists_test = unittest.make(_lists_impl)
