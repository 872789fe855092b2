"""How targets are named in messages: as one would type them."""

def display(label):
    """`//pkg:name` in the main repository, `@@repo//pkg:name` elsewhere."""
    text = str(label)
    return text[2:] if text.startswith("@@//") else text
