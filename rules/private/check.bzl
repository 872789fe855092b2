"""Holds the bytes of an image against what they are declared to be."""

load(":offload_cli.bzl", "run_offload")
load(":ptx_ceiling.bzl", "ceiling_args")

def check_image(ctx, label, folder, policy, kind, arch, kernels, image):
    """Registers the check of one image.

    Args:
      ctx: the rule's context; its attributes include OFFLOAD_CLI and CEILING_ATTRS.
      label: Label of the target to name in messages.
      folder: where what is known of the image goes, in the target's package.
      policy: the PTX policy of the target; goes with the image.
      kind: `cubin`, `gfx` or `ptx`.
      arch: str, the architecture, in its canonical spelling.
      kernels: list of str, the kernels that it must export; in any case it must export one.
      image: File, the image.

    Returns:
      a struct as in DeviceImageInfo.
    """
    metadata = ctx.actions.declare_file("%s/%s.json" % (folder, image.basename))
    args = ctx.actions.args()
    args.add("--arch=" + arch)
    args.add("--kind=" + kind)
    args.add("--policy=" + policy)
    args.add_all(ceiling_args(ctx, label))
    args.add_all(kernels, format_each = "--kernel=%s")
    args.add(image)
    run_offload(
        ctx,
        "check",
        label,
        metadata,
        inputs = [image],
        arguments = [args],
        message = "Checking the kernels",
        arch = arch,
    )
    return struct(
        label = label,
        arch = arch,
        kind = kind,
        policy = policy,
        file = image,
        metadata = metadata,
    )
