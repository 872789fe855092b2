"""The architectures that images have to be there for: a target's attribute and the build's flag."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//toolchains:archs.bzl", "parse_arch")
load(":labels.bzl", "display")

_FLAG = Label("//rules/settings:required_archs")

COVERAGE_ATTRS = {
    "required_archs": attr.string_list(doc = "GPUs that every kernel must run on without a compiler: each needs an image of its own, one for a lower minor version of its major one, or a family or generic one that serves it. Those of the flag `//rules/settings:required_archs` come on top."),
    "_required_archs": attr.label(default = _FLAG, providers = [BuildSettingInfo]),
}

def required_archs(ctx, label):
    """What a target is asked for, by itself and by the flag; fails where one is no architecture.

    Args:
      ctx: the rule's context; its attributes include COVERAGE_ATTRS.
      label: Label of the target to name in messages.

    Returns:
      a list of str, in canonical spelling, each once.
    """
    found = {}
    for where, archs in {
        "in `required_archs`": ctx.attr.required_archs,
        "in the flag --%s" % display(_FLAG): ctx.attr._required_archs[BuildSettingInfo].value,
    }.items():
        for arch in archs:
            parsed, error = parse_arch(arch)
            if error:
                fail("\n\n%s: %s: %s\n" % (display(label), where, error))
            found[parsed.name] = None
    return found.keys()
