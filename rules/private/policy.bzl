"""The PTX policy: its values, what they admit, and how a target's attribute and the build's flag agree."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo")
load("//rules:providers.bzl", "DeviceImageInfo", "PtxPolicyInfo")
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

def check_admitted(label, policy, targets):
    """Fails where a target has images that a policy has no room for.

    Args:
      label: Label of the target to name in messages.
      policy: PtxPolicyInfo.
      targets: list of Target with DeviceImageInfo.
    """
    for target in targets:
        for image in target[DeviceImageInfo].images.to_list():
            if not admits(policy.ptx, image.kind):
                fail("""

%s: ptx = "%s" lets no %s image in.
  wanted: what %s admits
  found:  the %s image for %s of %s%s
  mend:   set the same `ptx` on both targets
""" % (
                    display(label),
                    policy.ptx,
                    image.kind,
                    policy.origin,
                    image.kind,
                    image.arch,
                    display(image.label),
                    ", which has " + target[PtxPolicyInfo].origin if PtxPolicyInfo in target else "",
                ))

def with_images(label, policy, target):
    """The policy of a program: its own, or that of its images where that is stricter.

    Args:
      label: Label of the target to name in messages.
      policy: PtxPolicyInfo of the program.
      target: Target with the images.

    Returns:
      a PtxPolicyInfo.
    """
    of_images = target[PtxPolicyInfo]
    ptx = stricter(policy.ptx, of_images.ptx)
    if not ptx:
        fail("""

%s: no program can be under both policies.
  wanted: %s, by %s
  found:  %s, by %s
  mend:   set the same `ptx` on both targets
""" % (display(label), policy.ptx, policy.origin, of_images.ptx, of_images.origin))
    return policy if ptx == policy.ptx else of_images

def check_together(label, images):
    """Fails where images that one target was built for would be packed with what it forbids.

    Args:
      label: Label of the target to name in messages.
      images: list of struct as in DeviceImageInfo.
    """
    bound_by = {image.policy: image for image in images}
    for bound in bound_by.values():
        for image in images:
            if not admits(bound.policy, image.kind):
                fail("""

%s: images that were built under ptx = "%s" would be packed with a %s image.
  wanted: no %s beside the images of %s
  found:  the %s image for %s of %s, which is under ptx = "%s"
  mend:   set the same `ptx` on both targets
""" % (
                    display(label),
                    bound.policy,
                    image.kind,
                    image.kind,
                    display(bound.label),
                    image.kind,
                    image.arch,
                    display(image.label),
                    image.policy,
                ))

POLICY_ATTRS = {
    "ptx": attr.string(
        default = "forbid",
        values = POLICIES,
        doc = "What PTX is for: `forbid`: nowhere, so that the GPU runs what the build made; `embed`: beside the cubins; `only`: in their place, and the driver compiles it. The stricter of this and the flag `//rules/settings:ptx` counts.",
    ),
    "_ptx_floor": attr.label(default = _FLAG, providers = [BuildSettingInfo]),
}

def attribute_origin(ctx, label):
    """The origin of a policy that a target has by its attribute.

    Args:
      ctx: the rule's context; its attributes include POLICY_ATTRS.
      label: Label of the target to name in messages.

    Returns:
      a str, as in PtxPolicyInfo.
    """
    return "ptx = \"%s\" of %s" % (ctx.attr.ptx, display(label))

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
    return PtxPolicyInfo(ptx = policy, origin = attribute_origin(ctx, label) if policy == own else by_flag)
