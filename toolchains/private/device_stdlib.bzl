"""`core`, `compiler_builtins` and `alloc` for a GPU, compiled from Rust's own sources.

For NVIDIA one set serves every SM: the objects are bitcode, and the SM is set when a device crate
is linked. For AMD functions carry the processor they were compiled for, so there is a set for each.
"""

_ANY_NVIDIA = str(Label("//toolchains/platforms:nvptx64"))

def _stdlib_transition_impl(settings, attr):
    platforms = "//command_line_option:platforms"
    return {
        "//command_line_option:compilation_mode": "opt",
        platforms: [_ANY_NVIDIA] if attr.triple.startswith("nvptx64") else settings[platforms],
    }

_stdlib_transition = transition(
    implementation = _stdlib_transition_impl,
    inputs = ["//command_line_option:platforms"],
    outputs = ["//command_line_option:platforms", "//command_line_option:compilation_mode"],
)

# In the order in which they need each other. `dir` stands below the sources' `library` folder.
_CRATES = [
    struct(name = "core", dir = "core", flags = []),
    struct(
        name = "compiler_builtins",
        dir = "compiler-builtins/compiler-builtins",
        flags = ["--cfg=feature=\"%s\"" % f for f in ["compiler-builtins", "mem", "unmangled-names", "arch"]],
    ),
    struct(name = "alloc", dir = "alloc", flags = ["--cfg=feature=\"compiler-builtins-mem\""]),
]

def _device_stdlib_impl(ctx):
    roots = {
        crate.name: [f for f in ctx.files.srcs if f.path.endswith("/library/%s/src/lib.rs" % crate.dir)]
        for crate in _CRATES
    }
    built = []
    for crate in _CRATES:
        if len(roots[crate.name]) != 1:
            fail("%s: wanted one library/%s/src/lib.rs among `srcs`, found %d; `srcs` are the files of the rust-src component" % (ctx.label, crate.dir, len(roots[crate.name])))
        root = roots[crate.name][0]
        rlib = ctx.actions.declare_file("%s/lib/rustlib/%s/lib/lib%s.rlib" % (ctx.label.name, ctx.attr.triple, crate.name))
        args = ctx.actions.args()

        # The working folder gets into crate metadata; the wrapper can name it where it is known.
        args.add_all(["--subst", "pwd=${pwd}"])
        args.add("--")
        args.add(ctx.executable.rustc)
        args.add(root)
        args.add("--remap-path-prefix=${pwd}=.")
        args.add_all([
            "--crate-name=" + crate.name,
            "--crate-type=rlib",
            "--edition=2024",
            "--target=" + ctx.attr.triple,
            "-Cpanic=abort",
            "-Copt-level=3",
            "--cap-lints=allow",
            "-Zforce-unstable-if-unmarked",
        ])
        args.add_all(crate.flags)
        args.add_all(ctx.attr.rustc_flags)

        # Locations in panic messages are the same wherever the sources lie.
        args.add("--remap-path-prefix=%s=/rust-src" % root.path.removesuffix("/%s/src/lib.rs" % crate.dir))
        args.add_all(built, map_each = _extern)
        args.add(rlib, format = "--emit=link=%s")

        # Intermediate files of one crate for several architectures must not meet.
        args.add_all([rlib], map_each = _dirname, format_each = "--out-dir=%s")
        ctx.actions.run(
            executable = ctx.executable._process_wrapper,
            arguments = [args],
            inputs = depset(ctx.files.srcs + built, transitive = [depset(ctx.files.rustc_lib)]),
            tools = [ctx.executable.rustc],
            outputs = [rlib],
            env = {"RUSTC_BOOTSTRAP": "1"},
            mnemonic = "DeviceStdlib",
            execution_requirements = {"supports-path-mapping": "1"},
            # The tools are attributes, of no toolchain.
            toolchain = None,
            progress_message = "Compiling %s for %s" % (crate.name, " ".join([ctx.attr.triple] + ctx.attr.rustc_flags)),
        )
        built.append(rlib)
    return [DefaultInfo(files = depset(built))]

def _dirname(file):
    return file.dirname

def _extern(rlib):
    return "--extern=%s=%s" % (rlib.basename.removeprefix("lib").removesuffix(".rlib"), rlib.path)

device_stdlib = rule(
    implementation = _device_stdlib_impl,
    doc = "Compiles the part of Rust's standard library that a GPU has, from the `rust-src` that belongs to this rustc.",
    cfg = _stdlib_transition,
    attrs = {
        "rustc": attr.label(executable = True, allow_single_file = True, cfg = "exec", mandatory = True),
        "rustc_flags": attr.string_list(doc = "`-Ctarget-cpu` and features, where the objects depend on them."),
        "rustc_lib": attr.label_list(allow_files = True, cfg = "exec", doc = "What rustc reads at run time."),
        "srcs": attr.label_list(allow_files = True, mandatory = True, doc = "The `library` folder of rust-src."),
        "triple": attr.string(mandatory = True),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
        "_process_wrapper": attr.label(
            default = Label("@rules_rust//util/process_wrapper"),
            executable = True,
            cfg = "exec",
        ),
    },
)
