"""What a person may name as a remote, and what is refused because it would start, show or keep something."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.errors import InvalidArguments
from crabmem.remotes.address import Address, Kind, parse_address
from tests import secrets

HOME = Path("/home/ann")


@pytest.mark.parametrize(
    ("text", "kind", "path", "host", "port", "user", "shown"),
    [
        ("/srv/memory.git", Kind.FOLDER, "/srv/memory.git", "", None, None, "/srv/memory.git"),
        ("memory.git", Kind.FOLDER, "/home/ann/memory.git", "", None, None, "/home/ann/memory.git"),
        ("../b/a place", Kind.FOLDER, "/home/b/a place", "", None, None, "/home/b/a place"),
        ("./a:b", Kind.FOLDER, "/home/ann/a:b", "", None, None, "/home/ann/a:b"),
        ("file:///srv/a%20b", Kind.FOLDER, "/srv/a b", "", None, None, "/srv/a b"),
        ("file://localhost/srv/x", Kind.FOLDER, "/srv/x", "", None, None, "/srv/x"),
        ("/media/stick/memory.bundle", Kind.BUNDLE, "/media/stick/memory.bundle", "", None, None, None),
        ("MEMORY.BUNDLE", Kind.BUNDLE, "/home/ann/MEMORY.BUNDLE", "", None, None, None),
        ("ssh://git@host.example/a/b", Kind.SSH, "/a/b", "host.example", None, "git", "ssh://host.example/a/b"),
        ("ssh://host:2222/~/m.git", Kind.SSH, "/~/m.git", "host", 2222, None, "ssh://host:2222/~/m.git"),
        ("git@github.com:ann/m.git", Kind.SSH, "ann/m.git", "github.com", None, "git", "git@github.com:ann/m.git"),
        ("host:m", Kind.SSH, "m", "host", None, None, "host:m"),
        ("[::1]:m", Kind.SSH, "m", "::1", None, None, "[::1]:m"),
        ("https://github.com/a/m", Kind.HTTP, "/a/m", "github.com", None, None, "https://github.com/a/m"),
        ("https://ann@h.example:8443/m", Kind.HTTP, "/m", "h.example", 8443, "ann", "https://h.example:8443/m"),
        ("https://ann%40x.example@h/m", Kind.HTTP, "/m", "h", None, "ann@x.example", "https://h/m"),
        ("http://localhost:3000/a/m", Kind.HTTP, "/a/m", "localhost", 3000, None, "http://localhost:3000/a/m"),
        ("http://[::1]:3000/m", Kind.HTTP, "/m", "::1", 3000, None, "http://[::1]:3000/m"),
    ],
)
def test_what_people_write_is_understood(
    text: str, kind: Kind, path: str, host: str, port: int | None, user: str | None, shown: str | None
) -> None:
    found = parse_address(text, HOME)
    assert (found.kind, found.path, found.host, found.port, found.user) == (kind, path, host, port, user)
    assert found.shown == (path if shown is None else shown)
    assert parse_address(found.url, Path("/elsewhere")) == found  # what is kept leads to the same place from anywhere


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "\n", "a\nb", "a\x00b", "a\u202eb", "x" * 3_000,
        "-oProxyCommand=touch x", "--upload-pack=touch x", "ext::sh -c touch% x", "fd::17", "transport::address",
        "ssh://-oProxyCommand=x/y", "-oProxyCommand=x:y", "a@-oProxyCommand=x:y", "ssh://-l@host/y", "-x@host:y",
        "host:-x", "ssh://host/-x", "host:", "ssh://host", "ssh://host/", "ssh:///x", "https://", "https://host",
        "ssh://ho st/x", "ssh://ho%73t/x", "ssh://host;id/x", "$(id):x", "`id`:x", "a'b:x", "https://ho\\st/x",
        "https://[::1/x", "https://host:99999/x", "https://host:x/y", "https://[::1]evil.example/x",
        "git://host/x", "ftp://host/x", "rsync://host/x", "javascript://host/x", "http+unix://host/x",
        "http://host.example/x", "http://localhost.example/x", "http://127.0.0.1.example/x",
        "https://host/x?token=1", "https://host/x#main", "https://host/%00", "https://host/a%0ab",
        "file://server/share", "file://", "ssh://host/a%0ab",
    ],
)  # fmt: skip
def test_what_is_no_address_or_would_start_something_is_refused(text: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        parse_address(text, HOME)
    assert "name a" in str(caught.value) or "use https" in str(caught.value) or "as ssh://" in str(caught.value)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "text", ["https://ann:hunter2@host/x", "https://:hunter2@host/x", "ssh://ann:hunter2@host/x", "https://{}@host/x"]
)
def test_a_password_in_an_address_is_refused_and_not_repeated(text: str) -> None:
    token = "ghp_" + secrets.some(36)
    with pytest.raises(InvalidArguments, match="credential helper") as caught:
        parse_address(text.format(token), HOME)
    assert "hunter2" not in str(caught.value) and token not in str(caught.value)


@given(st.text(max_size=60) | st.from_regex(r"(ssh|https|file|http)://[^\n]{0,40}", fullmatch=True))
def test_whatever_is_written_is_an_address_or_refused(text: str) -> None:
    try:
        found = parse_address(text, HOME)
    except InvalidArguments:
        return
    assert isinstance(found, Address) and found.path and not found.host.startswith("-")
    if found.kind is Kind.SSH:
        assert found.host and not found.path.startswith("-") and not (found.user or "").startswith("-")
    if found.kind in (Kind.FOLDER, Kind.BUNDLE):
        assert Path(found.path).is_absolute()
    assert "@" not in found.shown.partition("://")[2].partition("/")[0] or found.kind in (Kind.FOLDER, Kind.BUNDLE)
