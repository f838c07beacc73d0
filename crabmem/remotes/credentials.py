"""A name and a password for a remote by HTTP: from the environment, or from the person's own credential helpers.

Nothing is asked, kept or logged, and nothing is read that lies in a workspace: its configuration could name a program.
"""

import io
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ..disk import fs
from . import programs
from .address import Address
from .limit import Limit

# Forges look at the token alone.
_ANYBODY = "x-access-token"
_SECONDS, _MOST = 15.0, 20_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class Credentials:
    """The name and password for one address."""

    def __init__(self, address: Address, environ: Mapping[str, str]) -> None:
        self._address, self._environ = address, environ
        self._asked: dict[str, str] = {"protocol": address.url.partition(":")[0].lower(), "host": address.host}
        if address.port:
            self._asked["host"] += f":{address.port}"
        if address.user:
            self._asked["username"] = address.user
        if self._git():  # Git drops the path, unless `credential.useHttpPath` is set; without Git nobody would
            self._asked["path"] = address.path.strip("/")
        self._found: dict[str, str] = {}

    def find(self, limit: Limit) -> tuple[str, str] | None:
        """Return name and password, from the token or the first helper that has them; None if no helper has.

        What a helper returned is kept for `judge`.
        """
        if token := self._environ.get(programs.TOKEN, ""):
            return self._address.user or _ANYBODY, token
        for command in self._commands("fill" if self._git() else "get"):
            said = programs.answer(command, _lines(self._asked), self._environ, min(limit.left(), _SECONDS), _MOST)
            found = dict(line.partition("=")[::2] for line in said.decode("utf-8", "replace").splitlines())
            name, password = found.get("username", self._address.user or ""), found.get("password", "")
            if name and password and (name + password).isprintable():
                self._found = self._asked | found
                return name, password
        return None

    def judge(self, is_right: bool, limit: Limit) -> None:
        """Tell the helpers whether what they said was right, so that they keep it or forget it."""
        words = ("approve" if is_right else "reject") if self._git() else ("store" if is_right else "erase")
        for command in self._commands(words) if self._found else ():
            programs.answer(command, _lines(self._found), self._environ, min(limit.left(), _SECONDS), _MOST)
        self._found = {}

    def _git(self) -> str | None:
        return programs.found("git", self._environ)

    def _commands(self, word: str) -> Iterator[list[str]]:
        """Yield the commands to run: `git credential`, which asks all helpers; without Git, each helper itself.

        A helper is called as Git does: `!command` in a shell, else a path, or a name as `git-credential-<name>`.
        """
        if git := self._git():
            yield [git, "credential", word]
            return
        for helper in self._helpers():
            if helper.startswith("!"):
                shell = programs.found("sh", self._environ)
                yield from [[shell, "-c", f"{helper[1:]} {word}"]] if shell else []
            else:
                name, *options = helper.split()
                known = _NAME.fullmatch(name) and programs.found(f"git-credential-{name}", self._environ)
                if known or os.path.isabs(name):
                    yield [known or name, *options, word]

    def _helpers(self) -> list[str]:
        """Return the credential helpers in the person's own configuration of Git, for all addresses and for this host.

        As in Git, an empty value drops those before it.
        """
        from dulwich.config import ConfigFile

        found: list[str] = []
        origin = f"{self._asked['protocol']}://{self._asked['host']}"
        for file in self._git_configs():
            with suppress(OSError, ValueError):
                config = ConfigFile.from_file(io.BytesIO(fs.read(file.resolve())[0]), expand_includes=False)
                for section in config.sections():
                    if section[0].lower() == b"credential" and section[1:] in ((), (origin.encode(),)):
                        for value in config.get_multivar(section, b"helper"):
                            helper = value.decode("utf-8", "replace").strip()
                            found = [*found, helper] if helper else []
        return found

    def _git_configs(self) -> Iterator[Path]:
        """Yield the person's own configurations of Git, in Git's order: what the later one says counts more."""
        home = self._environ.get("HOME") or self._environ.get("USERPROFILE") or ""
        above = self._environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        for place in (os.path.join(above, "git", "config"), os.path.join(home, ".gitconfig")):
            if os.path.isabs(place):  # without a home it would be sought where we are: in a workspace, perhaps
                yield Path(place)


def _lines(words: Mapping[str, str]) -> bytes:
    return "".join(f"{key}={value}\n" for key, value in words.items()).encode() + b"\n"
