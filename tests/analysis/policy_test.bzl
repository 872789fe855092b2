"""What the PTX policy does to the commands that pack images and verify programs."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load(":actions.bzl", "has", "inputs_ending", "is_hermetic", "the_action")

def _pack_test_impl(ctx):
    env = analysistest.begin(ctx)
    pack = the_action(env, "OffloadPack")
    has(env, pack, "--policy=" + ctx.attr.policy)
    images = [arg.removeprefix("--image=").split(",meta=")[0] for arg in pack.argv if arg.startswith("--image=")]
    asserts.equals(env, ctx.attr.images, images)
    kinds = {image.split(",")[0].removeprefix("kind="): None for image in images}
    for kind, suffix in {"cubin": ".cubin", "gfx": ".elf", "ptx": ".ptx"}.items():
        wanted = len([image for image in images if image.startswith("kind=%s," % kind)])
        asserts.equals(env, wanted, len(inputs_ending(pack, suffix)), suffix)
        asserts.equals(env, kind in kinds, bool([arg for arg in pack.argv if arg.endswith(suffix)]), suffix)
    is_hermetic(env, pack)
    is_hermetic(env, the_action(env, "OffloadLink"))
    return analysistest.end(env)

_PACK_ATTRS = {
    "images": attr.string_list(),
    "policy": attr.string(),
}

def _pack_test(floor):
    return analysistest.make(
        _pack_test_impl,
        attrs = _PACK_ATTRS,
        config_settings = {str(Label("//rules/settings:ptx")): floor},
    )

# One for each value of the flag; `embed` is its default.
pack_test = _pack_test("embed")
pack_under_forbid_test = _pack_test("forbid")
pack_under_only_test = _pack_test("only")

def _verify_test_impl(ctx):
    env = analysistest.begin(ctx)
    verify = the_action(env, "OffloadVerify")
    has(env, verify, "--ptx=" + ctx.attr.policy, "--label=" + ctx.attr.label)
    told = [arg for arg in verify.argv if arg.startswith("--ptx-from=")]
    asserts.equals(env, ["--ptx-from=" + ctx.attr.policy_from] if ctx.attr.policy_from else [], told)

    # What was packed has to be in it.
    wanted = [arg.removeprefix("--require-images=") for arg in verify.argv if arg.startswith("--require-images=")]
    asserts.equals(env, inputs_ending(verify, ".offload"), wanted)
    asserts.equals(env, 1, len(wanted))
    has(env, verify, "--require-arch=gfx1100")
    is_hermetic(env, verify)

    # It reads the program that runs, and the build waits for it.
    target = analysistest.target_under_test(env)
    asserts.true(env, verify.argv[-1].endswith(".host"), verify.argv[-1])
    asserts.equals(
        env,
        [file.path for file in verify.outputs.to_list()],
        [file.path for file in target[OutputGroupInfo]._validation.to_list() if file.path.endswith(".verified.json")],
    )
    return analysistest.end(env)

_VERIFY_ATTRS = {
    "label": attr.string(),
    "policy": attr.string(),
    "policy_from": attr.string(doc = "Who says so, where that is not the target."),
}

verify_test = analysistest.make(_verify_test_impl, attrs = _VERIFY_ATTRS)

verify_under_forbid_test = analysistest.make(
    _verify_test_impl,
    attrs = _VERIFY_ATTRS,
    config_settings = {str(Label("//rules/settings:ptx")): "forbid"},
)

def _required_test_impl(ctx):
    env = analysistest.begin(ctx)
    archs = [arg.removeprefix("--require-arch=") for arg in the_action(env, "OffloadVerify").argv if arg.startswith("--require-arch=")]
    asserts.equals(env, ctx.attr.archs, archs)
    return analysistest.end(env)

# What a program asks for, and the flag on top of it.
required_test = analysistest.make(
    _required_test_impl,
    attrs = {"archs": attr.string_list()},
    config_settings = {str(Label("//rules/settings:required_archs")): ["sm_86", "gfx1100"]},
)
