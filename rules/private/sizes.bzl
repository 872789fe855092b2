"""Limits on how large images may be: what a target says, and what the verifier is told."""

load(":labels.bzl", "display")

_UNITS = {"": 1, "G": 1 << 30, "K": 1 << 10, "M": 1 << 20}

# The verifier's flags.
_FLAGS = {
    "max_image_size": "--max-image-bytes=%d",
    "max_size": "--max-total-bytes=%d",
}

# Texts: an integer attribute ends at 2 GiB.
SIZE_ATTRS = {
    "max_image_size": attr.string(doc = "How large one image may be, as stored: bytes, or with `K`, `M` or `G` behind the number multiples of 1024, as in `64M`. No limit if empty."),
    "max_size": attr.string(doc = "How large all images together may be, likewise."),
}

def parse_size(text):
    """The number of bytes that a text stands for.

    Args:
      text: str, such as `65536`, `64K`, `1500M` or `2G`.

    Returns:
      an int, `None` where the text is none of these.
    """
    number = text[:-1] if text[-1:] in _UNITS else text
    unit = text[len(number):]
    if not number.isdigit() or len(number) > 15 or int(number) == 0:
        return None
    return int(number) * _UNITS[unit]

def size_flags(label, max_image_size, max_size):
    """The verifier's flags for the limits of a target; fails where one is no size.

    Args:
      label: Label of the target to name in messages.
      max_image_size: str, the attribute; no limit if empty.
      max_size: str, likewise.

    Returns:
      a list of str.
    """
    flags = []
    for name, text in {"max_image_size": max_image_size, "max_size": max_size}.items():
        if not text:
            continue

        # A macro may have been given a number.
        size = parse_size(str(text))
        if not size:
            fail("""

%s: in `%s`: '%s' is no size.
  wanted: a number of bytes above 0, with K, M or G behind it for multiples of 1024
  found:  "%s"
  mend:   write it like %s = "64M", or leave it out for no limit
""" % (display(label), name, text, text, name))
        flags.append(_FLAGS[name] % size)
    return flags
