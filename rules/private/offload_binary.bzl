"""`offload_binary`: a host program that carries its device images, and is checked once it is linked."""

load("@rules_rust//:version.bzl", _RULES_RUST = "VERSION")
load("@rules_rust//rust:defs.bzl", "rust_binary")
load(":audited_binary.bzl", "audited_binary")
load(":device_cdylib.bzl", "declare_device_cdylib")
load(":labels.bzl", "crate_name_of", "display")
load(":lists.bzl", "check_lists")
load(":offload_library.bzl", "offload_library")
load(":packed_images.bzl", "linked_images")
load(":unused.bzl", "unused")

# From 0.71 on, what is linked and is no crate has an attribute of its own.
_LINK_DEPS = "link_deps" if [int(part) for part in _RULES_RUST.split(".")[:2]] >= [0, 71] else "deps"

def _root(label, srcs):
    """The root source of a crate, where nobody names it; `None` where a `select` stands."""
    if type(srcs) != type([]):
        return None
    roots = [src for src in srcs if src == "main.rs" or src.endswith((":main.rs", "/main.rs"))] or srcs
    if len(roots) != 1:
        fail("%s: no root among `srcs`: wanted one main.rs, or one source; found %s; set `crate_root`" % (label, ", ".join(roots) or "none"))
    return roots[0]

