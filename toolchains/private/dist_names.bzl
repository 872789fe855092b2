"""How Rust's release archives are called, and which of them make up a device toolchain."""

# Name, the folder inside; what a device toolchain cannot do without, and what is used where its hash is given.
_REQUIRED = {
    "llvm-tools": "llvm-tools-preview",
    "rust-src": "rust-src",
    "rust-std": "rust-std-{triple}",
    "rustc": "rustc",
}
_OPTIONAL = {
    "cargo": "cargo",
    "clippy": "clippy-preview",
    "rustfmt": "rustfmt-preview",
}

# Targets for which Rust has compiled the standard library already.
_PREBUILT = ["nvptx64-nvidia-cuda"]

def archives(version, triple, sha256s):
    """The archives of a release, of which each has its hash; fails where a hash is missing or of no archive.

    Args:
      version: `1.97.1`, or `nightly/2026-11-01`.
      triple: the machine that the tools run on.
      sha256s: dict of archive to sha256.

    Returns:
      a list of struct (path: str, as in a URL; name: str, of the folder in it; folder: str, the folder in that).
    """
    channel, _, date = version.partition("/")
    prefix = date + "/" if date else ""

    def archive(component, suffix, folder):
        name = "-".join([component, channel] + ([suffix] if suffix else []))
        return struct(path = prefix + name, name = name, folder = folder)

    required = [
        archive(component, "" if component == "rust-src" else triple, folder.replace("{triple}", triple))
        for component, folder in _REQUIRED.items()
    ]
    optional = [archive(component, triple, folder) for component, folder in _OPTIONAL.items()]
    optional += [archive("rust-std", target, "rust-std-" + target) for target in _PREBUILT]
    where = "offload.rust(version = \"%s\")" % version
    for wanted in required:
        if wanted.path not in sha256s:
            fail("""

%s: `sha256s` has no hash of %s.
  wanted: one for each of %s; and for %s, where they are to be used
  found:  %s
  mend:   Rust's server has each beside the archive, as URL.sha256
""" % (
                where,
                wanted.path,
                ", ".join([known.path for known in required]),
                ", ".join([known.path for known in optional]),
                ", ".join(sorted(sha256s)) or "none",
            ))
    known = [found.path for found in required + optional]
    for path, sha256 in sha256s.items():
        if path not in known:
            fail("\n\n%s: `sha256s` has '%s', which is no archive of this release: wanted some of %s\n" % (where, path, ", ".join(known)))
        if len(sha256) != 64:
            fail("\n\n%s: in `sha256s`: wanted the 64 hexadecimal digits of the sha256 of %s, found '%s'\n" % (where, path, sha256))
    return [found for found in required + optional if found.path in sha256s]
