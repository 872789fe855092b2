"""Lists that a macro takes apart before any rule can check their types."""

def list_error(value):
    """What is wrong with a value that a macro adds to; a `select()` of lists will do.

    Args:
      value: of an attribute.

    Returns:
      a str that follows the attribute's name, or `None` where nothing is.
    """
    return None if type(value) in ["list", "select"] else "is %r; wanted a list" % (value,)

def names_error(value):
    """What is wrong with a value whose names a macro reads.

    Args:
      value: of an attribute.

    Returns:
      a str that follows the attribute's name, or `None` where nothing is.
    """
    if type(value) == "list" and not [name for name in value if type(name) != "string"]:
        return None
    return "is %r; wanted a list of names such as [\"sm_90\"], and no select(), which is decided too late for it" % (value,)

def check_lists(label, names, lists):
    """Fails where an attribute is no list.

    Args:
      label: of the target, as messages name it.
      names: dict of attribute to value, as for `names_error`.
      lists: dict of attribute to value, as for `list_error`.
    """
    for attributes, error_of in [(names, names_error), (lists, list_error)]:
        for attribute, value in attributes.items():
            error = error_of(value)
            if error:
                fail("%s: `%s` %s" % (label, attribute, error))
