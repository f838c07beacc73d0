"""The kinds of memory that can be imported, and recognising which kind some files are."""

import pkgutil
from functools import cache
from importlib import import_module

from ..errors import InvalidArguments
from . import sources as folder_of_sources
from .base import JSON, Look, Source, Tree


@cache
def sources() -> tuple[Source, ...]:
    """Return the `SOURCE` of each module in `sources/`, in the order in which `source_of` asks them."""
    names = (found.name for found in pkgutil.iter_modules(folder_of_sources.__path__))
    found: list[Source] = [import_module(f"{folder_of_sources.__name__}.{name}").SOURCE for name in names]
    return tuple(sorted(found, key=lambda source: (source.look, source.name)))


def source_called(name: str) -> Source:
    """Return the source called `name`.

    Raises:
        InvalidArguments: no source has that name.
    """
    for source in sources():
        if source.name == name:
            return source
    there = ", ".join(source.name for source in sources())
    raise InvalidArguments(f"{name} is no kind of memory; there are: {there}")


def source_of(tree: Tree) -> Source:
    """Return the first source that recognises the files. `folder` takes any, but it would find nothing in JSON.

    Raises:
        InvalidArguments: the one file is JSON that no source recognises.
    """
    found = next(source for source in sources() if source.is_it(tree))
    if found.look is Look.ANYTHING and len(tree.files) == 1 and next(iter(tree.files)).lower().endswith(JSON):
        raise InvalidArguments("it is no JSON of an export that is known; name whose it is with --from")
    return found