def offload_binary(
        name,
        srcs = None,
        archs = None,
        binary = None,
        images = None,
        ptx = "forbid",
        ptx_archs = [],
        max_ptx_isa = "",
        min_driver = "",
        kernels = [],
        required_archs = [],
        audit_exceptions = {},
        max_image_size = "",
        max_size = "",
        deps = [],
        device_deps = [],
        proc_macro_deps = [],
        device_proc_macro_deps = [],
        crate_root = None,
        crate_name = None,
        crate_features = [],
        edition = None,
        ptxas_flags = [],
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
    """A program with device images, read again once it is linked.

    PTX that the policy forbids fails the build, wherever it came from: the program's own file is read, and
    the shared libraries that it loads or has among its runfiles.

    With `srcs` and `archs`, host and GPU share one source: the same crate is compiled for every architecture
    with `--cfg offload_device`, and for the host with `--cfg offload_host`. With `images` in place of
    `archs`, `srcs` are the host's alone. With `binary` in place of `srcs`, the program is one that another
    rule links, such as a `cc_binary`, with the `offload_library` that `images` names among its `deps`. Attributes of
    a pass that is made elsewhere are refused.

    Targets that it makes: `NAME`, the program; and of those that it is made of, `NAME.kernels`, the
    `device_cdylib`; `NAME.images`, the `offload_library`; `NAME.host`, the `rust_binary`.

    Args:
      name: a unique name; the program's file is called so.
      srcs: the Rust sources, of both passes.
      archs: list of GPU architectures, as for `device_cdylib`.
      binary: label of a program that is linked already, in place of `srcs`.
      images: label of the `offload_library` of the program, in place of `archs`.
      ptx: `forbid`, `embed` or `only`. Images that were built under a stricter policy keep theirs.
      ptx_archs: list of NVIDIA architectures to embed PTX for, as for `device_cdylib`.
      max_ptx_isa: the newest version of the PTX ISA that PTX in the program may be in: `8.0`.
      min_driver: the oldest NVIDIA driver that has to compile it: `535`.
      kernels: names of kernels that every image must export.
      required_archs: GPUs that every kernel in the linked program must run on without a compiler, those of other
        libraries in it as well; the flag `//rules/settings:required_archs` may ask for more.
      audit_exceptions: dict of label to text: dependencies of any depth whose images may breach the policy, and why.
        The reason is printed when the program is verified, and kept in the report.
      max_image_size: how large one image in the linked program may be, as stored, those of other libraries in it as well:
        bytes, or with `K`, `M` or `G` behind the number multiples of 1024, as in `64M`. No limit if empty.
      max_size: how large all images in it together may be, likewise.
      deps: dependencies of the host pass, such as `@rules_offload//runtime`.
      device_deps: dependencies of the device pass, such as `@rules_offload//runtime/device`.
      proc_macro_deps: procedural macros of the host pass.
      device_proc_macro_deps: procedural macros of the device pass.
      crate_root: the root source; by default `main.rs`, or the only source.
      crate_name: the crate's name; by default `name` with `_` for `-`, `.` and `/`.
      crate_features: features of both passes.
      edition: the Rust edition of both passes, by default 2021; that of a host toolchain is not asked for, so that both are alike.
      ptxas_flags: more flags for ptxas.
      rustc_flags: more flags for rustc, of both passes.
      rustc_env: environment for rustc, of both passes.
      compile_data: files that the sources include, of both passes.
      data: files that the program reads when it runs; shared libraries among them are verified with it.
      env: the program's environment under `bazel run`.
      args: the program's arguments under `bazel run`.
      tags: as for every rule.
      testonly: as for every rule.
      visibility: as for every rule.
      target_compatible_with: constraints of the host platforms that the program is for.
      **kwargs: what else a `rust_binary` takes.
    """
    label = display(native.package_relative_label(name))
    for one, other in [({"srcs": srcs}, {"binary": binary}), ({"archs": archs}, {"images": images})]:
        (one, value), (other, its) = one.items()[0], other.items()[0]
        if (value == None) == (its == None):
            fail("%s: wanted either `%s` or `%s`; found %s" % (label, one, other, "neither" if value == None else "both"))
    check_lists(label, names = {}, lists = {"deps": deps, "rustc_flags": rustc_flags})
    unused_attributes = unused(binary, images, dict(
        compile_data = compile_data,
        crate_features = crate_features,
        crate_name = crate_name,
        crate_root = crate_root,
        deps = deps,
        device_deps = device_deps,
        device_proc_macro_deps = device_proc_macro_deps,
        edition = edition,
        env = env,
        kernels = kernels,
        proc_macro_deps = proc_macro_deps,
        ptx_archs = ptx_archs,
        ptxas_flags = ptxas_flags,
        rustc_env = rustc_env,
        rustc_flags = rustc_flags,
    ) | kwargs)
    common = dict(tags = tags, testonly = testonly)
    crate = common | ({} if srcs == None else dict(
        srcs = srcs,
        compile_data = compile_data,
        crate_features = crate_features,
        crate_name = crate_name or crate_name_of(name),
        crate_root = crate_root or _root(label, srcs),
        edition = edition or "2021",
        rustc_env = rustc_env,
    ))
    if archs != None:
        declare_device_cdylib(
            name = name + ".kernels",
            archs = archs,
            kernels = kernels,
            max_ptx_isa = max_ptx_isa,
            min_driver = min_driver,
            owner = name,
            proc_macro_deps = device_proc_macro_deps,
            ptx = ptx,
            ptx_archs = ptx_archs,
            ptxas_flags = ptxas_flags,
            rustc_flags = rustc_flags,
            deps = device_deps,
            visibility = visibility,
            **crate
        )
        images = ":%s.images" % name
        offload_library(
            name = name + ".images",
            images = [":%s.kernels" % name],
            ptx = ptx,
            visibility = visibility,
            **common
        )
    if srcs != None:
        linked_images(
            name = name + ".linked",
            images = images,
            owner = str(native.package_relative_label(name)),
            target_compatible_with = target_compatible_with,
            visibility = ["//visibility:private"],
            **common
        )
        binary = ":%s.host" % name
        linked = {"deps": deps} | kwargs
        linked[_LINK_DEPS] = linked.get(_LINK_DEPS, []) + [":%s.linked" % name]
        rust_binary(
            name = name + ".host",
            data = data,
            env = env,
            proc_macro_deps = proc_macro_deps,
            rustc_flags = ["--cfg=offload_host"] + rustc_flags,
            visibility = ["//visibility:private"],
            target_compatible_with = target_compatible_with,
            **(crate | linked)
        )
    audited_binary(
        name = name,
        args = args,
        audit_exceptions = audit_exceptions,
        binary = binary,
        data = data,
        images = images,
        max_image_size = max_image_size,
        max_ptx_isa = max_ptx_isa,
        max_size = max_size,
        min_driver = min_driver,
        ptx = ptx,
        required_archs = required_archs,
        target_compatible_with = target_compatible_with,
        unused = unused_attributes,
        visibility = visibility,
        **common
    )
