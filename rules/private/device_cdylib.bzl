"""`device_cdylib`: a Rust crate as linked device images, one for each architecture."""

load("@rules_rust//rust:defs.bzl", "rust_library")
load("//rules:providers.bzl", "DeviceImageInfo", "PtxPolicyInfo")
load("//toolchains:archs.bzl", "parse_arch")
load(":device_link.bzl", "LINK_SUFFIX", "device_link")
load(":flags.bzl", "check_ptxas_flags", "check_rustc_flags")
load(":for_arch.bzl", "for_arch")
load(":labels.bzl", "crate_name_of", "display")
load(":lists.bzl", "check_lists")
load(":policy.bzl", "POLICY_ATTRS", "resolve_policy")
load(":ptx_archs.bzl", "check_ptx_archs")

def _parse_archs(label, archs):
    """The archs of a target, parsed; fails with a text for the user."""
    if not archs:
        fail("\n\n%s: `archs` is empty: wanted at least one GPU architecture, for instance archs = [\"sm_90\", \"gfx90a\"]\n" % display(label))
    names = []
    for arch in archs:
        parsed, error = parse_arch(arch)
        if error:
            fail("\n\n%s: in `archs`: %s\n" % (display(label), error))
        if parsed.name in names:
            fail("\n\n%s: in `archs`: '%s' stands there twice; take one of them out\n" % (display(label), parsed.name))
        names.append(parsed.name)
    return names

def _check_policies(owner, policy, images):
    """Fails where a `select` gives the images another policy: theirs is resolved on the platform of each GPU."""
    for image in images:
        if image.policy != policy.ptx:
            fail("""

%s: `ptx` is "%s" for the image of %s, and "%s" for the target.
  wanted: one policy
  found:  a select() on what is not the same for the GPU's platform and the host's
  mend:   let `ptx` select on a flag of your own; or take the select out
""" % (display(owner), image.policy, image.arch, policy.ptx))

def _device_images_impl(ctx):
    owner = Label(ctx.attr.owner)
    _parse_archs(owner, ctx.attr.archs)
    check_ptx_archs(owner, ctx.attr.ptx, ctx.attr.ptx_archs)
    check_ptxas_flags(owner, ctx.attr.ptxas_flags)
    check_rustc_flags(owner, ctx.attr.rustc_flags)
    groups = [target[OutputGroupInfo] for target in ctx.attr.images]
    policy = resolve_policy(ctx, owner)
    images = depset(transitive = [target[DeviceImageInfo].images for target in ctx.attr.images])
    _check_policies(owner, policy, images.to_list())
    return [
        DefaultInfo(files = depset(transitive = [group.images for group in groups])),
        DeviceImageInfo(images = images),
        policy,
        OutputGroupInfo(**{
            name: depset(transitive = [getattr(group, name) for group in groups])
            for name in ["ptx", "cubin", "elf", "images", "_validation"]
        }),
    ]

_device_images = rule(
    implementation = _device_images_impl,
    doc = "The images of a `device_cdylib`.",
    attrs = POLICY_ATTRS | {
        "archs": attr.string_list(doc = "As the user wrote them."),
        "images": attr.label_list(providers = [DeviceImageInfo]),
        "owner": attr.string(mandatory = True, doc = "Label of the target to name in messages."),
        "ptx_archs": attr.string_list(doc = "As the user wrote them."),
        "ptxas_flags": attr.string_list(doc = "As the user wrote them."),
        "rustc_flags": attr.string_list(doc = "As the user wrote them."),
    },
    provides = [DeviceImageInfo, PtxPolicyInfo],
)

