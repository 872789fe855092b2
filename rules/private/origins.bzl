"""What a program was linked from, so that an image can be told by the target that brought it."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("@rules_rust//rust:rust_common.bzl", "DepInfo")

OriginsInfo = provider(
    doc = "What a program was linked from.",
    fields = {
        "linked": "list of struct (label: Label, file: File): what is in the program's own file: archives, objects, crates.",
        "loaded": "list of struct (label: Label, file: File): shared libraries, which are loaded with it.",
    },
)

def _of_linker_inputs(linker_inputs):
    linked, loaded = [], []
    for linker_input in linker_inputs:
        for library in linker_input.libraries:
            archive = library.pic_static_library or library.static_library
            if archive:
                files = [archive]
            elif library.dynamic_library:
                files = []
                loaded.append(struct(label = linker_input.owner, file = library.dynamic_library))
            else:
                files = library.pic_objects or library.objects
            linked.extend([struct(label = linker_input.owner, file = file) for file in files])

        # Objects that are named in linker flags.
        linked.extend([struct(label = linker_input.owner, file = file) for file in linker_input.additional_inputs])
    return linked, loaded

def _origins_aspect_impl(target, ctx):
    if DepInfo in target:
        linked, loaded = _of_linker_inputs(target[DepInfo].transitive_noncrates.to_list())
        crates = target[DepInfo].transitive_crates.to_list()
        linked.extend([struct(label = crate.owner, file = crate.output) for crate in crates])
        return [OriginsInfo(linked = linked, loaded = loaded)]

    # A C++ program does not tell its dependencies; its rule does.
    deps = [dep[CcInfo].linking_context.linker_inputs for dep in getattr(ctx.rule.attr, "deps", []) if CcInfo in dep]
    linked, loaded = _of_linker_inputs(depset(transitive = deps, order = "topological").to_list())
    for file in getattr(ctx.rule.files, "srcs", []):
        if file.extension in ["a", "lo", "o"]:
            linked.append(struct(label = file.owner, file = file))
        elif file.extension == "so":
            loaded.append(struct(label = file.owner, file = file))

    # Its own sources, as they were compiled.
    objects = getattr(target[OutputGroupInfo], "compilation_outputs", depset()) if OutputGroupInfo in target else depset()
    linked.extend([struct(label = target.label, file = file) for file in objects.to_list()])
    return [OriginsInfo(linked = linked, loaded = loaded)]

origins_aspect = aspect(
    implementation = _origins_aspect_impl,
    doc = "Gives a program its OriginsInfo: Rust and C++ programs, of any rule with `deps`.",
)
