"""How one device image is linked and assembled: what stands in the commands."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load(":actions.bzl", "actions", "has", "has_prefix", "inputs_ending", "is_hermetic", "lacks", "linked_aspect", "the_action", "with_mnemonic")

def _options(action, prefix):
    return [arg.removeprefix(prefix) for arg in action.argv if arg.startswith(prefix)]

def _link_test_impl(ctx):
    env = analysistest.begin(ctx)
    arch, _, features = ctx.attr.arch.partition(":")
    link = the_action(env, "DeviceLink")

    # The processor is this image's own and no other's; a feature is no part of it.
    asserts.equals(env, [arch], _options(link, "-Ctarget-cpu="))
    asserts.equals(env, [features[-1:] + features[:-1]] if features else [], _options(link, "-Ctarget-feature="))
    has(env, link, "--target=" + ctx.attr.triple, "--crate-type=cdylib")
    has_prefix(env, link, "-Clinker=bazel-out/", *["-Clink-arg=--%s=external/" % tool for tool in ctx.attr.linked_by])
    lacks(env, link, *["--%s=" % tool for tool in ["llc", "lld", "llvm-link", "opt"] if tool not in ctx.attr.linked_by])
    is_hermetic(env, link)

    # A crate whose name is no snake case warns of it where the user can allow it, and not here again.
    root = the_action(env, "FileWrite")
    asserts.true(env, "#![allow(non_snake_case)]" in root.content, root.content)

    # Intermediate files are called alike for all architectures: those of each go into a folder of its own.
    asserts.equals(env, [file.dirname for file in link.outputs.to_list()], _options(link, "--out-dir="))

    # The libraries are those of this platform, as inputs too.
    asserts.true(env, inputs_ending(link, "/libcore.rlib"), "core is an input")
    asserts.equals(env, 1, len([path for path in inputs_ending(link, ".rlib") if "/libhelper-" in path]), "the dependency is an input")
    return analysistest.end(env)

link_test = analysistest.make(
    _link_test_impl,
    extra_target_under_test_aspects = [linked_aspect],
    attrs = {
        "arch": attr.string(),
        "linked_by": attr.string_list(),
        "triple": attr.string(),
    },
)

def _assemble_test_impl(ctx):
    env = analysistest.begin(ctx)
    assemble = the_action(env, "DeviceAssemble")
    has(env, assemble, "-arch=" + ctx.attr.arch)
    asserts.equals(env, 1, len(_options(assemble, "-arch=")))
    asserts.equals(env, 1, len(inputs_ending(assemble, ".ptx")))
    asserts.true(env, assemble.argv[0].startswith("external/"), assemble.argv[0])
    is_hermetic(env, assemble)
    return analysistest.end(env)

assemble_test = analysistest.make(
    _assemble_test_impl,
    attrs = {"arch": attr.string()},
    extra_target_under_test_aspects = [linked_aspect],
)

def _not_assembled_test_impl(ctx):
    env = analysistest.begin(ctx)
    the_action(env, "DeviceLink")
    asserts.equals(env, [], with_mnemonic(env, "DeviceAssemble"))
    asserts.equals(env, [], [f.path for action in actions(env) for f in action.outputs.to_list() if f.path.endswith(".cubin")])
    return analysistest.end(env)

not_assembled_test = analysistest.make(
    _not_assembled_test_impl,
    extra_target_under_test_aspects = [linked_aspect],
)

def _check_test_impl(ctx):
    env = analysistest.begin(ctx)
    checks = with_mnemonic(env, "OffloadCheck")
    asserts.equals(env, ctx.attr.kinds, [_options(check, "--kind=")[0] for check in checks])
    for check in checks:
        has(env, check, "--arch=" + ctx.attr.arch, "--kernel=subject", "--label=" + ctx.attr.owner)
        is_hermetic(env, check)
    return analysistest.end(env)

check_test = analysistest.make(
    _check_test_impl,
    extra_target_under_test_aspects = [linked_aspect],
    attrs = {
        "arch": attr.string(),
        "kinds": attr.string_list(),
        "owner": attr.string(),
    },
)
