"""Rows without Git: memories whose facts are given, for laws about questions."""

from collections.abc import Collection, Iterator, Mapping

from crabmem.fleet.mirror import passages_of
from crabmem.fleet.postgres import Postgres
from crabmem.fleet.protocol import BITS, Contents, Row, Space
from crabmem.search import rules
from crabmem.text.entry import parse_entry
from crabmem.text.hashes import blob_id

EVERY_KIND = sum(BITS.values())
#: By path the text of a file, and the mask of the kinds that may see it.
Files = Mapping[str, tuple[str, int]]


def fill(index: Postgres, memories: Mapping[str, Files], language: str = "english") -> None:
    """Have the index follow just these memories, and say what they say."""
    for space in index.spaces():
        if space.name not in memories:
            index.remove(space.name)
    for name in memories:
        index.add(name, f"/srv/{name}.git", f"srv/{name}")
    for space in index.spaces():
        put(index, space, memories[space.name], language)


def put(index: Postgres, space: Space, files: Files, language: str = "english", commit: str = "0" * 40) -> int:
    """Have one memory say these files."""

    def read(paths: Collection[str]) -> Iterator[Row]:
        for path in paths:
            text, kinds = files[path]
            entry = parse_entry(path, text.encode())
            yield Row(path, blobs[path], kinds, False, text, commit, None, passages_of(entry, language))

    # A mask may change with the settings alone, whose blob is another then.
    settings = blob_id(repr(sorted((path, kinds) for path, (_, kinds) in files.items())).encode())
    blobs = {path: blob_id(text.encode()) for path, (text, _) in files.items()}
    contents = Contents(commit, language, rules(language), settings, None, blobs, read)
    changed = index.put(space, contents)
    index.looked(space.id)
    return changed
