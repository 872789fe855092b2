"""The device toolchain: the tools that link device code for one GPU platform."""

load("//rules:providers.bzl", "DeviceToolchainInfo")
load("//toolchains:archs.bzl", "ARCHS", "parse_arch")

# Which tool the device linker calls, by its own option, for each vendor; and what rustc must be told.
_LINKS = {
    # rustc's flavour for nvptx64 hands bitcode to its linker; ours links, optimises and emits PTX.
    "nvidia": struct(tools = ["llvm_link", "opt", "llc"], rustc_flags = []),
    # rustc compiles with fat LTO itself. A cc flavour, for Debian's rustc asserts on a plain lld one.
    "amd": struct(tools = ["lld"], rustc_flags = ["-Clinker-flavor=gcc", "-Clink-arg=-Wl,--no-undefined"]),
}
_TRIPLES = {row.vendor: row.triple for row in ARCHS.values()}

def _device_toolchain_impl(ctx):
    arch = ":".join([ctx.attr.arch] + [f for f in ctx.attr.features_of_arch]) if ctx.attr.arch else None
    linker_args = []
    for tool in _LINKS[ctx.attr.vendor].tools:
        file = getattr(ctx.file, tool)
        if not file:
            fail("%s: linking for %s GPUs needs the attribute `%s`" % (ctx.label, ctx.attr.vendor, tool))
        linker_args.append(("--" + tool.replace("_", "-"), file))
    info = DeviceToolchainInfo(
        arch = parse_arch(arch)[0].name if arch else None,
        vendor = ctx.attr.vendor,
        triple = _TRIPLES[ctx.attr.vendor],
        linker_args = linker_args,
        rustc_flags = _LINKS[ctx.attr.vendor].rustc_flags,
        tools = depset([file for _, file in linker_args], transitive = [depset(ctx.files.tool_files)]),
    )
    return [platform_common.ToolchainInfo(device = info), info]

device_toolchain = rule(
    implementation = _device_toolchain_impl,
    doc = "Declares the tools that link device code. It is configured for the GPU's platform, so `arch` is a `select` over the arch's constraint values.",
    attrs = {
        "arch": attr.string(doc = "The name of the GPU architecture; empty on a platform that stands for all of a vendor's."),
        "features_of_arch": attr.string_list(doc = "Features in LLVM's spelling, for instance `[\"xnack+\"]`."),
        "llc": attr.label(allow_single_file = True, cfg = "exec", doc = "LLVM's llc (NVIDIA)."),
        "lld": attr.label(allow_single_file = True, cfg = "exec", doc = "LLVM's ELF linker (AMD)."),
        "llvm_link": attr.label(allow_single_file = True, cfg = "exec", doc = "LLVM's llvm-link (NVIDIA)."),
        "opt": attr.label(allow_single_file = True, cfg = "exec", doc = "LLVM's opt (NVIDIA)."),
        "tool_files": attr.label_list(allow_files = True, cfg = "exec", doc = "What the tools read at run time: shared libraries, a fingerprint of those that stay undeclared."),
        "vendor": attr.string(mandatory = True, values = _LINKS.keys(), doc = "Whose GPUs."),
    },
)
