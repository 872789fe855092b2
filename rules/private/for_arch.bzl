"""The way from the host's platform to that of a GPU."""

load("//rules:providers.bzl", "DeviceImageInfo")
load("//toolchains:archs.bzl", "all_targets")

# Flags for every rustc of a build are meant for the host: `-Ctarget-cpu=native` is no GPU.
_SETTINGS = {
    str(Label("@rules_rust//rust/settings:extra_rustc_flag")): [],
    str(Label("@rules_rust//rust/settings:extra_rustc_flags")): [],
    # Device code is always optimised, so the host's mode does not build it again.
    "//command_line_option:compilation_mode": "opt",
}

_PLATFORMS = {
    parsed.name: {"//command_line_option:platforms": [str(Label("//toolchains/platforms:" + parsed.target_id))]}
    for parsed in all_targets()
}

def _to_gpu_impl(_settings, attr):
    return {attr.arch: _SETTINGS | _PLATFORMS[attr.arch]}

# Of an edge, not of the rule that links: Bazel asks a rule's own transition three times for each target, and what it
# makes of the answer is a third of the time that analysis takes.
_to_gpu = transition(
    implementation = _to_gpu_impl,
    inputs = [],
    outputs = _SETTINGS.keys() + ["//command_line_option:platforms"],
)

def _for_arch_impl(ctx):
    image = ctx.split_attr.image[ctx.attr.arch]
    return [
        DefaultInfo(files = image[DefaultInfo].files),
        image[DeviceImageInfo],
        image[OutputGroupInfo],
    ]

for_arch = rule(
    implementation = _for_arch_impl,
    doc = "The image of a `device_cdylib` for one GPU architecture, linked on that one's platform.",
    attrs = {
        "arch": attr.string(mandatory = True, doc = "The architecture, in its canonical spelling."),
        "image": attr.label(mandatory = True, cfg = _to_gpu, providers = [DeviceImageInfo], doc = "The `device_link`."),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
    provides = [DeviceImageInfo],
)
