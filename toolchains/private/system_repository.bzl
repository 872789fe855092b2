"""The "system" source of device tools: the rustc, rust-src and LLVM that are installed on this machine.

Nothing is downloaded. Tools are linked to where they are installed; the shared libraries that they
load from there cannot be declared one by one, so their hashes stand in a file that every action
reads: an upgraded library changes the action keys.
"""

_BUILD = """\
load("{declare}", "declare_device_toolchains", "declare_host_rust_toolchain", "declare_rust_src")

package(default_visibility = ["//visibility:public"])

# The tools and LLVM's readers, and what actions depend on: for tests.
exports_files(["fingerprint"] + glob(["bin/*"]))

declare_rust_src("library")

filegroup(
    name = "host_std",
    srcs = glob(["host_std/*.rlib", "host_std/*.rmeta", "host_std/*.so"], allow_empty = True),
)

declare_device_toolchains(
    exec_triple = "{triple}",
    llvm = {{
        "llc": "bin/llc",
        "lld": "bin/ld.lld",
        "llvm_link": "bin/llvm-link",
        "opt": "bin/opt",
    }},
    llvm_files = ["fingerprint"],
    rust_src = [":rust_src"],
    rustc = "bin/rustc",
    rustc_lib = ["fingerprint"],
    rustdoc = "bin/rustdoc",
)

declare_host_rust_toolchain(
    name = "host_rust_toolchain",
    cargo = "bin/cargo",
    clippy_driver = "bin/clippy-driver",
    rust_std = [":host_std"],
    rustc = "bin/rustc",
    rustc_lib = ["fingerprint"],
    rustdoc = "bin/rustdoc",
    rustfmt = "bin/rustfmt",
    triple = "{triple}",
)
"""

# What tests read artefacts with; nothing is built with them.
_ORACLES = ["llvm-objcopy", "llvm-objdump", "llvm-offload-binary", "llvm-readelf", "llvm-strip"]

_NO_ORACLE = """\
#!/bin/sh
echo "{name} is not installed beside {llvm_link}; a test needs it" >&2
exit 127
"""

def _fail(wanted, where, mend):
    fail("""

rules_offload: the system's device toolchain is not complete.
  wanted: %s
  looked: %s
  mend:   %s
""" % (wanted, where, mend))

def _find_rustc(rctx):
    name = rctx.os.environ.get("OFFLOAD_RUSTC", "") or "rustc"
    rustc = rctx.path(name) if name.startswith("/") else rctx.which(name)
    if not rustc or not rustc.exists:
        _fail(
            "rustc",
            name if name.startswith("/") else "'%s' on PATH" % name,
            "install Rust (Debian: rustc rust-src; rustup: a toolchain with the components rust-src and llvm-tools), or set OFFLOAD_RUSTC to the path of a rustc",
        )
    verbose = rctx.execute([rustc, "-vV"])
    sysroot = rctx.execute([rustc, "--print=sysroot"])
    if verbose.return_code or sysroot.return_code:
        _fail("a rustc that runs", "%s -vV" % rustc, "it said: " + verbose.stderr + sysroot.stderr)
    facts = dict([line.split(": ", 1) for line in verbose.stdout.strip().split("\n") if ": " in line])
    sysroot = rctx.path(sysroot.stdout.strip())
    own = sysroot.get_child("bin").get_child("rustc")
    return struct(
        # Behind rustup's proxy stands the real one.
        path = own if own.exists else rustc,
        sysroot = sysroot,
        host = facts["host"],
        release = facts["release"],
        llvm = facts["LLVM version"],
    )

