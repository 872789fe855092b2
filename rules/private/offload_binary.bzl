"""`offload_binary`: a host program that carries its device images, and is checked once it is linked."""

load("@rules_rust//rust:defs.bzl", "rust_binary")
load("@rules_rust//rust:rust_common.bzl", "DepInfo")
load("//rules:providers.bzl", "DeviceImageInfo", "PtxPolicyInfo")
load(":coverage.bzl", "COVERAGE_ATTRS", "required_archs")
load(":device_cdylib.bzl", "declare_device_cdylib")
load(":labels.bzl", "crate_name_of", "display")
load(":offload_cli.bzl", "OFFLOAD_CLI", "run_offload")
load(":offload_library.bzl", "offload_library")

def _origins(binary):
    """What the program was linked from, so that an image can be told by the target that brought it.

    Args:
      binary: the Target of the program.

    Returns:
      a list of struct (label: Label, file: File).
    """
    found = []
    for linker_input in binary[DepInfo].transitive_noncrates.to_list():
        for library in linker_input.libraries:
            file = library.pic_static_library or library.static_library or library.dynamic_library
            if file:
                found.append(struct(label = linker_input.owner, file = file))
    for crate in binary[DepInfo].transitive_crates.to_list():
        found.append(struct(label = crate.owner, file = crate.output))
    return found

