"""What a program was linked from, so that an image can be told by the target that brought it."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("@rules_rust//rust:rust_common.bzl", "DepInfo")

OriginsInfo = provider(
    doc = "What a program was linked from.",
    fields = {
        "linked": "list of struct (label: Label, file: File): what the linker was given: archives, objects, crates, libraries among the sources.",
        "loaded": "list of struct (label: Label, file: File): shared libraries that the program may load.",
    },
)

def _of_linker_inputs(linker_inputs):
    """What is linked, and the owner of each shared library: of those that are archives too, the linker takes one."""
    linked, owners = [], {}
    for linker_input in linker_inputs:
        for library in linker_input.libraries:
            archive = library.pic_static_library or library.static_library
            files = [archive] if archive else library.pic_objects or library.objects or []
            linked.extend([struct(label = linker_input.owner, file = file) for file in files])
            if library.dynamic_library:
                owners[library.dynamic_library] = struct(label = linker_input.owner, alone = not files)

        # Objects that are named in linker flags.
        linked.extend([struct(label = linker_input.owner, file = file) for file in linker_input.additional_inputs])
    return linked, owners

def _is_shared_library(file):
    """Whether it is called so, a version behind the name or not."""
    return file.extension == "so" or ".so." in file.basename

def shared_libraries(targets):
    """The shared libraries that are there when a program runs that has these targets.

    Args:
      targets: list of Target.

    Returns:
      a list of struct as in OriginsInfo.
    """
    infos = [target[DefaultInfo] for target in targets]
    files = depset(transitive = [info.files for info in infos] + [info.default_runfiles.files for info in infos])
    return [struct(label = file.owner, file = file) for file in files.to_list() if _is_shared_library(file)]

def _loaded(target, owners):
    """The shared libraries that a program may load: those that are there when it runs, and those that it has to."""
    loaded = {origin.file: origin.label for origin in shared_libraries([target])}
    loaded.pop(target[DefaultInfo].files_to_run.executable, None)
    for file, owner in owners.items():
        if owner.alone or file in loaded:
            loaded[file] = owner.label

        # A Rust program links the archives, though both are there.
        if DepInfo in target and not owner.alone:
            loaded.pop(file, None)
    return [struct(label = label, file = file) for file, label in loaded.items()]

def _origins_aspect_impl(target, ctx):
    if DepInfo in target:
        linked, owners = _of_linker_inputs(target[DepInfo].transitive_noncrates.to_list())
        crates = target[DepInfo].transitive_crates.to_list()
        linked.extend([struct(label = crate.owner, file = crate.output) for crate in crates])
        return [OriginsInfo(linked = linked, loaded = _loaded(target, owners))]

    # A C++ program does not tell its dependencies; its rule does.
    deps = [dep[CcInfo].linking_context.linker_inputs for dep in getattr(ctx.rule.attr, "deps", []) if CcInfo in dep]
    linked, owners = _of_linker_inputs(depset(transitive = deps, order = "topological").to_list())
    given = getattr(ctx.rule.files, "srcs", []) + getattr(ctx.rule.files, "additional_linker_inputs", [])
    for file in given:
        if file.extension in ["a", "lo", "o"] or _is_shared_library(file):
            linked.append(struct(label = file.owner, file = file))

    # Its own sources, as they were compiled.
    objects = getattr(target[OutputGroupInfo], "compilation_outputs", depset()) if OutputGroupInfo in target else depset()
    linked.extend([struct(label = target.label, file = file) for file in objects.to_list()])
    return [OriginsInfo(linked = linked, loaded = _loaded(target, owners))]

origins_aspect = aspect(
    implementation = _origins_aspect_impl,
    doc = "Gives a program its OriginsInfo: Rust and C++ programs, of any rule with `deps`.",
)
