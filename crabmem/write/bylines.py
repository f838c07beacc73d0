"""Bylines: which agent wrote what lies in a file, as its host said. Each stays until the history says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from ..disk import fs, spelling
from ..disk.jsonl import JsonLines, text, text_or_none
from ..text.hashes import blob_id
from ..text.limits import MAX_WHO
from ..text.values import value
from ..workspace.workspace import Workspace


@value
class Byline:
    """That an agent made the file at a path what it is: `blob` is the id of its bytes, None for no file. One that
    `proposes` wrote what has to wait for a person."""

    path: str
    blob: str | None
    agent: str | None
    session: str | None
    proposes: bool = False


def kept_paths(workspace: Workspace, files: Iterable[str]) -> list[str]:
    """The paths of those of `files` that are in the workspace, and whose history is kept."""
    paths = (spelling.as_git_has_it(workspace.root, fs.path_in(workspace.root, file) or "") for file in files)
    return [path for path in paths if path and workspace.layout.is_kept(path)]


def bylines_for(
    root: Path, paths: Iterable[str], agent: str | None, session: str | None, proposes: bool = False
) -> list[Byline]:
    """Bylines for what is at `paths` of the workspace now; none for what cannot be read as a file."""
    found = []
    for path in paths:
        try:
            with fs.inside(root, path) as spot:
                found.append(Byline(path, blob_id(fs.read(spot)[0]), agent, session, proposes))
        except FileNotFoundError:
            found.append(Byline(path, None, agent, session, proposes))
        except OSError:
            continue
    return found


class Bylines:
    """The bylines of one workspace that no commit bears yet."""

    def __init__(self, file: Path) -> None:
        # All bylines of one call are one line, so that a process killed in the middle leaves all or none.
        self._lines = JsonLines(file, _encode, _decode)

    def add(self, bylines: Iterable[Byline]) -> None:
        """Remember bylines, all of them or none, where there is a place for them."""
        if new := tuple(bylines):
            self._lines.add_all([new])

    def of(self, blobs: Mapping[str, str | None]) -> dict[str, Byline]:
        """Return by path the bylines whose blob is still the file's; `blobs` are those on disk."""
        found = {byline.path: byline for byline in self._all()}
        return {path: found[path] for path, blob in blobs.items() if path in found and found[path].blob == blob}

    def signed(self) -> set[tuple[str, str | None]]:
        """The paths that bylines are about, each with the blob that they name."""
        return {(byline.path, byline.blob) for byline in self._all()}

    def clear(self) -> None:
        """Forget all of them: each was used, or its file is another one by now."""
        self._lines.remove()

    def _all(self) -> Iterator[Byline]:
        return chain.from_iterable(self._lines.all())


def _encode(bylines: tuple[Byline, ...]) -> list[dict[str, Any]]:
    return [vars(byline) for byline in bylines]


def _decode(said: Any) -> tuple[Byline, ...]:
    return tuple(
        Byline(
            text(each["path"]),
            text_or_none(each["blob"]),
            text_or_none(each["agent"], MAX_WHO),
            text_or_none(each["session"], MAX_WHO),
            each.get("proposes") is True,
        )
        for each in said
    )
