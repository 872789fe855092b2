"""One device image: a Rust crate and its dependencies, linked on the platform of one GPU architecture."""

load("@rules_rust//rust:rust_common.bzl", "CrateInfo", "DepInfo")
load("//rules:providers.bzl", "DeviceImageInfo")
load(":check.bzl", "check_image")
load(":labels.bzl", "display")
load(":offload_cli.bzl", "OFFLOAD_CLI")
load(":policy.bzl", "POLICY_ATTRS", "resolve_policy")
load(":ptx_archs.bzl", "image_kinds")
load(":ptx_ceiling.bzl", "CEILING_ATTRS")

_RUST = Label("@rules_rust//rust:toolchain_type")
_DEVICE = Label("//toolchains:device_toolchain_type")
_ASSEMBLER = Label("//toolchains:assembler_toolchain_type")

# The name of a `device_link` is that of the images' target and this.
LINK_SUFFIX = ".link"

def _folder(ctx):
    """Where its files go: called as the images' target is."""
    return ctx.label.name.removesuffix(LINK_SUFFIX)

def _dirname(file):
    return file.dirname

def _sysroot(rustc):
    return rustc.dirname.removesuffix("/bin")

def _link(ctx, owner, image):
    """Links the crate into a `cdylib`: PTX for NVIDIA, a code object for AMD.

    The crate itself is a `rust_library`, with all that rules_rust does for one. The root of the
    `cdylib` is a crate with nothing in it that depends on it: rustc exports every kernel of its
    dependencies.
    """
    rust = ctx.toolchains[_RUST]
    device = ctx.toolchains[_DEVICE].device
    crate = ctx.attr.crate[CrateInfo]
    root = ctx.actions.declare_file("%s/%s.rs" % (_folder(ctx), crate.name))
    ctx.actions.write(root, "#![no_std]\n#![allow(non_snake_case)]\nextern crate %s as _;\n" % crate.name)
    rlibs = depset([crate.output], transitive = [ctx.attr.crate[DepInfo].transitive_crate_outputs])

    args = ctx.actions.args()

    # The working folder gets into crate metadata; the wrapper can name it where it is known.
    args.add_all(["--subst", "pwd=${pwd}"])
    args.add("--")
    args.add(rust.rustc)
    args.add(root)
    args.add("--remap-path-prefix=${pwd}=.")
    args.add("--crate-name=%s_image" % crate.name)
    args.add_all([
        "--crate-type=cdylib",
        "--edition=2021",
        "--target=" + device.triple,
        "-Copt-level=3",
        "-Cdebuginfo=0",
        "-Cstrip=debuginfo",
    ])

    # Of files, not `rust.sysroot` and `rust.rust_std_paths`: strings are not mapped.
    args.add_all([rust.rustc], map_each = _sysroot, format_each = "--sysroot=%s")
    args.add_all(rust.rust_std, map_each = _dirname, uniquify = True, format_each = "-L%s")
    args.add_all(rust.extra_rustc_flags)
    args.add_all(device.rustc_flags)
    args.add(ctx.executable._device_linker, format = "-Clinker=%s")
    for option, tool in device.linker_args:
        args.add(tool, format = "-Clink-arg=%s=%%s" % option)
    args.add(crate.output, format = "--extern=%s=%%s" % crate.name)
    args.add_all(rlibs, map_each = _dirname, uniquify = True, format_each = "-Ldependency=%s")
    args.add(image, format = "--emit=link=%s")

    # rustc's intermediate files are called the same for each architecture: without a sandbox they would meet.
    args.add_all([image], map_each = _dirname, format_each = "--out-dir=%s")
    ctx.actions.run(
        executable = ctx.executable._process_wrapper,
        arguments = [args],
        inputs = depset([root], transitive = [rlibs, rust.all_files, device.tools]),
        tools = [ctx.attr._device_linker[DefaultInfo].files_to_run],
        outputs = [image],
        env = rust.env,
        mnemonic = "DeviceLink",
        execution_requirements = {"supports-path-mapping": "1"},
        # Where each toolchain may choose a machine to run on, the device toolchain's choice counts: it has the tools.
        toolchain = _DEVICE,
        progress_message = "Linking device crate %s for %s" % (display(owner), ctx.attr.arch),
    )

