"""Which images there are of a crate: PTX is embedded for few architectures, not beside each cubin."""

load("//toolchains:archs.bzl", "parse_arch")
load(":labels.bzl", "display")
load(":policy.bzl", "admits")

def _default_ptx_archs(policy, names):
    """Those that PTX is for where nobody says it.

    Under `only` there is nothing else. Under `embed` cubins serve the GPUs in `archs`: PTX is for newer
    ones, which compile that of the newest; one with a letter would run on its own GPU alone.
    """
    parsed = [parse_arch(name)[0] for name in names]
    nvidia = [arch for arch in parsed if arch.row.vendor == "nvidia"]
    if policy == "only":
        return [arch.name for arch in nvidia]
    newest = sorted([(not arch.row.suffix, arch.row.sm, arch.name) for arch in nvidia])
    return [name for _, _, name in newest[-1:]]

def image_kinds(policy, arch, archs, ptx_archs):
    """The kinds of images that a target has for one architecture.

    Args:
      policy: one of POLICIES.
      arch: str, the architecture in its canonical spelling.
      archs: list of str, those that the target is for, in the same spelling.
      ptx_archs: list of str, those that it wants PTX for; empty where nobody says.

    Returns:
      a list of `gfx`, `ptx` and `cubin`; empty where there is nothing to embed.
    """
    if parse_arch(arch)[0].row.vendor == "amd":
        return ["gfx"]
    with_ptx = ptx_archs or _default_ptx_archs(policy, archs)
    wanted = {
        "cubin": arch in archs,
        "ptx": arch in with_ptx,
    }
    return [kind for kind, is_wanted in wanted.items() if is_wanted and admits(policy, kind)]

def check_ptx_archs(label, own_policy, ptx_archs):
    """Fails where PTX is asked for that cannot be.

    Args:
      label: Label of the target to name in messages.
      own_policy: the attribute `ptx`: the flag of a whole build may forbid what a target has by itself.
      ptx_archs: list of str, as the user wrote them.
    """
    for arch in ptx_archs:
        parsed, error = parse_arch(arch)
        if error:
            fail("\n\n%s: in `ptx_archs`: %s\n" % (display(label), error))
        if parsed.row.vendor != "nvidia":
            fail("\n\n%s: in `ptx_archs`: there is no PTX for %s: wanted an architecture of NVIDIA, such as sm_80\n" % (display(label), arch))
    if ptx_archs and not admits(own_policy, "ptx"):
        fail("""

%s: `ptx_archs` asks for PTX that the target forbids.
  wanted: ptx = "embed" or ptx = "only", or no `ptx_archs`
  found:  ptx = "%s", ptx_archs = %s
  mend:   set ptx = "embed"; or take `ptx_archs` out
""" % (display(label), own_policy, ptx_archs))
