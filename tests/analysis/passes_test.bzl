"""What rustc is told in each pass: the root crate, and the libraries that both passes share."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load(":actions.bzl", "has", "lacks")

# From the program to its crates; `tools` leads to it where another action runs it.
_ATTRS = ["binary", "crate", "deps", "image", "images", "tools"]

_RustcInfo = provider(
    doc = "Calls of rustc for target code.",
    fields = {"calls": "depset of struct (crate: str, action: Action)"},
)

def _rustc_aspect_impl(target, ctx):
    deps = []
    for name in _ATTRS:
        value = getattr(ctx.rule.attr, name, None) or []
        deps.extend(value if type(value) == type([]) else [value])
    return [_RustcInfo(calls = depset(
        [struct(crate = ctx.rule.attr.name, action = action) for action in target.actions if action.mnemonic == "Rustc"],
        transitive = [dep[_RustcInfo].calls for dep in deps if _RustcInfo in dep],
    ))]

_rustc_aspect = aspect(
    implementation = _rustc_aspect_impl,
    attr_aspects = _ATTRS,
)

def _passes_test_impl(ctx):
    env = analysistest.begin(ctx)
    calls = analysistest.target_under_test(env)[_RustcInfo].calls.to_list()
    device, host, helpers = {}, [], {}
    for call in calls:
        triple = [arg for arg in call.action.argv if arg.startswith("--target=")][0].removeprefix("--target=")
        if call.crate.endswith(".crate"):
            device[call.crate] = struct(action = call.action, triple = triple)
        elif call.crate.endswith(".host"):
            host.append(struct(action = call.action, triple = triple))
        elif call.crate == "helper":
            helpers[call.action.outputs.to_list()[0].path] = struct(action = call.action, triple = triple)

    asserts.equals(env, len(ctx.attr.archs), len(device), "one device pass for each architecture")
    for crate in device.values():
        has(env, crate.action, "--cfg=offload_device", "-Cpanic=abort")
        lacks(env, crate.action, "offload_host")
        asserts.true(env, crate.triple in ["nvptx64-nvidia-cuda", "amdgcn-amd-amdhsa"], crate.triple)
        asserts.equals(env, 1, len([arg for arg in crate.action.argv if arg.startswith("-Ctarget-cpu=")]))

    asserts.equals(env, 1, len(host), "one host pass")
    has(env, host[0].action, "--cfg=offload_host")
    lacks(env, host[0].action, "offload_device", "-Ctarget-cpu")

    # The same library is compiled for the host and for each architecture, with the flags of each.
    asserts.equals(env, len(ctx.attr.archs) + 1, len(helpers))
    asserts.equals(
        env,
        sorted([crate.triple for crate in device.values()] + [host[0].triple]),
        sorted([helper.triple for helper in helpers.values()]),
    )
    cpus = []
    for helper in helpers.values():
        lacks(env, helper.action, "offload_host")
        if helper.triple == host[0].triple:
            lacks(env, helper.action, "offload_device", "-Ctarget-cpu")
        else:
            cpus.extend([arg.removeprefix("-Ctarget-cpu=") for arg in helper.action.argv if arg.startswith("-Ctarget-cpu=")])
    asserts.equals(env, sorted([arch.partition(":")[0] for arch in ctx.attr.archs]), sorted(cpus))
    return analysistest.end(env)

passes_test = analysistest.make(
    _passes_test_impl,
    attrs = {"archs": attr.string_list()},
    extra_target_under_test_aspects = [_rustc_aspect],
)

def _host_flags_test_impl(ctx):
    env = analysistest.begin(ctx)
    calls = analysistest.target_under_test(env)[_RustcInfo].calls.to_list()
    device = [call for call in calls if call.crate.endswith(".crate")]
    asserts.equals(env, len(ctx.attr.archs), len(device))
    for call in device:
        lacks(env, call.action, "=native")
    host = [call for call in calls if call.crate.endswith(".host")]
    asserts.equals(env, 1, len(host))
    has(env, host[0].action, "-Ctarget-cpu=native")
    return analysistest.end(env)

# Flags for every crate of a build are those of the host's crates alone.
host_flags_test = analysistest.make(
    _host_flags_test_impl,
    attrs = {"archs": attr.string_list()},
    config_settings = {str(Label("@rules_rust//rust/settings:extra_rustc_flags")): ["-Ctarget-cpu=native"]},
    extra_target_under_test_aspects = [_rustc_aspect],
)
