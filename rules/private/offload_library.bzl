"""`offload_library`: device images packed and made linkable."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//rules:providers.bzl", "DeviceImageInfo", "PtxPolicyInfo")
load(":coverage.bzl", "COVERAGE_ATTRS", "required_archs")
load(":labels.bzl", "display")
load(":offload_cli.bzl", "OFFLOAD_CLI", "run_offload")
load(":policy.bzl", "POLICY_ATTRS", "check_admitted", "check_together", "resolve_policy")
load(":ptx_ceiling.bzl", "CEILING_ATTRS", "ceiling_args")
load(":sizes.bzl", "SIZE_ATTRS", "size_flags")

def _pack(ctx, policy, images):
    """All images in one LLVM OffloadBinary, with the policy in it."""
    blob = ctx.actions.declare_file(ctx.label.name + ".offload")
    args = ctx.actions.args()
    args.add("--policy=" + policy.ptx)
    for image in images:
        args.add_joined(
            [image.metadata, image.file],
            format_joined = "--image=kind=%s,arch=%s,meta=%%s" % (image.kind, image.arch),
            join_with = ",file=",
        )
    run_offload(ctx, "pack", ctx.label, blob, inputs = [f for image in images for f in [image.file, image.metadata]], arguments = [args], message = "Packing the images")
    return blob

def _verify(ctx, policy, rules, blob):
    """Holds the packed images against what is asked for beyond the policy."""
    report = ctx.actions.declare_file(ctx.label.name + ".verified.json")
    args = ctx.actions.args()
    args.add("--ptx=" + policy.ptx)
    args.add_all(rules)
    args.add(blob)
    run_offload(ctx, "verify", ctx.label, report, inputs = [blob], arguments = [args], message = "Verifying the images")
    return report

def _machine(ctx):
    for machine, constraint in {"x86_64": ctx.attr._x86_64, "aarch64": ctx.attr._aarch64}.items():
        if ctx.target_platform_has_constraint(constraint[platform_common.ConstraintValueInfo]):
            return machine
    fail("\n\n%s: images can be linked into programs for x86_64 and aarch64; the target platform is %s: set --platforms, or target_compatible_with on this target\n" % (display(ctx.label), ctx.fragments.platform.platform))

def _linking_context(ctx, object):
    """The object as something that any C++ or Rust target can link."""
    cc_toolchain = find_cc_toolchain(ctx)
    context, _outputs = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        cc_toolchain = cc_toolchain,
        feature_configuration = cc_common.configure_features(
            ctx = ctx,
            cc_toolchain = cc_toolchain,
            requested_features = ctx.features,
            unsupported_features = ctx.disabled_features,
        ),
        compilation_outputs = cc_common.create_compilation_outputs(
            objects = depset([object]),
            pic_objects = depset([object]),
        ),
        # Nothing calls into it: the runtime finds it by the section it adds to.
        alwayslink = True,
        disallow_dynamic_library = True,
    )
    return context

def _offload_library_impl(ctx):
    policy = resolve_policy(ctx, ctx.label)
    images = depset(transitive = [target[DeviceImageInfo].images for target in ctx.attr.images]).to_list()
    check_admitted(ctx.label, policy, ctx.attr.images)
    check_together(ctx.label, images)
    blob = _pack(ctx, policy, images)
    rules = ["--require-arch=" + arch for arch in required_archs(ctx, ctx.label)] + ceiling_args(ctx, ctx.label)
    rules += size_flags(ctx.label, ctx.attr.max_image_size, ctx.attr.max_size)
    object = ctx.actions.declare_file(ctx.label.name + ".o")
    args = ctx.actions.args()
    args.add("--machine=" + _machine(ctx))
    args.add(blob, format = "--input=%s")
    run_offload(ctx, "link", ctx.label, object, inputs = [blob], arguments = [args], message = "Wrapping the images")
    return [
        DefaultInfo(files = depset([object])),
        CcInfo(linking_context = _linking_context(ctx, object)),
        DeviceImageInfo(images = depset(images)),
        policy,
        OutputGroupInfo(
            images = depset([image.file for image in images]),
            offload = depset([blob]),
            _validation = depset([_verify(ctx, policy, rules, blob)] if rules else []),
        ),
    ]

offload_library = rule(
    implementation = _offload_library_impl,
    doc = """Packs device images into one LLVM OffloadBinary and wraps it in one relocatable object.

A host target that has it among its `deps` (C++ or Rust; `link_deps` of a Rust one from rules_rust 0.71 on) carries
the images; the runtime finds them by symbol. Output groups: `images`, `offload` (the packed images alone).""",
    attrs = OFFLOAD_CLI | POLICY_ATTRS | CEILING_ATTRS | COVERAGE_ATTRS | SIZE_ATTRS | {
        "images": attr.label_list(mandatory = True, allow_empty = False, providers = [DeviceImageInfo], doc = "Targets with device images, such as `device_cdylib`."),
        "_aarch64": attr.label(default = "@platforms//cpu:aarch64"),
        "_x86_64": attr.label(default = "@platforms//cpu:x86_64"),
    },
    fragments = ["cpp", "platform"],
    toolchains = use_cc_toolchain(),
    provides = [CcInfo, DeviceImageInfo, PtxPolicyInfo],
)
