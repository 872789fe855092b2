"""What a size is."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")

# There is no other door to it.
# buildifier: disable=bzl-visibility
load("//rules/private:sizes.bzl", "parse_size")

def _parse_size_test_impl(ctx):
    env = unittest.begin(ctx)
    for text, wanted in {
        "": None,
        "-1": None,
        "0": None,
        "007": 7,
        "1": 1,
        "1.5G": None,
        "1500M": 1572864000,
        "2G": 2147483648,
        "64 M": None,
        "64K": 65536,
        "64KB": None,
        "64k": None,
        "9999999999999999": None,
        "999999999999999G": 999999999999999 << 30,
        "K": None,
    }.items():
        asserts.equals(env, wanted, parse_size(text), "'%s'" % text)
    return unittest.end(env)

parse_size_test = unittest.make(_parse_size_test_impl)
