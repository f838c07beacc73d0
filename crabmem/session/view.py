"""The part of memory that a session may see. A view is built once per read or write; it is checked when a snapshot
is taken, a draft is written, or a single file is read."""

from __future__ import annotations

from ..errors import Disabled
from ..text.slug import name_key
from ..text.values import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..prompt.profile import Kind, Profile
    from ..results import Commit, Provenance


# Matches absolute paths, which only searched files outside of the workspace have.
_ELSEWHERE = "/*"


@value
class View:
    """The files that sessions of a `kind` may see: all that match none of the patterns `hidden`.

    Patterns are compared with the `name_key` of a path, so that no other spelling of the path evades them. A session
    from which some files are hidden sees no file outside of the workspace either.
    """

    kind: Kind = "main"
    hidden: tuple[str, ...] = ()

    @classmethod
    def of(cls, profile: Profile, kind: Kind) -> View:
        """What a profile lets a session of that kind see."""
        if kind == "main":
            return EVERYTHING
        hidden = profile.hidden_from(kind)
        return cls(kind, (_ELSEWHERE, *map(name_key, hidden)) if hidden else ())

    @classmethod
    def named(cls, profile: str, kind: Kind) -> View:
        """What the profile of that name lets a session of that kind see."""
        if kind == "main":
            return EVERYTHING
        from ..prompt.profile import load_profile  # late: most sessions are main

        return cls.of(load_profile(profile), kind)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is hidden."""
        return not self.hidden

    def allows(self, path: str) -> bool:
        """Whether the file at `path` may be seen."""
        if not self.hidden:
            return True
        from ..text.patterns import covers

        return not covers(name_key(path), self.hidden)

    def check_whole(self) -> None:
        """Refuse operations over all files to sessions from which some are hidden.

        Raises:
            Disabled: some files are hidden.
        """
        if not self.is_whole:
            raise Disabled(f"sessions of the kind {self.kind} see only some files; ask in one of the kind main")

    def check_writable(self, path: str) -> None:
        """Refuse to write the file at `path` if it is hidden.

        Raises:
            Disabled: this kind of session may not see the file.
        """
        if not self.allows(path):
            raise Disabled(f"{path} is not for sessions of the kind {self.kind}; leave it to one of the kind main")

    def check_free(self, *paths: str) -> None:
        """Refuse a write to files of which one is hidden, without a word about which.

        Raises:
            Disabled: this kind of session may not see one of them.
        """
        if not all(map(self.allows, paths)):
            words = f"that would change what is not for sessions of the kind {self.kind}"
            raise Disabled(f"{words}; leave it to one of the kind main")

    def of_commit(self, commit: Commit | None) -> Commit | None:
        """`commit`; if it touches a hidden file, without subject, entry names, rename and hidden paths."""
        if commit is None or all(map(self.allows, commit.paths)):
            return commit
        seen = tuple(filter(self.allows, commit.paths))
        return replace(commit, subject="", entries=(), paths=seen, renamed=None)

    def of_provenance(self, origin: Provenance | None) -> Provenance | None:
        """`origin`, as far as its commits may be known."""
        if origin is None or self.is_whole:
            return origin
        return replace(origin, learned=self.of_commit(origin.learned), changed=self.of_commit(origin.changed))


#: Of a session that sees everything, as a person's own does.
EVERYTHING = View()
