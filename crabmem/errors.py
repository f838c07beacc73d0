"""Every error a caller can meet. The message names the thing and the way out."""

from functools import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Way:
    """A way out that is an argument, as Python has it: `words` say what it does, with `{}` in its place.

    `otherwise` is what to say where a face has no such argument.
    """

    def __init__(self, argument: str, words: str, otherwise: str = "") -> None:
        self.argument = argument
        self.words = words
        self.otherwise = otherwise


class CrabmemError(Exception):
    """Base of all errors of crabmem. Its text is one line, ready to be shown to a person or a model.

    It ends with the `ways` out, as Python calls them; a face that calls them otherwise shows `text`.
    """

    def __init__(self, message: str = "", *ways: Way) -> None:
        self._message, self._ways = message, ways
        super().__init__(self.text({way.argument: way.argument for way in ways}))

    def __reduce__(self) -> "tuple[object, ...]":
        """Cross to another process as it is: Python would call `__init__` with `args`, which takes others."""
        return type(self).__new__, (type(self), *self.args), self.__getstate__()

    @property
    def problem(self) -> str:
        """The fault, without the ways out."""
        return self._message

    def text(self, names: "Mapping[str, str] | None" = None) -> str:
        """The text for a face that has these names for arguments, by what Python calls them, and no other of them."""
        known = names or {}
        ways = (
            way.words.replace("{}", known[way.argument]) if way.argument in known else way.otherwise
            for way in self._ways
        )
        return "; ".join(filter(None, (self._message, ", ".join(filter(None, ways)))))


class InvalidArguments(CrabmemError):
    """What was given cannot be used; nothing was written."""


class Inapplicable(InvalidArguments):
    """What was given is right by itself, and does not go with what is there; nothing was written."""


class AlreadyThere(CrabmemError):
    """Another fact, agent or file of that name is there, and nobody said that it may be replaced; it stays as it is."""


class NotFound(CrabmemError):
    """No entry, tool or revision answers to that name."""


class Stale(CrabmemError):
    """`if_version` names a text that is no longer the current one; nothing was written.

    `current` is the text on disk now, `version` its version.
    """

    def __init__(self, message: str, current: str, version: str, diff: "Callable[[], str]" = str) -> None:
        super().__init__(message)
        self.current = current
        self.version = version
        self._diff = diff

    @property
    def diff(self) -> str:
        """The way from the caller's text to the current one; "" when the caller's version is not in the history.

        Compared here: an error is raised while its writer keeps all others waiting.
        """
        return self._diff()

    def __getstate__(self) -> "dict[str, object]":
        return {**vars(self), "_diff": partial(str, self.diff)}


class HoldsSecret(CrabmemError):
    """The text holds what looks like a credential, and the settings refuse that; nothing was written."""


#: The ways out where a person is asked for, and nobody has said that it is one.
BY_A_PERSON = Way(
    "is_person=True", "open the memory with {}", "leave out --agent and --propose (and CRABMEM_AGENT, CRABMEM_PROPOSE)"
)
_IF_MEANT = Way("even_if_many=True", "if you mean it: {}", "if you mean it: forget them one by one")


class MassLoss(CrabmemError):
    """Too many entries at once would be deleted or emptied, and nobody said that this is meant.

    `count` of `total` entries. Nothing was written.
    """

    def __init__(self, message: str, count: int, total: int, may_be_meant: bool = False) -> None:
        super().__init__(message, *([_IF_MEANT] if may_be_meant else []))
        self.count = count
        self.total = total


class Disabled(CrabmemError):
    """The settings do not allow this operation."""


class Full(CrabmemError):
    """So many wait for a person that one more is not taken; nothing was written."""


class Moved(CrabmemError):
    """The workspace that was opened is not where it was, or another one is there; nothing was written."""


class Busy(CrabmemError):
    """Another writer held the lock for longer than we wait; nothing was written."""


class Unwritable(CrabmemError):
    """The disk refused: no permission, no space, a read-only folder, a file in the way."""


class Unreadable(CrabmemError):
    """A file is there and cannot be used as text."""


class DamagedHistory(CrabmemError):
    """The repository under `.git` cannot be read or written; the files are untouched."""


class DeniedHistory(DamagedHistory):
    """This user may not look into a file or folder of the repository; nothing about it is known to be damaged."""


class InvalidSettings(CrabmemError):
    """`crabmem.toml` is not TOML, names a setting that does not exist, or a profile that nobody allowed to be read."""


class EmbedderFailed(CrabmemError):
    """What makes vectors of texts is missing, refuses, or answers something else. Recall goes on by words."""


class SyncError(CrabmemError):
    """A remote could not be read or written; memory here is as it was."""


class Unreachable(SyncError):
    """The remote does not answer, or not in time. Being offline is normal: the next try may succeed."""


class Refused(SyncError):
    """The remote does not let us in, or not do that: credentials, permissions, rules of its own, no such repository."""


class Outrun(SyncError):
    """A reference of the remote is not where it was expected: somebody was quicker. Fetch, merge and push again."""


class Untrusted(SyncError):
    """What the remote sent is broken, incomplete or too large; nothing of it was kept."""


class HoldsPurged(SyncError):
    """A remote, or what was to be pushed, has again what was purged; nothing of it was kept, or pushed."""


class Unexpected(SyncError):
    """The remote is not what a person has to expect: it needs their word before anything is taken in.

    `is_apart`: its history has nothing in common with this one. `is_meant`: what is asked is whether that is meant, and
    not whether the remote is theirs.
    """

    def __init__(self, message: str, is_apart: bool = False, is_meant: bool = False) -> None:
        argument = "joins_apart=True" if is_apart else "is_expected=True"
        super().__init__(message, Way(argument, f"give {{}} if {'that is meant' if is_meant else 'it is yours'}"))
        self.is_apart, self.is_meant = is_apart, is_meant


class PurgeWaits(Unexpected):
    """A purge of another machine takes something here, and waits for a person's word; nothing was taken in or sent.

    `becomes` says in lines what becomes of each file.
    """

    def __init__(self, message: str, becomes: "Sequence[str]" = ()) -> None:
        super().__init__(message, is_meant=True)
        self.becomes = (*becomes,)


class BadConfig(CrabmemError):
    """The config of another program cannot be read or changed safely; it was not touched."""