def _audited_binary_impl(ctx):
    policy = ctx.attr.images[PtxPolicyInfo]
    images = ctx.attr.images[DeviceImageInfo]
    packed = ctx.attr.images[OutputGroupInfo].offload
    executable = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(
        output = executable,
        target_file = ctx.executable.binary,
        is_executable = True,
    )

    # The linked file is read again: what came in through any other dependency counts too, and what was
    # packed has to be there.
    report = ctx.actions.declare_file(ctx.label.name + ".verified.json")
    args = ctx.actions.args()
    args.add("--ptx=" + policy.ptx)
    args.add_all(packed, format_each = "--require-images=%s")
    args.add_all(required_archs(ctx, ctx.label), format_each = "--require-arch=%s")
    origins = _origins(ctx.attr.binary)
    for origin in origins:
        args.add_all(["--origin", display(origin.label)])
        args.add(origin.file)
    for target, reason in ctx.attr.audit_exceptions.items():
        if not reason.strip():
            fail("\n\n%s: in `audit_exceptions`: %s has no reason: say why its images may breach the policy\n" % (display(ctx.label), display(target.label)))

        # A line of the parameter file each.
        args.add_all(["--allow", display(target.label), " ".join(reason.split("\n"))])
    args.add(ctx.executable.binary)
    run_offload(
        ctx,
        "verify",
        ctx.label,
        report,
        inputs = depset([ctx.executable.binary] + [origin.file for origin in origins], transitive = [packed]),
        arguments = [args],
        message = "Verifying the linked program",
    )
    binary = ctx.attr.binary[DefaultInfo]
    providers = [
        DefaultInfo(
            executable = executable,
            runfiles = ctx.runfiles([executable]).merge(binary.default_runfiles),
        ),
        images,
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

_audited_binary = rule(
    implementation = _audited_binary_impl,
    doc = "A linked program, held against the policy of the images it was given.",
    executable = True,
    attrs = OFFLOAD_CLI | COVERAGE_ATTRS | {
        "audit_exceptions": attr.label_keyed_string_dict(doc = "Dependencies, of any depth, whose images may breach the policy, and why."),
        "binary": attr.label(mandatory = True, executable = True, cfg = "target", doc = "The program."),
        "images": attr.label(mandatory = True, providers = [DeviceImageInfo, PtxPolicyInfo], doc = "The `offload_library` that was linked into it."),
    },
    provides = [DeviceImageInfo, PtxPolicyInfo],
)

def offload_binary(
        name,
        srcs,
        archs,
        ptx = "forbid",
        kernels = [],
        required_archs = [],
        audit_exceptions = {},
        deps = [],
        device_deps = [],
        proc_macro_deps = [],
        device_proc_macro_deps = [],
        crate_root = None,
        crate_name = None,
        crate_features = [],
        edition = "2021",
        rustc_flags = [],
        rustc_env = {},
        compile_data = [],
        data = [],
        env = {},
        args = [],
        tags = [],
        testonly = None,
        visibility = None,
        target_compatible_with = None,
        **kwargs):
    """A program in one source, for host and GPU.

    The same crate is compiled for every architecture with `--cfg offload_device`, and for the host with
    `--cfg offload_host`. The images are linked into the program, and the linked program is read again:
    PTX that the policy forbids fails the build, wherever it came from.

    Targets that it makes: `NAME`, the program; `NAME.kernels`, the `device_cdylib`; `NAME.images`, the
    `offload_library`; `NAME.host`, the `rust_binary` before it is verified.

    Args:
      name: a unique name; the program's file is called so.
      srcs: the Rust sources, of both passes.
      archs: list of GPU architectures, as for `device_cdylib`.
      ptx: `forbid`, `embed` or `only`.
      kernels: names of kernels that every image must export.
      required_archs: GPUs that every kernel in the linked program must run on without a compiler, those of other
        libraries in it as well; the flag `//rules/settings:required_archs` may ask for more.
      audit_exceptions: dict of label to text: dependencies of any depth whose images may breach the policy, and why.
        The reason is printed when the program is verified, and kept in the report.
      deps: dependencies of the host pass, such as `@rules_offload//runtime`.
      device_deps: dependencies of the device pass, such as `@rules_offload//runtime/device`.
      proc_macro_deps: procedural macros of the host pass.
      device_proc_macro_deps: procedural macros of the device pass.
      crate_root: the root source; by default `main.rs`, or the only source.
      crate_name: the crate's name; by default `name` with `_` for `-`, `.` and `/`.
      crate_features: features of both passes.
      edition: the Rust edition of both passes; the default of a host toolchain is not asked for, so that both are alike.
      rustc_flags: more flags for rustc, of both passes.
      rustc_env: environment for rustc, of both passes.
      compile_data: files that the sources include, of both passes.
      data: files that the program reads when it runs.
      env: the program's environment under `bazel run`.
      args: the program's arguments under `bazel run`.
      tags: as for every rule.
      testonly: as for every rule.
      visibility: as for every rule.
      target_compatible_with: constraints of the host platforms that the program is for.
      **kwargs: what else a `rust_binary` takes.
    """
    crate_name = crate_name or crate_name_of(name)
    if not crate_root and type(srcs) == type([]):
        roots = [src for src in srcs if src == "main.rs" or src.endswith((":main.rs", "/main.rs"))] or srcs
        if len(roots) != 1:
            fail("%s: no root among `srcs`: wanted one main.rs, or one source; found %s; set `crate_root`" % (
                native.package_relative_label(name),
                ", ".join(roots) or "none",
            ))
        crate_root = roots[0]
    both = dict(
        srcs = srcs,
        compile_data = compile_data,
        crate_features = crate_features,
        crate_name = crate_name,
        crate_root = crate_root,
        edition = edition,
        rustc_env = rustc_env,
        tags = tags,
        testonly = testonly,
    )
    declare_device_cdylib(
        name = name + ".kernels",
        archs = archs,
        kernels = kernels,
        owner = name,
        proc_macro_deps = device_proc_macro_deps,
        ptx = ptx,
        rustc_flags = rustc_flags,
        deps = device_deps,
        visibility = visibility,
        **both
    )
    offload_library(
        name = name + ".images",
        images = [":%s.kernels" % name],
        ptx = ptx,
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )
    rust_binary(
        name = name + ".host",
        data = data,
        env = env,
        proc_macro_deps = proc_macro_deps,
        rustc_flags = ["--cfg=offload_host"] + rustc_flags,
        deps = deps + [":%s.images" % name],
        visibility = ["//visibility:private"],
        target_compatible_with = target_compatible_with,
        **(both | kwargs)
    )
    _audited_binary(
        name = name,
        args = args,
        audit_exceptions = audit_exceptions,
        binary = ":%s.host" % name,
        images = ":%s.images" % name,
        required_archs = required_archs,
        tags = tags,
        target_compatible_with = target_compatible_with,
        testonly = testonly,
        visibility = visibility,
    )