def _find_llvm(rctx, rustc):
    """The folder with llvm-link, opt and llc of rustc's own LLVM, and the ELF linker."""
    major = rustc.llvm.split(".")[0]
    chosen = rctx.os.environ.get("OFFLOAD_LLVM_BIN", "")
    folders = [chosen] if chosen else [
        "%s/lib/rustlib/%s/bin" % (rustc.sysroot, rustc.host),
        "/usr/lib/llvm-%s/bin" % major,
        "/opt/llvm-%s/bin" % major,
    ]
    for folder in folders:
        folder = rctx.path(folder)
        tools = {name: folder.get_child(name) for name in ["llvm-link", "opt", "llc"]}
        for name in ["ld.lld", "rust-lld", "gcc-ld/ld.lld"]:
            lld = rctx.path("%s/%s" % (folder, name))
            if lld.exists:
                tools["ld.lld"] = lld
                break
        if len(tools) == 4 and all([tool.exists for tool in tools.values()]):
            return tools
    return _fail(
        "llvm-link, opt, llc and ld.lld of LLVM %s, the one that rustc %s has" % (major, rustc.release),
        ", ".join(folders),
        "install them (Debian: llvm-%s lld-%s; rustup: rustup component add llvm-tools), or set OFFLOAD_LLVM_BIN to their folder" % (major, major),
    )

def _ask(rctx, command, wanted):
    result = rctx.execute(command)
    if result.return_code:
        _fail(wanted, " ".join([str(word) for word in command]), "it said: %s%s" % (result.stdout, result.stderr))
    return result.stdout

def _libraries_of(rctx, tool):
    """The shared libraries that a program loads, by ldd's account."""
    result = rctx.execute(["ldd", tool])
    said = result.stdout + result.stderr
    if result.return_code and "not a dynamic executable" not in said:
        _fail("the shared libraries that %s loads" % tool, "ldd " + str(tool), "install ldd (Debian: libc-bin); it said: " + said)
    words = result.stdout.replace("\t", " ").replace("\n", " ").split(" ")
    return [word for word in words if word.startswith("/")]

def _fingerprint(rctx, tools):
    """Hashes of the tools and of every shared library that they load."""
    files = {}
    for tool in tools:
        for path in [str(tool)] + _libraries_of(rctx, tool):
            files[str(rctx.path(path).realpath)] = None
    hashes = _ask(rctx, ["sha256sum", "--"] + sorted(files), "hashes of the tools and of the libraries that they load")
    for file in files:
        rctx.watch(file)
    return hashes

def _system_repository_impl(rctx):
    if rctx.os.name != "linux":
        _fail("a Linux machine", rctx.os.name, "build with remote execution on Linux workers")
    rustc = _find_rustc(rctx)
    library = rustc.sysroot.get_child("lib").get_child("rustlib").get_child("src").get_child("rust").get_child("library")
    if not library.exists:
        _fail(
            "the sources of rustc %s's standard library" % rustc.release,
            library,
            "install them (Debian: rust-src; rustup: rustup component add rust-src)",
        )
    tools = _find_llvm(rctx, rustc)
    bin = rustc.sysroot.get_child("bin")
    tools["rustc"] = rustc.path
    for name in ["rustdoc", "cargo", "clippy-driver", "rustfmt"]:
        # rules_rust wants each of them named; only rustc is sure to be called.
        tool = bin.get_child(name)
        tools[name] = tool if tool.exists else rustc.path
    for name, path in tools.items():
        rctx.symlink(path.realpath, "bin/" + name)
    for name in _ORACLES:
        tool = tools["llvm-link"].dirname.get_child(name)
        if tool.exists:
            rctx.symlink(tool.realpath, "bin/" + name)
        else:
            rctx.file("bin/" + name, _NO_ORACLE.format(name = name, llvm_link = tools["llvm-link"]))
    rctx.symlink(library, "library")
    host_std = rustc.sysroot.get_child("lib").get_child("rustlib").get_child(rustc.host).get_child("lib")
    if host_std.exists:
        rctx.symlink(host_std, "host_std")

    # No action of a Rust or GPU rule runs cargo, and what it loads for the network is upgraded often.
    called = [tool for name, tool in tools.items() if name != "cargo"]
    rctx.file("fingerprint", "rustc %s, LLVM %s\n%s" % (rustc.release, rustc.llvm, _fingerprint(rctx, called)))
    rctx.file("BUILD.bazel", _BUILD.format(
        declare = Label("//toolchains/private:declare.bzl"),
        triple = rustc.host,
    ))

system_repository = repository_rule(
    implementation = _system_repository_impl,
    doc = "Device tools of the machine that Bazel runs on.",
    local = True,
    configure = True,
    environ = ["OFFLOAD_RUSTC", "OFFLOAD_LLVM_BIN", "PATH"],
)
