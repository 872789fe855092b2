"""Attributes of `offload_binary` that nothing would come of, since what they are about is made elsewhere."""

# Those of the device pass; every other is the host's.
_OF_IMAGES = ["device_deps", "device_proc_macro_deps", "kernels", "ptx_archs", "ptxas_flags"]

def unused(binary, images, attributes):
    """What is wrong with the attributes of an `offload_binary` whose program or images are made elsewhere.

    Args:
      binary: the attribute.
      images: the attribute.
      attributes: dict of the name of every attribute of the passes over `srcs` to its value.

    Returns:
      a str, empty where nothing is.
    """
    given = [name for name, value in attributes.items() if value]
    of_binary = ["`%s`" % name for name in given if name not in _OF_IMAGES]
    of_images = ["`%s`" % name for name in given if name in _OF_IMAGES]
    if binary != None and of_binary:
        return "`binary` is linked already; found %s: set them on the binary, and name its offload_library in `images`" % ", ".join(of_binary)
    if images != None and of_images:
        return "`images` are built already; found %s: set them on the device_cdylib that is in `images`" % ", ".join(of_images)
    return ""
