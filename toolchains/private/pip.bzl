"""Fetching a wheel by pip: by name and version, and checked by sha256."""

WHEEL_ATTRS = {
    "package": attr.string(mandatory = True, doc = "The wheel's name."),
    "sha256": attr.string(mandatory = True, doc = "Its sha256."),
    "version": attr.string(mandatory = True, doc = "Its version."),
}

PIP_ENVIRON = ["OFFLOAD_PYTHON", "PATH", "PIP_CERT", "PIP_CONFIG_FILE", "PIP_INDEX_URL"]

def requirement(rctx):
    return "%s==%s" % (rctx.attr.package, rctx.attr.version)

def _flags_of_tag(tag):
    """pip's words for `cp311-cp311-manylinux_2_27_x86_64`."""
    if not tag:
        return []
    python, abi, platform = tag.split("-")
    return [
        "--implementation=" + python[:2],
        "--python-version=" + python[2:],
        "--abi=" + abi,
        "--platform=" + platform,
    ]

def pip_download(rctx, mend, tag = ""):
    """Fetches the wheel that the attributes name.

    Args:
      rctx: the context of a repository rule with WHEEL_ATTRS and PIP_ENVIRON.
      mend: what else to do where it fails, for people.
      tag: the wheel's compatibility tag, where it is not for the Python that runs pip.

    Returns:
      path of the wheel.
    """
    python = rctx.os.environ.get("OFFLOAD_PYTHON", "") or "python3"
    python = python if python.startswith("/") else rctx.which(python)
    wanted = requirement(rctx)
    if not python:
        fail("rules_offload: %s is fetched by pip, and there is no python3 on PATH; install Python 3 with pip, or set OFFLOAD_PYTHON" % wanted)
    if len(rctx.attr.sha256) != 64:
        fail("rules_offload: %s: wanted the 64 hexadecimal digits of the wheel's sha256, found '%s'" % (wanted, rctx.attr.sha256))
    rctx.file("requirements.txt", "%s --hash=sha256:%s\n" % (wanted, rctx.attr.sha256))
    rctx.report_progress("pip download " + wanted)
    result = rctx.execute(
        [
            python,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-cache-dir",
            "--no-deps",
            "--only-binary=:all:",
            "--require-hashes",
            "--requirement=requirements.txt",
            "--dest=wheel",
        ] + _flags_of_tag(tag),
        timeout = 1200,
    )
    if result.return_code:
        fail("""

rules_offload: pip could not fetch %s with sha256 %s.
  pip said: %s
  mend:     check that pip works on this machine (%s -m pip --version) and reaches its index;
            %s
""" % (wanted, rctx.attr.sha256, result.stderr.strip() or result.stdout.strip(), python, mend))
    return [f for f in rctx.path("wheel").readdir() if f.basename.endswith(".whl")][0]

def extract_wheel(rctx, wheel, output):
    # Bazel tells an archive's type by its name.
    rctx.symlink(wheel, "wheel.zip")
    rctx.extract("wheel.zip", output = output)
    rctx.delete("wheel.zip")
