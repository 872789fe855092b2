"""`device_image`: an image that was built elsewhere, held against what is said of it."""

load("//rules:providers.bzl", "DeviceImageInfo", "PtxPolicyInfo")
load("//toolchains:archs.bzl", "parse_arch")
load(":check.bzl", "check_image")
load(":labels.bzl", "display")
load(":offload_cli.bzl", "OFFLOAD_CLI")
load(":policy.bzl", "POLICY_ATTRS", "admits", "attribute_origin", "resolve_policy")
load(":ptx_ceiling.bzl", "CEILING_ATTRS")

_VENDORS = {"cubin": "nvidia", "gfx": "amd", "ptx": "nvidia"}

def _device_image_impl(ctx):
    label, kind = ctx.label, ctx.attr.kind
    parsed, error = parse_arch(ctx.attr.arch)
    if error:
        fail("\n\n%s: in `arch`: %s\n" % (display(label), error))
    if parsed.row.vendor != _VENDORS[kind]:
        fail("\n\n%s: no image for %s is a %s: wanted %s\n" % (
            display(label),
            parsed.name,
            kind,
            " or ".join(["kind = \"%s\"" % known for known, vendor in _VENDORS.items() if vendor == parsed.row.vendor]),
        ))
    policy = resolve_policy(ctx, label)
    if not admits(policy.ptx, kind):
        by_itself = policy.origin == attribute_origin(ctx, label)
        fail("""

%s: %s lets no %s image in.
  wanted: an image of another kind
  found:  kind = "%s"
  mend:   have it compiled to a %s; or %s
""" % (
            display(label),
            policy.origin,
            kind,
            kind,
            "cubin" if kind == "ptx" else "ptx",
            "set ptx = \"embed\" on this target and on those that embed it" if by_itself else "build it without the flag",
        ))
    image = check_image(ctx, label, label.name, policy.ptx, kind, parsed.name, ctx.attr.kernels, ctx.file.src)
    files = depset([image.file])
    return [
        DefaultInfo(files = files),
        DeviceImageInfo(images = depset([image])),
        policy,
        OutputGroupInfo(images = files, _validation = depset([image.metadata])),
    ]

device_image = rule(
    implementation = _device_image_impl,
    doc = """Brings in one device image that was built elsewhere: by nvcc, rules_cuda or hipcc, or out of a wheel.

What is declared is held against the bytes when it is built: another kind or architecture, or a kernel
that is not there, fails the build. Containers (fatbins, bundles) are no images: `offload extract` takes
them apart.""",
    attrs = OFFLOAD_CLI | POLICY_ATTRS | CEILING_ATTRS | {
        "arch": attr.string(mandatory = True, doc = "The architecture: `sm_90`, `gfx90a:xnack-`. For PTX its `.target`."),
        "kernels": attr.string_list(doc = "Kernels that it must export; in any case it must export one."),
        "kind": attr.string(mandatory = True, values = _VENDORS.keys(), doc = "`cubin`, `gfx` (an AMD code object) or `ptx`."),
        "src": attr.label(mandatory = True, allow_single_file = True, doc = "The image."),
    },
    provides = [DeviceImageInfo, PtxPolicyInfo],
)
