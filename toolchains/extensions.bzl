"""The module extension `offload`: where device tools come from.

    offload = use_extension("@rules_offload//toolchains:extensions.bzl", "offload")
    offload.ptxas(version = "13.5.37")
    use_repo(offload, "offload_toolchains")
    register_toolchains("@offload_toolchains//:all")

rules_offload itself does this, so that a module that only wants the defaults writes nothing.
Registration downloads nothing: a tool is fetched by the first build that needs it.
"""

load("//toolchains/private:hub_repository.bzl", "hub_repository")
load("//toolchains/private:system_repository.bzl", "system_repository")
load("//toolchains/private:wheel_repository.bzl", "wheel_repository")
load("//toolchains/private:wheels.bzl", "ORACLES", "PTXAS", "PTXAS_VERSION")

def _ptxas_of(mctx):
    """The root module's choice wins, then that of whoever asks first."""
    tags = [tag for module in mctx.modules if module.is_root for tag in module.tags.ptxas]
    tags += [tag for module in mctx.modules if not module.is_root for tag in module.tags.ptxas]
    version = tags[0].version if tags else PTXAS_VERSION
    sha256 = tags[0].sha256 if tags else ""
    known = PTXAS.get(version)
    if not known and not sha256:
        fail("offload.ptxas(version = \"%s\"): wanted a version that is pinned here (%s), or `sha256` beside it: the hash of the wheel %s" % (
            version,
            ", ".join(PTXAS),
            PTXAS[PTXAS_VERSION].package,
        ))
    return struct(
        package = known.package if known else PTXAS[PTXAS_VERSION].package,
        version = version,
        sha256 = sha256 or known.sha256,
        lacks = known.lacks if known else [],
    )

def _offload_impl(mctx):
    ptxas = _ptxas_of(mctx)
    system_repository(name = "offload_system")
    wheel_repository(
        name = "offload_ptxas",
        package = ptxas.package,
        version = ptxas.version,
        lacks = ptxas.lacks,
        sha256 = ptxas.sha256,
        tools = ["ptxas"],
    )
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
        device_repository = "offload_system",
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

offload = module_extension(
    implementation = _offload_impl,
    tag_classes = {"ptxas": _ptxas},
)
