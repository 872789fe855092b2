"""Attributes of a program that would do nothing."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")

# What fails while a BUILD file is loaded is not to be had as a target.
# buildifier: disable=bzl-visibility
load("//rules/private:unused.bzl", "unused")

def _unused_test_impl(ctx):
    env = unittest.begin(ctx)
    given = {"crate_name": None, "deps": [":x"], "kernels": ["k"], "linker_script": ":y"}
    asserts.equals(env, None, unused(None, None, given))
    asserts.equals(env, None, unused(":p", ":i", {"deps": [], "kernels": []}))
    said = unused(None, ":i", given)
    asserts.true(env, said.startswith("`images` are built already; found `kernels`: set them on"), said)
    said = unused(":p", ":i", given)
    asserts.true(env, said.startswith("`binary` is linked already; found `deps`, `linker_script`: set them on"), said)
    return unittest.end(env)

unused_test = unittest.make(_unused_test_impl)
