"""What a session may see: made once for each look at memory, and asked where a snapshot or a write is made, or where a
file is read by itself."""

from __future__ import annotations

from ..errors import Disabled
from ..text.slug import name_key
from ..text.values import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..prompt.profile import Kind, Profile
    from ..results import Commit, Provenance


# What has a whole path: the files outside of the workspace that are searched.
_ELSEWHERE = "/*"


@value
class View:
    """The files that sessions of a `kind` may see: all but those that the patterns `hidden` stand for.

    Patterns are compared with the `name_key` of paths, so that no other spelling of a path gets around them. Whoever
    may not see all of the workspace sees nothing outside of it, either.
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
        """Refuse what tells of all files at once where some are hidden.

        Raises:
            Disabled: some are.
        """
        if not self.is_whole:
            raise Disabled(f"sessions of the kind {self.kind} see only some files; ask in one of the kind main")

    def check_writable(self, path: str) -> None:
        """Refuse to write a file that is named and may not be seen.

        Raises:
            Disabled: it may not be seen.
        """
        if not self.allows(path):
            raise Disabled(f"{path} is not for sessions of the kind {self.kind}; leave it to one of the kind main")

    def of_commit(self, commit: Commit | None) -> Commit | None:
        """`commit`, without its words and paths where these name what may not be seen."""
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
