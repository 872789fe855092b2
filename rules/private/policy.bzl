"""The PTX policy: its values and what they admit."""

POLICIES = ["forbid", "embed", "only"]

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

def ptx_attr():
    return attr.string(
        default = "forbid",
        values = POLICIES,
        doc = "What PTX is for: `forbid`: nowhere, so that the GPU runs what the build made; `embed`: beside the cubins; `only`: in their place, and the driver compiles it.",
    )
