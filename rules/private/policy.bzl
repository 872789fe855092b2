"""The PTX policy: its values, what they admit, and how a target's attribute and the build's flag agree."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules:providers.bzl", "PtxPolicyInfo")
load(":labels.bzl", "display")

POLICIES = ["forbid", "embed", "only"]

_FLAG = Label("//rules/settings:ptx")

def admits(policy, kind):
    """Whether images of this kind may be in a program under this policy.

    Args:
      policy: one of POLICIES.
      kind: the kind of an image: `cubin`, `gfx`, `ptx`.

    Returns:
      a bool.
    """
    if policy == "forbid":
        return kind != "ptx"
    if policy == "only":
        return kind != "cubin"
    return True

def stricter(own, floor):
    """The policy of a target by its attribute and the build's flag.

    `embed` admits everything, so the other one counts; `forbid` and `only` leave each other nothing.

    Args:
      own: one of POLICIES, by the attribute.
      floor: one of POLICIES, by the flag.

    Returns:
      one of POLICIES; `None` where a target cannot be under both.
    """
    if floor in [own, "embed"]:
        return own
    return floor if own == "embed" else None

POLICY_ATTRS = {
    "ptx": attr.string(
        default = "forbid",
        values = POLICIES,
        doc = "What PTX is for: `forbid`: nowhere, so that the GPU runs what the build made; `embed`: beside the cubins; `only`: in their place, and the driver compiles it. The stricter of this and the flag `//rules/settings:ptx` counts.",
    ),
    "_ptx_floor": attr.label(default = _FLAG, providers = [BuildSettingInfo]),
}

def resolve_policy(ctx, label):
    """The policy of a target: the stricter of its attribute and the build's flag.

    Args:
      ctx: the rule's context; its attributes include POLICY_ATTRS.
      label: Label of the target to name in messages.

    Returns:
      a PtxPolicyInfo.
    """
    own, floor = ctx.attr.ptx, ctx.attr._ptx_floor[BuildSettingInfo].value
    by_flag = "--%s=%s" % (display(_FLAG), floor)
    policy = stricter(own, floor)
    if not policy:
        fail("""

%s: no image can be under both policies.
  wanted: %s, by the flag %s
  found:  ptx = "%s"
  mend:   set ptx = "embed" on this target, which is under whatever the flag says; or build it without the flag
""" % (display(label), floor, by_flag, own))
    by_attribute = "ptx = \"%s\" of %s" % (own, display(label))
    return PtxPolicyInfo(ptx = policy, origin = by_attribute if policy == own else by_flag)
