"""`linked`: a program with so many bytes of images, linked by each linker there is, and run."""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")

def _linked_impl(ctx):
    cc_toolchain = find_cc_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    variables = cc_common.create_link_variables(
        cc_toolchain = cc_toolchain,
        feature_configuration = features,
    )
    action = ACTION_NAMES.cpp_link_executable
    command = ["--", cc_common.get_tool_for_action(feature_configuration = features, action_name = action)]
    command += cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = action,
        variables = variables,
    )
    report = ctx.actions.declare_file(ctx.label.name + ".txt")
    args = ctx.actions.args()
    args.add(report)
    args.add(ctx.attr.bytes)
    args.add(ctx.executable._offload)
    tools = [ctx.file._readelf, ctx.file._strip, ctx.file._objdump]
    args.add_all(tools)
    args.add(ctx.file.program)
    for cubin, arch in ctx.attr._cubins.items():
        args.add(cubin[DefaultInfo].files.to_list()[0], format = "%%s,%s" % arch)

    # The host linker of the build, then lld in its place.
    args.add_all(command)
    args.add_all(command)
    args.add("-fuse-ld=lld")
    args.add_all([ctx.file._lld], format_each = "-B%s", map_each = _dirname)
    ctx.actions.run(
        executable = ctx.executable._link,
        arguments = [args],
        inputs = depset(
            tools + [ctx.file._lld, ctx.file.program] + ctx.files._cubins + ctx.files._fingerprint,
            transitive = [cc_toolchain.all_files],
        ),
        tools = [ctx.executable._offload],
        outputs = [report],
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        mnemonic = "LinkedBySize",
        progress_message = "Linking a program with %s bytes of images" % ctx.attr.bytes,
        toolchain = None,
    )
    return [DefaultInfo(files = depset([report]))]

def _dirname(file):
    return file.dirname

linked = rule(
    implementation = _linked_impl,
    doc = "A report of what each step said: packing, wrapping, linking, running.",
    attrs = {
        "bytes": attr.string(mandatory = True, doc = "How many bytes of images."),
        "program": attr.label(mandatory = True, allow_single_file = True, doc = "A static library with `main`."),
        "_cubins": attr.label_keyed_string_dict(
            default = {
                "//tools/image:tests/data/sm_90.new.cubin": "sm_90",
                "//tools/image:tests/data/sm_90a.new.cubin": "sm_90a",
            },
            allow_files = True,
        ),
        "_fingerprint": attr.label(default = "@offload_system//:fingerprint", allow_single_file = True),
        "_link": attr.label(default = "//tests/size:link", executable = True, cfg = "exec"),
        "_lld": attr.label(default = "@offload_system//:bin/ld.lld", allow_single_file = True),
        "_objdump": attr.label(default = "@offload_system//:bin/llvm-objdump", allow_single_file = True),
        "_offload": attr.label(default = "//tools/offload", executable = True, cfg = "exec"),
        "_readelf": attr.label(default = "@offload_system//:bin/llvm-readelf", allow_single_file = True),
        "_strip": attr.label(default = "@offload_system//:bin/llvm-strip", allow_single_file = True),
    },
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)
