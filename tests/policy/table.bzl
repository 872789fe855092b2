"""What a target's attribute `ptx` and the flag `//rules/settings:ptx` make of it together.

One table for the tests and for the page in `docs/`.
"""

# (attribute, flag): (policy, kinds of images for NVIDIA); `None` where analysis fails.
TABLE = {
    ("embed", "embed"): ("embed", ["cubin", "ptx"]),
    ("embed", "forbid"): ("forbid", ["cubin"]),
    ("embed", "only"): ("only", ["ptx"]),
    ("forbid", "embed"): ("forbid", ["cubin"]),
    ("forbid", "forbid"): ("forbid", ["cubin"]),
    ("forbid", "only"): None,
    ("only", "embed"): ("only", ["ptx"]),
    ("only", "forbid"): None,
    ("only", "only"): ("only", ["ptx"]),
}
