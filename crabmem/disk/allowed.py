"""Permissions: what a person lets the settings of a workspace reach outside of it, kept outside every workspace.

`crabmem.toml` comes along by clone, pull or archive, perhaps from a stranger. So a service that texts would be sent
to, a model, the file of a profile that lies elsewhere, and folders elsewhere that are searched count only when this
user said so, for that folder and for exactly these values: another url after a pull is asked about again, and so is a
copy of the folder.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

from ..errors import Unwritable
from ..text.values import fields_of, once, replace, value
from . import fs
from .user_state import state_folder

# Parts that identify a service: provider, model, url and the name of the key's variable.
_NAMED = 4
# Seconds to wait while another process changes the file.
_PATIENCE = 10.0


@value
class Reach:
    """What a workspace reaches outside of it.

    `vectors` is the provider, model, url and name of the key's variable, None where nobody is named; `profile` is the
    file of a profile that lies elsewhere, "" for none. `parent` is the workspace beside an agent's own that gives what
    this one lacks, "" for none: no file of a workspace can name it. `remote` is what it is synced with, as a person
    named it, "" for nothing; nor can a file name that. `extra_paths` and `transcripts` are the real paths of folders
    elsewhere that are searched, `also` those of other memories that are seen beside this one. `purges`: what another
    machine purged goes here, too, without a question.
    """

    vectors: tuple[str, str, str, str] | None = None
    profile: str = ""
    parent: str = ""
    remote: str = ""
    extra_paths: tuple[str, ...] = ()
    transcripts: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    purges: bool = False


class Allowed:
    """What one user allowed on this machine, by workspace."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """`environment` says where this user's state is; where it names no home, nothing is allowed."""
        self.environment = environment

    @once
    def file(self) -> Path | None:
        """The file that says what is allowed; None where the environment names no place for it."""
        folder = state_folder(self.environment)
        return folder / "allowed.json" if folder else None

    def reach(self, root: Path | str) -> Reach:
        """What the settings of the workspace in `root` may reach; nothing where the file cannot be read as ours."""
        return self._all().get(_key(root), Reach()) if self._is_outside(root) else Reach()

    def allow(self, root: Path, reach: Reach) -> None:
        """Let the settings of the workspace in `root` reach exactly `reach`; an empty one takes all permissions back.

        Raises:
            Unwritable: the file cannot be written, would lie in the workspace itself, or no home is known.
        """
        if self.file is None:
            raise Unwritable("there is no place to keep what you allow: the environment names no home; set HOME")
        if not self._is_outside(root):
            raise Unwritable(f"{self.file} lies in the workspace {root}, which cannot allow itself anything; "
                             "set XDG_STATE_HOME to another folder")  # fmt: skip
        from .lock import locked  # late: who only reads what is allowed locks nothing

        try:
            fs.make_folder(self.file.parent)
            # Without the lock, one of two processes that allow something at once would overwrite the other's entry.
            with locked(self.file.parent, os.O_RDONLY, time.monotonic() + _PATIENCE):
                others = {key: known for key, known in self._all().items() if key != _key(root)}
                kept = others if reach == Reach() else others | {_key(root): reach}
                said = {key: {name: getattr(each, name) for name in fields_of(Reach)} for key, each in kept.items()}
                fs.swap_in(self.file, json.dumps(said, indent=2, ensure_ascii=False).encode() + b"\n")
        except OSError as error:
            raise Unwritable(f"{self.file} cannot be written: {fs.reason(error)}") from error

    def allow_profile(self, root: Path, file: str) -> None:
        """Let the settings of the workspace in `root` name the profile in that file, besides what they may already; ""
        is none, and changes nothing.

        Raises: as `allow`.
        """
        if file:
            self.allow(root, replace(self.reach(root), profile=file))

    def allow_parent(self, root: Path, parent: Path) -> None:
        """Let the agent's own workspace in `root` show what it lacks of the one in `parent`.

        Raises: as `allow`.
        """
        self.allow(root, replace(self.reach(root), parent=os.path.realpath(parent)))

    def _all(self) -> dict[str, Reach]:
        """Return what is allowed, by workspace; {} when the file is damaged: the person is then asked again."""
        if self.file is None or not os.path.exists(self.file):
            return {}
        try:
            said = json.loads(fs.read(self.file)[0])
            return {key: _reach_in(each) for key, each in said.items()}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return {}

    def _is_outside(self, root: Path | str) -> bool:
        """Whether the file lies outside of the workspace: one inside may have come with it."""
        return self.file is not None and not Path(os.path.realpath(self.file)).is_relative_to(os.path.realpath(root))


def _reach_in(said: dict[str, object]) -> Reach:
    """Return what one workspace may reach, from its entry in the file.

    Raises:
        TypeError: the entry is not of the form that `allow` writes.
    """
    vectors, beside = said.get("vectors"), [said.get(name, "") for name in ("profile", "parent", "remote")]
    named = vectors if isinstance(vectors, list) else []
    listed = [said.get(name, []) for name in ("extra_paths", "transcripts", "also")]
    folders = [tuple(each) if isinstance(each, list) else (None,) for each in listed]
    texts = (*beside, *named, *(text for each in folders for text in each))
    if not all(isinstance(text, str) for text in texts) or (vectors is not None and len(named) != _NAMED):
        raise TypeError("not as it was written")
    profile, parent, remote = map(str, beside)
    vector = (named[0], named[1], named[2], named[3]) if named else None
    extra_paths, transcripts, also = folders
    return Reach(vector, profile, parent, remote, extra_paths, transcripts, also, said.get("purges") is True)


def _key(root: Path | str) -> str:
    return os.path.realpath(root).encode("utf-8", "backslashreplace").decode()