# Arguments are those of `device_cdylib`, which documents them.
# buildifier: disable=function-docstring-args
def declare_device_cdylib(
        name,
        owner,
        archs,
        srcs,
        crate_name,
        kernels,
        ptx,
        ptx_archs,
        max_ptx_isa,
        min_driver,
        ptxas_flags,
        rustc_flags,
        tags,
        testonly,
        visibility,
        target_compatible_with = None,
        **kwargs):
    """Declares the targets of a `device_cdylib`; messages name `owner`, the target that the user wrote."""
    owner = native.package_relative_label(owner)

    # Each architecture makes a target of its own.
    check_lists(
        display(owner),
        names = {"archs": archs, "ptx_archs": ptx_archs},
        lists = {"rustc_flags": rustc_flags, "tags": tags},
    )
    owner = str(owner)

    # What is wrong with the others `_device_images` says, when this target is asked for.
    known = {arch: parse_arch(arch)[0] for arch in archs + ptx_archs if parse_arch(arch)[0]}
    targets = {parsed.name: parsed for parsed in known.values()}
    for parsed in targets.values():
        image = "%s.%s" % (name, parsed.target_id)
        rust_library(
            name = image + ".crate",
            srcs = srcs,
            crate_name = crate_name,
            rustc_flags = ["--cfg=offload_device"] + rustc_flags,
            tags = tags + ["manual"],
            target_compatible_with = [Label("//toolchains/constraints:" + parsed.row.name)],
            testonly = testonly,
            visibility = ["//visibility:private"],
            **kwargs
        )
        device_link(
            name = image + LINK_SUFFIX,
            arch = parsed.name,
            archs = [known[arch].name for arch in archs if arch in known],
            crate = ":%s.crate" % image,
            kernels = kernels,
            max_ptx_isa = max_ptx_isa,
            min_driver = min_driver,
            owner = owner,
            ptx = ptx,
            ptx_archs = [known[arch].name for arch in ptx_archs if arch in known],
            ptxas_flags = ptxas_flags,
            tags = tags + ["manual"],
            testonly = testonly,
            visibility = ["//visibility:private"],
        )
        for_arch(
            name = image,
            arch = parsed.name,
            image = ":" + image + LINK_SUFFIX,
            tags = tags + ["manual"],
            testonly = testonly,
            visibility = visibility,
        )
    _device_images(
        name = name,
        archs = archs,
        images = [":%s.%s" % (name, parsed.target_id) for parsed in targets.values()],
        owner = owner,
        ptx = ptx,
        ptx_archs = ptx_archs,
        ptxas_flags = ptxas_flags,
        rustc_flags = rustc_flags,
        tags = tags,
        target_compatible_with = target_compatible_with,
        testonly = testonly,
        visibility = visibility,
    )

def device_cdylib(
        name,
        archs,
        srcs,
        kernels = [],
        ptx = "forbid",
        ptx_archs = [],
        max_ptx_isa = "",
        min_driver = "",
        crate_name = None,
        ptxas_flags = [],
        rustc_flags = [],
        tags = [],
        testonly = None,
        visibility = None,
        target_compatible_with = None,
        **kwargs):
    """Compiles a Rust crate for GPUs, ahead of time, once for each architecture.

    The crate is compiled as a `rust_library` on the GPU's platform, its dependencies with it, and
    linked into one image: PTX, assembled into a cubin, for NVIDIA; a code object for AMD. A kernel
    is a function that is exported: `#[no_mangle] pub unsafe extern "gpu-kernel" fn`. What
    `@rules_offload//runtime/device` gives it, beside its position in the grid, is a panic handler.
    A host program gets the images by an `offload_library` among its `deps`.

    Targets that it makes: `NAME`, all the images; `NAME.ARCH`, those for one architecture.
    Output groups: `images` (what is embedded), `cubin`, `elf` (AMD), `ptx` (whatever the policy says).

    Args:
      name: a unique name; the crate is called so too, with `_` for `-`, `.` and `/`, unless `crate_name` says otherwise.
      archs: list of GPU architectures: `sm_90`, `sm_100a`, `gfx1100`, `gfx90a:xnack+`, `gfx11-generic`.
      srcs: the Rust sources.
      kernels: names of kernels that every image must export. In any case an image must export one.
      ptx: `forbid`, `embed` or `only`: what PTX is for.
      ptx_archs: list of NVIDIA architectures to embed PTX for, each once; they need not be among `archs`. By default
        the newest of `archs` that has no letter under `embed`, for newer GPUs; all of them under `only`.
      max_ptx_isa: the newest version of the PTX ISA that the PTX may be in: `8.0`.
      min_driver: the oldest NVIDIA driver that has to compile the PTX: `535`.
      crate_name: the crate's name.
      ptxas_flags: more flags for ptxas, such as `-maxrregcount=64`; `-O3` is the default.
      rustc_flags: more flags for rustc, device code only.
      tags: as for every rule.
      testonly: as for every rule.
      visibility: as for every rule.
      target_compatible_with: constraints of the host platforms that this target is for.
      **kwargs: what a `rust_library` takes: `deps`, `proc_macro_deps`, `aliases`, `crate_root`, `crate_features`,
        `edition`, `rustc_env`, `rustc_env_files`, `compile_data`, `version`.
    """
    declare_device_cdylib(
        name = name,
        archs = archs,
        crate_name = crate_name or crate_name_of(name),
        kernels = kernels,
        max_ptx_isa = max_ptx_isa,
        min_driver = min_driver,
        owner = name,
        ptx = ptx,
        ptx_archs = ptx_archs,
        ptxas_flags = ptxas_flags,
        rustc_flags = rustc_flags,
        srcs = srcs,
        tags = tags,
        target_compatible_with = target_compatible_with,
        testonly = testonly,
        visibility = visibility,
        **kwargs
    )
