"""`plant`: one piece of device code, hidden in a program in one way; as PTX, which is refused, and as a cubin."""

load("@bazel_skylib//rules:run_binary.bzl", "run_binary")
load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_import", "cc_library", "cc_shared_library")
load("@rules_rust//rust:defs.bzl", "rust_library")
load("//rules:defs.bzl", "offload_binary")
load("//tests/failures:failed_action.bzl", "failed_action")

_IMAGES = ":images"

def _program(name, srcs, deps = [], **kwargs):
    cc_binary(
        name = name + ".host",
        testonly = True,
        srcs = srcs,
        tags = ["manual"],
        deps = deps + [_IMAGES],
        **kwargs
    )
    return ":%s.host" % name

def _library(name, source, alwayslink = True):
    cc_library(
        name = name + ".cc",
        testonly = True,
        srcs = [source],
        alwayslink = alwayslink,
        tags = ["manual"],
    )
    return ":%s.cc" % name

def _crate(name, suffix, crate_name, src, deps = [], data = None):
    rust_library(
        name = name + suffix,
        testonly = True,
        srcs = [src],
        compile_data = [data] if data else [],
        crate_name = crate_name,
        edition = "2021",
        rustc_env = _planted(data) if data else {},
        tags = ["manual"],
        deps = deps,
    )
    return ":%s%s" % (name, suffix)

def _planted(data):
    return {"PLANTED": "$(execpath %s)" % data}

# How device code gets into a program: each makes the program, and gives what `offload_binary` has of it and the
# target that brings the code.

def _archive(name, source):
    return dict(binary = _program(name, ["host.c"], [_library(name, source)])), name + ".cc"

def _member(name, source):
    """A member of an archive that is linked since the program refers to it."""
    return dict(binary = _program(name, ["refers.c"], [_library(name, source, alwayslink = False)])), name + ".cc"

def _below(name, source):
    cc_library(
        name = name + ".around",
        testonly = True,
        tags = ["manual"],
        deps = [_library(name, source)],
    )
    return dict(binary = _program(name, ["host.c"], [":%s.around" % name])), name + ".cc"

def _object_of(name, source):
    native.filegroup(
        name = name + ".object",
        testonly = True,
        srcs = [_library(name, source)],
        output_group = "compilation_outputs",
        tags = ["manual"],
    )
    return ":%s.object" % name

def _object(name, source):
    return dict(binary = _program(name, ["host.c", _object_of(name, source)])), name + ".cc"

def _linker_input(name, source):
    object = _object_of(name, source)
    program = _program(
        name,
        ["host.c"],
        additional_linker_inputs = [object],
        linkopts = ["$(execpath %s)" % object],
    )
    return dict(binary = program), name + ".cc"

def _own(name, source):
    return dict(binary = _program(name, ["host.c", source])), name + ".host"

def _shared_library(name, source):
    library = "lib%s.so" % name.replace(".", "_")
    cc_binary(
        name = library,
        testonly = True,
        srcs = [source],
        linkshared = True,
        tags = ["manual"],
    )
    return library

def _loaded(name, source):
    cc_import(
        name = name + ".import",
        testonly = True,
        shared_library = ":" + _shared_library(name, source),
        tags = ["manual"],
    )
    return dict(binary = _program(name, ["host.c"], [":%s.import" % name])), name + ".import"

def _loaded_source(name, source):
    library = _shared_library(name, source)
    return dict(binary = _program(name, ["host.c", ":" + library])), library

def _loaded_data(name, source):
    """What a program opens by itself; and what is called so and is none."""
    library = _shared_library(name, source)
    return dict(binary = _program(name, ["host.c"], data = [":" + library, "libscript.so"])), library

def _loaded_own_data(name, source):
    """The same, said of the verified program."""
    library = _shared_library(name, source)
    return dict(binary = _program(name, ["host.c"]), data = [":" + library]), library

def _dynamic(name, source):
    """A library of which the linker has the choice of an archive, and takes the other."""
    library = _library(name, source, alwayslink = False)
    return dict(binary = _program(name, ["host.c"], [library], linkstatic = False)), name + ".cc"

def _cc_shared(name, source):
    library = _library(name, source)
    cc_shared_library(
        name = name + ".shared",
        testonly = True,
        tags = ["manual"],
        deps = [library],
    )
    program = _program(name, ["host.c"], [library], dynamic_deps = [":%s.shared" % name])
    return dict(binary = program), name + ".cc"

def _of_crate(name, source):
    return dict(
        srcs = ["program.rs"],
        deps = [_crate(name, ".crate", "brings", "crate.rs", data = source)],
    ), name + ".crate"

def _below_crate(name, source):
    inner = _crate(name, ".crate", "planted_crate", "crate.rs", data = source)
    return dict(
        srcs = ["program.rs"],
        deps = [_crate(name, ".around", "brings", "around.rs", deps = [inner])],
    ), name + ".crate"

def _library_of_crate(name, source):
    return dict(
        srcs = ["program.rs"],
        deps = [_crate(name, ".around", "brings", "around_cc.rs", deps = [_library(name, source, alwayslink = False)])],
    ), name + ".cc"

def _own_crate(name, source):
    return dict(
        srcs = ["own.rs"],
        compile_data = [source],
        rustc_env = _planted(source),
    ), None

_ROUTES = {
    "archive": _archive,
    "below": _below,
    "below_crate": _below_crate,
    "cc_shared": _cc_shared,
    "crate": _of_crate,
    "dynamic": _dynamic,
    "library_of_crate": _library_of_crate,
    "linker_input": _linker_input,
    "loaded": _loaded,
    "loaded_data": _loaded_data,
    "loaded_own_data": _loaded_own_data,
    "loaded_source": _loaded_source,
    "member": _member,
    "object": _object,
    "own": _own,
    "own_crate": _own_crate,
}

def _plant_one(name, kind, container, packing, section, route):
    full = "%s.%s" % (name, kind)
    source = full + (".bin" if section == "-" else ".s")
    run_binary(
        name = full + ".source",
        testonly = True,
        srcs = [
            "//tools/image:tests/data/sm_90.new.cubin",
            "//tools/image:tests/data/tiny.ptx",
        ],
        outs = [source],
        args = [
            container,
            packing,
            kind,
            section,
            "$(execpath //tools/image:tests/data/tiny.ptx)",
            "$(execpath //tools/image:tests/data/sm_90.new.cubin)",
            "$(execpath %s)" % source,
        ],
        tags = ["manual"],
        tool = ":plant",
    )
    made, origin = _ROUTES[route](full, source)
    offload_binary(
        name = full,
        testonly = True,
        images = _IMAGES,
        tags = ["manual"],
        **made
    )
    return origin

def plant(name, container, packing, section, route):
    """Hides device code in two programs that forbid PTX: `NAME.ptx`, which is refused, and `NAME.cubin`.

    Args:
      name: a unique name.
      container: what it is in: see plant.rs.
      packing: how it is compressed: `none`, `zstd`, `lz4` or `zlib`.
      section: the section of the program; `-` for data of a crate.
      route: how it gets there: a key of _ROUTES.

    Returns:
      the name of the target that brings the PTX; `None` where that is the program.
    """
    origin = _plant_one(name, "ptx", container, packing, section, route)
    _plant_one(name, "cubin", container, packing, section, route)
    failed_action(
        name = name + ".refused",
        testonly = True,
        mnemonic = "OffloadVerify",
        target = "//tests/plants:%s.ptx" % name,
    )
    native.filegroup(
        name = name + ".verified",
        testonly = True,
        srcs = [":%s.cubin" % name],
        output_group = "_validation",
    )
    return origin
