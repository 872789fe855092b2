"""The newest PTX that a target may have: by its version, or by the oldest driver that compiles it."""

load(":labels.bzl", "display")

CEILING_ATTRS = {
    "max_ptx_isa": attr.string(doc = "The newest version of the PTX ISA that PTX may be in: `8.0`. By default any."),
    "min_driver": attr.string(doc = "The oldest NVIDIA driver that has to compile the PTX: `535` or `535.104.05`, of which the branch counts. By default any."),
}

def _check(label, attribute, value, parts, example):
    numbers = value.split(".")
    if value and (len(numbers) not in parts or [n for n in numbers if not n.isdigit()]):
        fail("\n\n%s: in `%s`: '%s' is no version: wanted one like %s\n" % (display(label), attribute, value, example))

def ceiling_args(ctx, label):
    """What `offload check` and `offload verify` are told; fails where a value is no version.

    Args:
      ctx: the rule's context; its attributes include CEILING_ATTRS.
      label: Label of the target to name in messages.

    Returns:
      a list of str.
    """
    isa, driver = ctx.attr.max_ptx_isa, ctx.attr.min_driver
    _check(label, "max_ptx_isa", isa, [2], "8.0")
    _check(label, "min_driver", driver, [1, 2, 3], "535 or 535.104.05")
    return (["--max-ptx-isa=" + isa] if isa else []) + (["--min-driver=" + driver] if driver else [])
