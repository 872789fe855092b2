"""The one table of GPU architectures on the Starlark side, and the names derived from it.

A test holds it equal to the Rust table (`tools/image/src/arch_table.rs`). An *arch* is what users
write in `archs`: a name of the table, for AMD with optional features in LLVM's spelling
(`gfx90a:sramecc+:xnack-`).
"""

def _nvidia(name, sm, suffix = ""):
    return struct(name = name, vendor = "nvidia", triple = "nvptx64-nvidia-cuda", sm = sm, suffix = suffix, features = [], generic_for = [])

def _amd(name, features = [], generic_for = []):
    return struct(name = name, vendor = "amd", triple = "amdgcn-amd-amdhsa", sm = None, suffix = "", features = features, generic_for = generic_for)

def _nvidia_with_variants(sm):
    return [_nvidia("sm_%d%s" % (sm, suffix), sm, suffix) for suffix in ["", "a", "f"]]

_BOTH = ["sramecc", "xnack"]
_XNACK = ["xnack"]

_TABLE = (
    [_nvidia("sm_%d" % sm, sm) for sm in [70, 72, 75, 80, 86, 87, 88, 89, 90]] +
    [_nvidia("sm_90a", 90, "a")] +
    _nvidia_with_variants(100) +
    _nvidia_with_variants(103) +
    _nvidia_with_variants(107) +
    _nvidia_with_variants(110) +
    _nvidia_with_variants(120) +
    _nvidia_with_variants(121) +
    [
        _amd("gfx900", _XNACK),
        _amd("gfx902", _XNACK),
        _amd("gfx904", _XNACK),
        _amd("gfx906", _BOTH),
        _amd("gfx908", _BOTH),
        _amd("gfx909", _XNACK),
        _amd("gfx90a", _BOTH),
        _amd("gfx90c", _XNACK),
        _amd("gfx942", _BOTH),
        _amd("gfx950", _BOTH),
    ] +
    [_amd("gfx%d" % n, _XNACK) for n in [1010, 1011, 1012, 1013]] +
    [_amd("gfx%d" % n) for n in [1030, 1031, 1032, 1033, 1034, 1035, 1036]] +
    [_amd("gfx%d" % n) for n in [1100, 1101, 1102, 1103, 1150, 1151, 1152, 1153]] +
    [_amd("gfx%d" % n) for n in [1200, 1201]] +
    [
        _amd("gfx9-generic", _XNACK, ["gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"]),
        _amd("gfx9-4-generic", _BOTH, ["gfx942", "gfx950"]),
        _amd("gfx10-1-generic", _XNACK, ["gfx%d" % n for n in [1010, 1011, 1012, 1013]]),
        _amd("gfx10-3-generic", [], ["gfx%d" % n for n in [1030, 1031, 1032, 1033, 1034, 1035, 1036]]),
        _amd("gfx11-generic", [], ["gfx%d" % n for n in [1100, 1101, 1102, 1103, 1150, 1151, 1152, 1153]]),
        _amd("gfx12-generic", [], ["gfx1200", "gfx1201"]),
    ]
)

ARCHS = {row.name: row for row in _TABLE}

def _edit_distance(a, b):
    """The Levenshtein distance of two short strings."""
    previous = list(range(len(b) + 1))
    for i in range(len(a)):
        current = [i + 1]
        for j in range(len(b)):
            current.append(min(
                previous[j + 1] + 1,
                current[j] + 1,
                previous[j] + (0 if a[i] == b[j] else 1),
            ))
        previous = current
    return previous[-1]

def _common_start(a, b):
    """How many characters two strings start with alike."""
    length = min(len(a), len(b))
    return len([n for n in range(1, length + 1) if a[:n] == b[:n]])

def nearest_arch(name):
    """The name in the table that `name` was most likely meant to be."""
    name = name.lower()
    return sorted([(_edit_distance(name, known), -_common_start(name, known), known) for known in ARCHS])[0][2]

def parse_arch(arch):
    """Reads an arch as users write it.

    Args:
      arch: for instance `sm_90a`, `gfx1100`, `gfx90a:sramecc+:xnack-`.

    Returns:
      `(parsed, None)`, where `parsed` is a struct of

      * `name`: the arch in its canonical spelling (features in alphabetical order);
      * `row`: its row of the table;
      * `features`: a dict of feature name to `"on"` or `"off"`, only those that were named;
      * `target_id`: what may stand in target names and in file names: `gfx90a_sramecc_on_xnack_off`;

      or `(None, error)`, where `error` is a sentence for the user.
    """
    parts = arch.split(":")
    row = ARCHS.get(parts[0])
    if not row:
        return None, "'%s' is not a GPU architecture that is known here; did you mean '%s'? All of them: %s" % (
            arch,
            nearest_arch(parts[0]),
            ", ".join(ARCHS),
        )
    features = {}
    for part in parts[1:]:
        feature, mode = part[:-1], {"+": "on", "-": "off"}.get(part[-1:])
        if not mode or feature not in row.features:
            return None, "'%s' in '%s' is not a feature of %s; %s" % (
                part,
                arch,
                row.name,
                "it has " + " and ".join(["%s+ or %s-" % (f, f) for f in row.features]) if row.features else "it has none",
            )
        if feature in features:
            return None, "'%s' names the feature %s twice" % (arch, feature)
        features[feature] = mode
    features = {f: features[f] for f in sorted(features)}
    return struct(
        name = ":".join([row.name] + [f + ("+" if m == "on" else "-") for f, m in features.items()]),
        row = row,
        features = features,
        target_id = "_".join([row.name] + ["%s_%s" % item for item in features.items()]),
    ), None

def all_targets():
    """Every arch with every combination of its features.

    Returns:
      list of what `parse_arch` gives.
    """
    result = []
    for row in ARCHS.values():
        spellings = [row.name]
        for feature in row.features:
            spellings = [s + f for s in spellings for f in ["", ":%s+" % feature, ":%s-" % feature]]
        result.extend([parse_arch(spelling)[0] for spelling in spellings])
    return result
