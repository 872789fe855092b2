"""A linked program, read again and held against the policy: what `offload_binary` makes last."""

load("//rules:providers.bzl", "DeviceImageInfo", "PtxPolicyInfo")
load(":coverage.bzl", "COVERAGE_ATTRS", "required_archs")
load(":labels.bzl", "display")
load(":offload_cli.bzl", "OFFLOAD_CLI", "run_offload")
load(":origins.bzl", "OriginsInfo", "origins_aspect", "shared_libraries")
load(":packed_images.bzl", "PACKED_IMAGES", "packed_images")
load(":policy.bzl", "POLICY_ATTRS", "attribute_origin", "check_admitted", "resolve_policy", "with_images")
load(":ptx_ceiling.bzl", "CEILING_ATTRS", "ceiling_args")
load(":sizes.bzl", "SIZE_ATTRS", "size_flags")

def _verify(ctx, policy, packed):
    """Reads the linked file again, and the libraries that are loaded with it.

    What came in through any other dependency counts too, and what was packed has to be there.
    """
    report = ctx.actions.declare_file(ctx.label.name + ".verified.json")
    args = ctx.actions.args()
    args.add("--ptx=" + policy.ptx)
    if policy.origin != attribute_origin(ctx, ctx.label):
        args.add("--ptx-from=" + policy.origin)
    args.add_all(packed, format_each = "--require-images=%s")
    args.add_all(required_archs(ctx, ctx.label), format_each = "--require-arch=%s")
    args.add_all(ceiling_args(ctx, ctx.label))
    args.add_all(size_flags(ctx.label, ctx.attr.max_image_size, ctx.attr.max_size))
    linked = ctx.attr.binary[OriginsInfo].linked
    loaded = {origin.file: origin for origin in ctx.attr.binary[OriginsInfo].loaded + shared_libraries(ctx.attr.data)}
    for origin in linked + loaded.values():
        args.add_all(["--origin", display(origin.label)])
        args.add(origin.file)
    for target, reason in ctx.attr.audit_exceptions.items():
        if not reason.strip():
            fail("\n\n%s: in `audit_exceptions`: %s has no reason: say why its images may breach the policy\n" % (display(ctx.label), display(target.label)))

        # A line of the parameter file each.
        args.add_all(["--allow", display(target.label), " ".join(reason.split("\n"))])

    # What is called like a library may be a linker's script.
    args.add_all(loaded.keys(), format_each = "--beside=%s")
    args.add(ctx.executable.binary)
    run_offload(
        ctx,
        "verify",
        ctx.label,
        report,
        inputs = depset([ctx.executable.binary] + loaded.keys() + [origin.file for origin in linked], transitive = [packed]),
        arguments = [args],
        message = "Verifying the linked program",
    )
    return report

def _audited_binary_impl(ctx):
    if ctx.attr.unused:
        fail("\n\n%s: %s\n" % (display(ctx.label), ctx.attr.unused))
    policy = resolve_policy(ctx, ctx.label)
    check_admitted(ctx.label, policy, [ctx.attr.images])
    policy = with_images(ctx.label, policy, ctx.attr.images)
    packed = packed_images(ctx.label, ctx.attr.images)
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(
        output = executable,
        target_file = ctx.executable.binary,
        is_executable = True,
    )
    report = _verify(ctx, policy, packed)
    providers = [
        DefaultInfo(
            executable = executable,
            runfiles = ctx.runfiles([executable] + ctx.files.data).merge_all(
                [target[DefaultInfo].default_runfiles for target in [ctx.attr.binary] + ctx.attr.data],
            ),
        ),
        ctx.attr.images[DeviceImageInfo],
        policy,
        OutputGroupInfo(
            images = ctx.attr.images[OutputGroupInfo].images,
            offload = packed,
            _validation = depset([report]),
        ),
    ]
    if RunEnvironmentInfo in ctx.attr.binary:
        providers.append(ctx.attr.binary[RunEnvironmentInfo])
    return providers

audited_binary = rule(
    implementation = _audited_binary_impl,
    doc = "A linked program, held against the policy of the images it was given.",
    executable = True,
    attrs = OFFLOAD_CLI | POLICY_ATTRS | CEILING_ATTRS | COVERAGE_ATTRS | SIZE_ATTRS | {
        "audit_exceptions": attr.label_keyed_string_dict(allow_files = True, doc = "Dependencies, of any depth, whose images may breach the policy, and why."),
        "binary": attr.label(mandatory = True, executable = True, cfg = "target", aspects = [origins_aspect], doc = "The program."),
        "data": attr.label_list(allow_files = True, doc = "Files that the program reads when it runs; `args` may name them."),
        "images": PACKED_IMAGES,
        "unused": attr.string(doc = "What is wrong with attributes that nothing comes of: said where the target is asked for."),
    },
    provides = [DeviceImageInfo, PtxPolicyInfo],
)
