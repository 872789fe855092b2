"""The module extension `offload`: where device tools come from.

    offload = use_extension("@rules_offload//toolchains:extensions.bzl", "offload")
    offload.ptxas(version = "13.5.37")
    use_repo(offload, "offload_toolchains")
    register_toolchains("@offload_toolchains//:all")

rules_offload itself does this, so that a module that only wants the defaults writes nothing: ptxas out of
NVIDIA's wheel, and the rustc, rust-src and LLVM of the machine. In their place, `offload.rust` takes Rust's
release archives, and `offload.ptxas_redist` NVIDIA's; all of it pinned. The root module's choice wins.
Registration downloads nothing: a tool is fetched by the first build that needs it.
"""

load("//toolchains/private:hub_repository.bzl", "hub_repository")
load("//toolchains/private:redist_repository.bzl", "redist_repository")
load("//toolchains/private:rust_dist_repository.bzl", "rust_dist_repository")
load("//toolchains/private:system_repository.bzl", "system_repository")
load("//toolchains/private:wheel_repository.bzl", "wheel_repository")
load("//toolchains/private:wheels.bzl", "LACKS", "ORACLES", "PTXAS", "PTXAS_VERSION")

def _modules(mctx):
    """The root module first: its choice wins, then that of whoever asks first."""
    return [module for module in mctx.modules if module.is_root] + [module for module in mctx.modules if not module.is_root]

def _assembler(mctx):
    """Declares the repository of the assembler."""
    for module in _modules(mctx):
        for redist in module.tags.ptxas_redist:
            redist_repository(
                name = "offload_ptxas",
                lacks = redist.lacks or LACKS.get(redist.release.split(".")[0], []),
                release = redist.release,
                sha256 = redist.sha256,
                urls = redist.urls,
            )
            return
        for tag in module.tags.ptxas:
            _wheel(tag.version, tag.sha256)
            return
    _wheel(PTXAS_VERSION, "")

def _wheel(version, sha256):
    known = PTXAS.get(version)
    if not known and not sha256:
        fail("offload.ptxas(version = \"%s\"): wanted a version that is pinned here (%s), or `sha256` beside it: the hash of the wheel %s" % (
            version,
            ", ".join(PTXAS),
            PTXAS[PTXAS_VERSION].package,
        ))
    wheel_repository(
        name = "offload_ptxas",
        package = known.package if known else PTXAS[PTXAS_VERSION].package,
        version = version,
        lacks = known.lacks if known else LACKS.get(version.split(".")[0], []),
        sha256 = sha256 or known.sha256,
        tools = ["ptxas"],
    )

def _device_tools(mctx):
    """Declares the repository of the device tools, and gives its name."""
    system_repository(name = "offload_system")
    for module in _modules(mctx):
        for rust in module.tags.rust:
            rust_dist_repository(
                name = "offload_rust",
                sha256s = rust.sha256s,
                triple = "x86_64-unknown-linux-gnu",
                urls = rust.urls,
                version = rust.version,
            )
            return "offload_rust"
    return "offload_system"

def _offload_impl(mctx):
    _assembler(mctx)
    for tool, wheel in ORACLES.items():
        wheel_repository(
            name = "offload_" + tool,
            package = wheel.package,
            version = wheel.version,
            sha256 = wheel.sha256,
            tools = [tool],
        )
    hub_repository(
        name = "offload_toolchains",
        assembler_repository = "offload_ptxas",
        device_repository = _device_tools(mctx),
    )

    # It follows from the tags alone, so no lock file has to keep it.
    return mctx.extension_metadata(reproducible = True)

_ptxas = tag_class(
    doc = "Which ptxas assembles PTX into cubins.",
    attrs = {
        "sha256": attr.string(doc = "The sha256 of its wheel; needed for versions that are not pinned here."),
        "version": attr.string(mandatory = True, doc = "The version of NVIDIA's wheel."),
    },
)

_ptxas_redist = tag_class(
    doc = "The same, out of NVIDIA's redistributable archives.",
    attrs = {
        "lacks": attr.string_list(doc = "Architectures that it does not assemble for; by default those that all ptxas of its major version lack."),
        "release": attr.string(mandatory = True, doc = "The CUDA release: `13.0.0`."),
        "sha256": attr.string(mandatory = True, doc = "The sha256 of its index, `redistrib_RELEASE.json`, which has those of the archives."),
        "urls": attr.string_list(
            default = ["https://developer.download.nvidia.com/compute/cuda/redist/{}"],
            doc = "Where index and archives are; `{}` stands for the path. Several are tried in turn.",
        ),
    },
)

_rust = tag_class(
    doc = "Device tools out of Rust's release archives, in place of those of the machine.",
    attrs = {
        "sha256s": attr.string_dict(
            mandatory = True,
            doc = "The sha256 of each archive, by its name without an extension: `rustc-1.97.1-x86_64-unknown-linux-gnu`, `rust-std-...` and `llvm-tools-...` likewise, `rust-src-1.97.1`. Where that of `rust-std-1.97.1-nvptx64-nvidia-cuda` is there too, `core` is not compiled for NVIDIA's GPUs; `cargo`, `clippy` and `rustfmt` are of use to host toolchains.",
        ),
        "urls": attr.string_list(
            default = ["https://static.rust-lang.org/dist/{}.tar.xz"],
            doc = "Where archives are; `{}` stands for the name. Several are tried in turn.",
        ),
        "version": attr.string(mandatory = True, doc = "`1.97.1`, or `nightly/2026-11-01`."),
    },
)

offload = module_extension(
    implementation = _offload_impl,
    tag_classes = {
        "ptxas": _ptxas,
        "ptxas_redist": _ptxas_redist,
        "rust": _rust,
    },
)
