"""Names: of targets in messages, and of crates."""

def display(label):
    """As one would type it: `//pkg:name` in the main repository, `@@repo//pkg:name` elsewhere."""
    text = str(label)
    return text[2:] if text.startswith("@@//") else text

def crate_name_of(name):
    """The name of the crate of a target that does not say: `_` for what a crate's name cannot have.

    Args:
      name: the target's name, such as `saxpy.fast-path/v2`.

    Returns:
      a str, such as `saxpy_fast_path_v2`.
    """
    result = "".join([c if c.isalnum() else "_" for c in name.elems()])
    return "_" + result if result[0].isdigit() else result
