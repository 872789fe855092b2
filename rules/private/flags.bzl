"""Flags of device crates: those that would make other images than the target says are refused."""

load(":labels.bzl", "display")

# What each would change behind the target's back, and how it is said instead.
_RUSTC = {
    "--crate-type": ("what the crate becomes", "a device crate is always linked as a cdylib"),
    "--emit": ("what rustc writes", "the output groups of the target have the PTX, the cubins and the code objects"),
    "--target": ("the GPU", "name it in `archs`"),
    "-Cextra-filename": ("the names of outputs", "set `crate_name`"),
    "-Clink-arg": ("the device link", "it takes no options"),
    "-Clink-args": ("the device link", "it takes no options"),
    "-Clinker": ("the device link", "the device toolchain has the linker"),
    "-Clinker-flavor": ("the device link", "the device toolchain has the linker"),
    "-Ctarget-cpu": ("the GPU", "name it in `archs`"),
    "-Ctarget-feature": ("the GPU", "name features in `archs`: gfx90a:xnack+"),
    "-o": ("where rustc writes", "the names of images follow from the target's"),
    "--out-dir": ("where rustc writes", "the names of images follow from the target's"),
    "@": ("what rustc is told", "write the flags here"),
}

_PTXAS = {
    "--compile-only": ("the cubin into one that is still to be linked", "images are linked as they are"),
    "--gpu-name": ("the GPU", "name it in `archs`"),
    "--input-as-string": ("the PTX", "it is the crate's"),
    "--machine": ("the address size", "it is 64 bits"),
    "--options-file": ("what ptxas is told", "write the options here"),
    "--output-file": ("where ptxas writes", "the names of images follow from the target's"),
}

# ptxas has a short name for each; the last of two counts.
_PTXAS_SHORT = {
    "-arch": "--gpu-name",
    "-c": "--compile-only",
    "-ias": "--input-as-string",
    "-m": "--machine",
    "-o": "--output-file",
    "-optf": "--options-file",
}

def _codegen(option):
    """The name of an option of `-C`; rustc takes it with `_` as well."""
    return "-C" + option.partition("=")[0].replace("_", "-")

def _rustc_words(flags):
    """The flags, each with its name in one spelling: `-C x_z=y`, `-Cx-z=y` and `--codegen=x-z=y` are `-Cx-z`."""
    words = []
    taken = False
    for index, flag in enumerate(flags):
        if taken:
            taken = False
            continue
        if flag in ["-C", "--codegen"] and index + 1 < len(flags):
            taken = True
            words.append((flag + " " + flags[index + 1], _codegen(flags[index + 1])))
        elif flag.startswith(("-C", "--codegen=")):
            words.append((flag, _codegen(flag.removeprefix("-C").removeprefix("--codegen="))))
        elif flag.startswith("@"):
            words.append((flag, "@"))
        elif flag.startswith("-o"):
            # What it takes may stand right behind it.
            words.append((flag, "-o"))
        else:
            words.append((flag, flag.partition("=")[0]))
    return words

def _ptxas_words(flags):
    names = [flag.partition("=")[0] for flag in flags]
    return [(flag, _PTXAS_SHORT.get(name, name)) for flag, name in zip(flags, names)]

def _check(label, attribute, words, refused):
    for written, word in words:
        if word in refused:
            what, mend = refused[word]
            fail("""

%s: in `%s`: '%s' would change %s, and the images would not be what this target says.
  wanted: flags that leave alone what is built and for which GPU
  found:  %s
  mend:   take it out: %s
""" % (display(label), attribute, written, what, written, mend))

def check_rustc_flags(label, flags):
    """Fails where a flag of rustc would get round what the target says.

    Args:
      label: Label of the target to name in messages.
      flags: list of str, as the user wrote them.
    """
    _check(label, "rustc_flags", _rustc_words(flags), _RUSTC)

def check_ptxas_flags(label, flags):
    """Fails where a flag of ptxas would get round what the target says.

    Args:
      label: Label of the target to name in messages.
      flags: list of str, as the user wrote them.
    """
    _check(label, "ptxas_flags", _ptxas_words(flags), _PTXAS)
