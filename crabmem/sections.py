"""Files taken apart into what is searched and shown: paragraphs, chunks of lines, or whole files."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta


class Recent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a daily note counts more whose day is at most `days` ago."""

    days: Annotated[int, Meta(ge=0)]
    factor: Annotated[float, Meta(gt=0)]


class Search(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How files are searched: which (patterns of paths), in which units, and what is shown of a hit.

    `size` and `overlap` of chunks, and `snippet`, are in characters. Of `recent` the first that fits counts.
    """

    files: tuple[str, ...] = ()
    unit: Literal["paragraph", "chunk", "file"] = "chunk"
    size: Annotated[int, Meta(ge=1)] = 1_600
    overlap: Annotated[int, Meta(ge=0)] = 320
    results: Annotated[int, Meta(ge=1)] = 6
    snippet: Annotated[int, Meta(ge=1)] = 700
    recent: tuple[Recent, ...] = ()