def _assemble(ctx, owner, ptx, cubin):
    toolchain = ctx.toolchains[_ASSEMBLER]
    if not toolchain or not toolchain.assembler.ptxas:
        fail("""

%s: a cubin for %s needs an assembler, and none is registered.
  wanted: a toolchain of type %s with `ptxas`
  found:  %s
  mend:   register_toolchains("@offload_toolchains//:all") in MODULE.bazel, after use_repo(offload, "offload_toolchains");
          or set ptx = "only", and the driver compiles the PTX on each machine
""" % (display(owner), ctx.attr.arch, _ASSEMBLER, "one without `ptxas`" if toolchain else "none"))
    assembler = toolchain.assembler
    if ctx.attr.arch in assembler.lacks:
        fail("""

%s: in `archs`: ptxas %s does not assemble for %s.
  mend: take it out of `archs`; or choose another version where your MODULE.bazel uses the extension `offload`:
        offload.ptxas(version = "12.9.86") is the last that knows sm_70 and sm_72
""" % (display(owner), assembler.version, ctx.attr.arch))
    args = ctx.actions.args()
    args.add("-arch=" + ctx.attr.arch)
    if not [flag for flag in ctx.attr.ptxas_flags if flag.startswith(("-O", "--opt-level"))]:
        args.add("-O3")
    args.add_all(ctx.attr.ptxas_flags)
    args.add("-o", cubin)
    args.add(ptx)
    ctx.actions.run(
        executable = assembler.ptxas,
        arguments = [args],
        inputs = depset([ptx], transitive = [assembler.tools]),
        outputs = [cubin],
        mnemonic = "DeviceAssemble",
        execution_requirements = {"supports-path-mapping": "1"},
        toolchain = _ASSEMBLER,
        progress_message = "Assembling %s for %s" % (display(owner), ctx.attr.arch),
    )

def _device_link_impl(ctx):
    owner = Label(ctx.attr.owner)
    device = ctx.toolchains[_DEVICE].device
    name = ctx.attr.crate[CrateInfo].name
    nvidia = device.vendor == "nvidia"
    linked = ctx.actions.declare_file("%s/%s.%s" % (_folder(ctx), name, "ptx" if nvidia else "elf"))
    _link(ctx, owner, linked)

    policy = resolve_policy(ctx, owner).ptx
    kinds = image_kinds(policy, ctx.attr.arch, ctx.attr.archs, ctx.attr.ptx_archs)
    files = {"ptx": linked} if nvidia else {"gfx": linked}
    if "cubin" in kinds:
        files["cubin"] = ctx.actions.declare_file("%s/%s.cubin" % (_folder(ctx), name))
        _assemble(ctx, owner, linked, files["cubin"])

    images = [check_image(ctx, owner, _folder(ctx), policy, kind, ctx.attr.arch, ctx.attr.kernels, files[kind]) for kind in kinds]
    groups = {kind: depset([file]) for kind, file in files.items()}
    return [
        DefaultInfo(files = depset([image.file for image in images])),
        DeviceImageInfo(images = depset(images)),
        OutputGroupInfo(
            ptx = groups.get("ptx", depset()),
            cubin = groups.get("cubin", depset()),
            elf = groups.get("gfx", depset()),
            images = depset([image.file for image in images]),
            _validation = depset([image.metadata for image in images]),
        ),
    ]

device_link = rule(
    implementation = _device_link_impl,
    doc = "Links one `rust_library` into a device image, on the platform of its GPU architecture. Made by `device_cdylib`.",
    attrs = OFFLOAD_CLI | POLICY_ATTRS | CEILING_ATTRS | {
        "arch": attr.string(mandatory = True, doc = "The architecture, in its canonical spelling."),
        "archs": attr.string_list(doc = "All that the `device_cdylib` has machine code for."),
        "crate": attr.label(mandatory = True, providers = [CrateInfo, DepInfo], doc = "The crate."),
        "kernels": attr.string_list(doc = "Kernels that the image must export; in any case it must export one."),
        "ptx_archs": attr.string_list(doc = "All that it has PTX for; empty where nobody says."),
        "ptxas_flags": attr.string_list(doc = "More flags for ptxas."),
        "owner": attr.string(mandatory = True, doc = "Label of the target to name in messages."),
        "_device_linker": attr.label(
            default = Label("//tools/device_linker"),
            executable = True,
            cfg = "exec",
        ),
        "_process_wrapper": attr.label(
            default = Label("@rules_rust//util/process_wrapper"),
            executable = True,
            cfg = "exec",
        ),
    },
    toolchains = [
        _RUST,
        _DEVICE,
        # Optional, for an AMD image has no use for it; where it is needed the message says more.
        config_common.toolchain_type(_ASSEMBLER, mandatory = False),
    ],
    provides = [DeviceImageInfo],
)
