"""`offload_audit_test`: holds any file against rules about the device code in it."""

load("@bazel_skylib//rules:native_binary.bzl", "native_test")
load("//toolchains:archs.bzl", "parse_arch")
load(":labels.bzl", "display")
load(":lists.bzl", "check_lists")
load(":policy.bzl", "POLICIES")
load(":sizes.bzl", "size_flags")

def offload_audit_test(
        name,
        target,
        ptx = None,
        require_archs = [],
        require_kernels = [],
        forbid_archs = [],
        max_image_size = "",
        max_size = "",
        policy = None,
        data = [],
        **kwargs):
    """A test that reads every device image in the files of a target, whoever built them.

    Programs, libraries, objects, archives, wheels, images: `docs/verify.md` says what is found in
    them, and what each rule asks. At least one rule has to be set.

    Args:
      name: a unique name.
      target: a target or a file; all of its files are read.
      ptx: `forbid`, `embed` or `only`.
      require_archs: architectures that every container must have an image for, with all its kernels.
      require_kernels: names of kernels that must be there.
      forbid_archs: architectures that no image may be for.
      max_image_size: how large one image may be, as stored: bytes, or with `K`, `M` or `G` behind the number multiples of
        1024, as in `64M`. No limit if empty.
      max_size: how large all images of one file together may be, likewise.
      policy: a file of rules and exceptions, in TOML or JSON.
      data: as for every test.
      **kwargs: what else a test takes: `size`, `tags`, `visibility`.
    """
    label = native.package_relative_label(name)
    if ptx != None and ptx not in POLICIES:
        fail("%s: `ptx` is '%s'; wanted %s" % (display(label), ptx, " or ".join(POLICIES)))
    check_lists(
        display(label),
        names = {"forbid_archs": forbid_archs, "require_archs": require_archs, "require_kernels": require_kernels},
        lists = {"data": data},
    )
    for arch in require_archs:
        _parsed, error = parse_arch(arch)
        if error:
            fail("%s: in `require_archs`: %s" % (display(label), error))
    args = ["verify", "--label=" + display(label)]
    args.extend(["--ptx=" + ptx] if ptx else [])
    args.extend(["--require-arch=" + arch for arch in require_archs])
    args.extend(["--require-kernel=" + kernel for kernel in require_kernels])
    args.extend(["--forbid-arch=" + arch for arch in forbid_archs])
    args.extend(size_flags(label, max_image_size, max_size))
    args.extend(["--policy=$(rootpath %s)" % policy] if policy else [])
    if len(args) == 2:
        fail("%s: nothing to verify; set `ptx`, another rule, or `policy`" % display(label))
    native_test(
        name = name,
        src = Label("//tools/offload"),
        out = name + ".offload",
        args = args + ["$(rootpaths %s)" % target],
        data = data + [target] + ([policy] if policy else []),
        **kwargs
    )
