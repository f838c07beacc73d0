"""Addresses: the path of a file behind the name of the memory that it is in, as `me:memory/entries/editor.md`."""

# No name of a memory has it.
_BETWEEN = ":"


def address(scope: str, path: str) -> str:
    """The address of a path in the memory called `scope`."""
    return f"{scope}{_BETWEEN}{path}"


def parted(address: str) -> tuple[str, str]:
    """The name of the memory and the path in it; "" for both where it is no address."""
    scope, between, path = address.partition(_BETWEEN)
    return (scope, path) if between else ("", "")


def name_parted(name: str) -> tuple[str, str]:
    """Do as `parted` for a name that somebody typed: `me: I like tea`, with a space, is text and no address."""
    scope, path = parted(name)
    return ("", "") if path[:1].isspace() else (scope, path)
