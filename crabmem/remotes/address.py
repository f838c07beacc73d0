"""What a person may name as a remote: a folder, a bundle file, ssh or https. Asks the disk only what a path is."""

import os
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ..errors import InvalidArguments
from ..text.credentials import credentials_in
from ..text.quoting import visible

_FORMS = "name a folder, a file that ends with .bundle, ssh://host/path, user@host:path, or https://host/path"
# Git starts a program for these: `ext::sh -c …`.
_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
_SCP = re.compile(r"(?:(?P<user>[^@/:]*)@)?(?P<host>\[[^/\]]*\]|[^/:\[]+):(?P<path>.*)")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
# So plain that neither ssh nor a library of HTTP takes a part of it for something else.
_PLACE = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@+-]{0,99}")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_LONGEST = 2_000


class Kind(Enum):
    """How a remote is talked to."""

    FOLDER = "folder"
    BUNDLE = "bundle"
    SSH = "ssh"
    HTTP = "http"


@dataclass(frozen=True)
class Address:
    """Where a remote is. `url` is kept in Git's configuration, without a password; `shown` is for messages, without the
    user of a URL.

    `path` is that on the host, or on this machine.
    """

    kind: Kind
    url: str
    shown: str
    path: str
    host: str = ""
    port: int | None = None
    user: str | None = None


def parse_address(text: str, folder: Path) -> Address:
    """Return the address that a person wrote; a relative path starts at `folder`.

    Raises:
        InvalidArguments: `text` is no address, or would start a program, send memory in the clear, or store a password.
    """
    if not text.strip() or len(text) > _LONGEST or not text.isprintable():
        raise InvalidArguments(f"that is no address of a remote: {_FORMS}")
    if text.startswith("-") or _HELPER.match(text):
        raise InvalidArguments(f"{_cut(text)} is not followed, as Git might start a program for it: {_FORMS}")
    if "://" in text:
        return _of_url(text)
    scp = _SCP.fullmatch(text)
    if scp:
        place, path = scp["host"], scp["path"]
        _check_place(place, scp["user"], path)
        return Address(Kind.SSH, text, text, path, place.strip("[]"), None, scp["user"])
    return _of_path(os.path.abspath(folder / text))


def _of_url(text: str) -> Address:
    """Parse an address with `://`; refuse passwords, queries, unknown schemes, and plain HTTP to other machines."""
    try:
        parts = urlsplit(text)
        host, port, user = parts.hostname or "", parts.port, parts.username and unquote(parts.username)
    except ValueError:
        raise InvalidArguments(f"that is no address of a remote: {_FORMS}") from None
    scheme, path = parts.scheme.lower(), unquote(parts.path)
    if scheme not in ("file", "ssh", "http", "https"):
        raise InvalidArguments(f"remotes by {_cut(scheme)}:// are not known: {_FORMS}")
    shown = f"{scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    if parts.password is not None or (user and credentials_in(user)):
        raise InvalidArguments(
            f"the address of {shown} holds a password, which Git would keep for all to read: leave it out, and let "
            "Git's credential helper say it, or the environment variable CRABMEM_SYNC_TOKEN"
        )
    if parts.query or parts.fragment or not path.isprintable():
        raise InvalidArguments(f"{shown} goes on with what is no part of an address: {_FORMS}")
    if scheme == "file":
        if host not in ("", "localhost"):
            raise InvalidArguments(f"{shown} names another machine, {host}: name it as ssh://{host}{parts.path}")
        return _of_path(path.lstrip("/") if _DRIVE.match(path.lstrip("/")) else path)
    if scheme == "http" and host not in _LOOPBACK:
        raise InvalidArguments(f"{shown} would send memory in the clear: use https://{host}{parts.path}")
    _check_place(parts.netloc.rpartition("@")[2], user, path.strip("/"))
    is_ssh = scheme == "ssh"
    return Address(Kind.SSH if is_ssh else Kind.HTTP, text, shown, path if is_ssh else parts.path, host, port, user)


def _check_place(place: str, user: str | None, path: str) -> None:
    """Refuse a host, user or path that ssh, or the program at the other end, could take for an option."""
    is_plain = _PLACE.fullmatch(place) and (user is None or _USER.fullmatch(user))
    if not is_plain or not path or path.startswith("-"):
        raise InvalidArguments(
            f"{_cut(f'{place}:{path}')} names no host, no path, or one that programs take for an option: {_FORMS}"
        )


def _of_path(path: str) -> Address:
    if not os.path.isabs(path):
        raise InvalidArguments(f"{_cut(path)} is no whole path: {_FORMS}")
    kind = Kind.BUNDLE if path.lower().endswith(".bundle") and not os.path.isdir(path) else Kind.FOLDER
    return Address(kind, path, path, path)


def _cut(text: str) -> str:
    return f"`{visible(text)[:60]}`"
