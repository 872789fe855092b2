"""The images of an `offload_binary` that another target packed."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules:providers.bzl", "DeviceImageInfo", "PtxPolicyInfo")
load(":labels.bzl", "display")

PACKED_IMAGES = attr.label(
    mandatory = True,
    providers = [DeviceImageInfo, PtxPolicyInfo],
    doc = "The `offload_library` that is linked into the program.",
)

def packed_images(label, images):
    """The images as they were packed; fails where nobody did.

    Args:
      label: Label of the target to name in messages.
      images: Target, of the attribute PACKED_IMAGES.

    Returns:
      a depset of File.
    """
    packed = getattr(images[OutputGroupInfo], "offload", None)
    if not packed:
        fail("""

%s: in `images`: %s has images that are not packed.
  wanted: the `offload_library` that was linked into the program
  found:  a target with images alone
  mend:   name the offload_library, or make one: offload_library(name = "images", images = ["%s"])
""" % (display(label), display(images.label), display(images.label)))
    return packed

def _linked_images_impl(ctx):
    packed_images(Label(ctx.attr.owner), ctx.attr.images)
    return [ctx.attr.images[CcInfo]]

linked_images = rule(
    implementation = _linked_images_impl,
    doc = "What a Rust program links for its `images`: rules_rust refuses another target without naming it, and takes no select() for one.",
    attrs = {
        "images": PACKED_IMAGES,
        "owner": attr.string(mandatory = True, doc = "Label of the target to name in messages."),
    },
    provides = [CcInfo],
)
