"""Remotes by ssh and HTTP, against Git's own servers: what is fetched and pushed, and what is said when it is not."""

import itertools
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from crabmem.errors import Outrun, Refused, SyncError, Unreachable, Untrusted
from tests.conftest import git
from tests.remotes.servers import Backend, fake_ssh, needs_git, program, proxy, serving, serving_by_dulwich
from tests.remotes.sides import MAIN, Side, begun, is_whole, left_over, other, pushed_at_once

pytestmark = needs_git

#: Makes an address for the bare repository of a side, and the environment to reach it in.
Way = Callable[[Side], Side]


@pytest.fixture
def here(tmp_path: Path) -> Side:
    return begun(tmp_path)


@pytest.fixture(params=["ssh", "scp", "old ssh", "http"])
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Way]:
    with ExitStack() as stack:

        def reached(side: Side) -> Side:
            bare = Path(side.to)
            if request.param == "http":
                address, _ = stack.enter_context(serving(bare.parent))
                return Side(side.root, f"{address}/{bare.name}", {"PATH": ""})
            environ = fake_ssh(tmp_path, "unset GIT_PROTOCOL" if request.param == "old ssh" else "")
            host = "ann@memory.example:" if request.param == "scp" else "ssh://ann@memory.example"
            return Side(side.root, host + side.to, environ)

        yield reached


def test_what_one_side_pushes_the_other_fetches_whole(here: Side, way: Way) -> None:
    bare, here = Path(here.to), way(here)
    assert here.refs().refs == {}
    here.push()
    there = other(here)
    there.take()
    assert there.head() == here.head() and is_whole(there.root) and is_whole(bare)
    here.remember()
    here.push()
    assert there.fetch() == 5 and left_over(there.root) == []
    assert here.refs().branch == MAIN


def test_a_long_history_goes_there_and_back(here: Side, way: Way) -> None:
    here.remember(120)
    bare, here = Path(here.to), way(here)
    here.push()
    there = other(here)
    there.take()
    assert is_whole(there.root) and is_whole(bare) and there.head() == here.head()
    assert {step for step, _ in here.told} == {"looking", "packing"}
    assert [step for step, _ in there.told][0 :: len(there.told) - 1] == ["receiving", "checking"]


def test_of_a_large_folder_only_what_is_new_goes_over_the_wire(here: Side, way: Way) -> None:
    for number in range(400):
        (here.root / f"memory/entries/fact-{number}.md").write_text(f"fact {number}\n")
    here.remember()
    bare, here = Path(here.to), way(here)
    here.push()
    there = other(here)
    there.take()
    for side in (here, there):
        side.remember()
        side.push()
        other_side = there if side is here else here
        other_side.told.clear()
        other_side.take()
        assert max(done for step, done in other_side.told if step == "receiving") < 3_000
        assert is_whole(other_side.root) and is_whole(bare)


def test_who_was_outrun_is_told_and_nothing_is_changed(here: Side, way: Way) -> None:
    here = way(here)
    here.push()
    old, there = here.head(), other(here)
    there.take()
    there.remember()
    there.push()
    with pytest.raises(Outrun, match="fetch and merge"):
        here.push({MAIN: (old, here.remember())})
    assert here.refs().refs == {MAIN: there.head()}
    assert here.fetch() == 5


def test_of_two_references_none_is_moved_if_one_cannot_be(here: Side, way: Way) -> None:
    here = way(here)
    here.push()
    old = here.head()
    with pytest.raises(Outrun):
        here.push({"refs/crabmem/x": (None, old), MAIN: ("1" * 40, here.remember())})
    assert here.refs().refs == {MAIN: old}
    here.push({"refs/crabmem/x": (None, old), MAIN: (old, here.head())})
    assert here.refs().refs == {MAIN: here.head(), "refs/crabmem/x": old}
    here.push({"refs/crabmem/x": (old, None)})
    assert here.refs().refs == {MAIN: here.head()}


def test_a_hook_that_rejects_a_push_is_quoted(here: Side, way: Way) -> None:
    hook = Path(here.to) / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not on my watch\nexit 1\n")
    hook.chmod(0o755)
    here = way(here)
    with pytest.raises(Refused, match="pre-receive hook declined"):
        here.push()
    assert here.refs().refs == {}


def test_a_repository_that_refuses_this_kind_of_push_is_quoted(here: Side, way: Way) -> None:
    git(Path(here.to), "config", "receive.denyDeletes", "true")
    here = way(here)
    here.push()
    with pytest.raises(Refused, match="deletion prohibited"):
        here.push({MAIN: (here.head(), None)})


def test_no_such_repository_is_said(here: Side, way: Way) -> None:
    shutil.rmtree(here.to)
    here = way(here)
    for ask in (here.refs, lambda: here.push({MAIN: (None, here.head())})):
        with pytest.raises(Refused, match="no Git repository"):
            ask()


def test_a_remote_that_lost_an_object_gives_nothing(here: Side, way: Way) -> None:
    bare, served = Path(here.to), way(here)
    served.push()
    blob = git(here.root, "rev-parse", "HEAD:Crab.md").strip()
    (bare / "objects" / blob[:2] / blob[2:]).unlink()
    there = other(served)
    with pytest.raises(SyncError):
        there.fetch()
    assert git(there.root, "count-objects").startswith("0 ") and left_over(there.root) == []


def test_a_shallow_remote_gives_nothing(here: Side, way: Way) -> None:
    here.push()
    bare = Path(here.to)
    git(bare.parent, "clone", "-q", "--bare", "--depth", "1", bare.as_uri(), "shallow.git")
    here.to = str(bare.parent / "shallow.git")
    there = other(way(here))
    with pytest.raises(Untrusted, match="shallow"):
        there.fetch()
    assert git(there.root, "count-objects").startswith("0 ")


def test_many_push_at_once_and_each_is_told_where_it_stands(here: Side, way: Way) -> None:
    bare, here = Path(here.to), way(here)
    here.push()
    said = pushed_at_once([other(here, f"machine {number}") for number in range(3)])
    assert sorted(said) == ["Outrun", "Outrun", "done"] and is_whole(bare)


def test_another_server_without_the_newer_form_of_the_protocol_will_do(here: Side) -> None:
    bare = Path(here.to)
    with serving_by_dulwich(bare) as here.to:
        here.environ = {"PATH": ""}
        here.remember(70)
        here.push()
        there, old = other(here), here.head()
        there.take()
        assert there.head() == old and is_whole(there.root) and is_whole(bare)
        there.remember()
        there.push({MAIN: (old, there.head()), "refs/crabmem/x": (None, old)})
        with pytest.raises(Outrun):
            here.push({MAIN: (old, here.remember())})
        assert here.fetch() == 5 and here.refs().refs == {MAIN: there.head(), "refs/crabmem/x": old}


# ssh


def test_ssh_is_started_so_that_it_never_asks(here: Side, tmp_path: Path) -> None:
    side = Side(here.root, f"ssh://ann@memory.example:2222{here.to}", fake_ssh(tmp_path))
    side.refs()
    side.push()
    log = (tmp_path / "ssh.log").read_text().splitlines()
    assert "-oBatchMode=yes" in log[0] and "-oConnectTimeout=" in log[0] and "StrictHostKeyChecking" not in log[0]
    assert "-p 2222 -l ann -- memory.example git-upload-pack '" in log[0] and log[1] == "GIT_PROTOCOL=version=2"
    assert any("git-receive-pack" in line for line in log)


def test_options_of_ssh_that_git_is_told_count_here_and_another_program_is_named(here: Side, tmp_path: Path) -> None:
    environ = fake_ssh(tmp_path) | {"GIT_SSH_COMMAND": "/usr/bin/ssh -i '/keys/my key' -oBatchMode=no"}
    Side(here.root, f"memory.example:{here.to}", environ).refs()
    [line] = [each for each in (tmp_path / "ssh.log").read_text().splitlines() if "-oBatch" in each]
    assert "-i /keys/my key -oBatchMode=no -- memory.example" in line and line.index("=yes") < line.index("=no")
    denied = "echo 'ann@memory.example: Permission denied (publickey).' >&2; exit 255"
    other = fake_ssh(tmp_path, denied) | {"GIT_SSH_COMMAND": "touch /tmp/crabmem-started; ssh"}
    with pytest.raises(Refused, match="GIT_SSH_COMMAND names another program"):
        Side(here.root, f"memory.example:{here.to}", other).refs()
    assert not Path("/tmp/crabmem-started").exists()


def test_a_path_with_a_quote_and_a_space_is_one_path(here: Side, tmp_path: Path) -> None:
    odd = tmp_path / "it's $(touch mine) here.git"
    os.rename(here.to, odd)
    side = Side(here.root, f"memory.example:{odd}", fake_ssh(tmp_path))
    side.push()
    assert side.refs().refs == {MAIN: here.head()} and not (tmp_path / "mine").exists()


@pytest.mark.parametrize(
    ("before", "error", "words"),
    [
        ("echo 'Host key verification failed.' >&2; exit 255", Refused, "connect once by hand with `ssh ann@memory.ex"),
        ("echo 'ann@memory.example: Permission denied (publickey).' >&2; exit 255", Refused, "none of your ssh keys"),
        ("echo 'ssh: Could not resolve hostname memory.example: no' >&2; exit 255", Unreachable, "cannot be reached"),
        ("echo 'ssh: connect to host x port 22: Connection refused' >&2; exit 255", Unreachable, "refused"),
        ("echo 'ssh: connect to host x port 22: No route to host' >&2; exit 255", Unreachable, "route"),
        ("echo 'ERROR: Repository not found.' >&2; exit 1", Refused, "no Git repository"),
        ("echo 'sh: 1: git-upload-pack: not found' >&2; exit 127", Refused, "not found"),
        ("echo \"fatal: '/x' does not appear to be a git repository\" >&2; exit 128", Refused, "no Git repository"),
        (
            "echo 'remote: ====' 'remote: ERROR: The project could not be found.' >&2; exit 1",
            Refused,
            "no Git repository",
        ),
        (
            "printf '=====\\nERROR: The key is marked as read only.\\n====\\n' >&2; exit 1",
            Refused,
            "ERROR: The key is ma",
        ),
        ("exit 1", Unreachable, "hung up"),
        ("echo 'Welcome to the machine'; exit 0", Untrusted, "broke off"),
        ("printf '\\033]0;owned\\007 account expired' >&2; exit 1", Refused, "account expired"),
    ],
)
def test_what_ssh_complains_about_is_said_with_what_to_do(
    here: Side, tmp_path: Path, before: str, error: type[SyncError], words: str
) -> None:
    side = Side(here.root, f"ann@memory.example:{here.to}", fake_ssh(tmp_path, before))
    for ask in (side.refs, lambda: side.push({MAIN: (None, here.head())})):
        with pytest.raises(error, match=words) as caught:
            ask()
        assert caught.type is error and "\033" not in str(caught.value)


def test_ssh_that_hangs_is_ended_with_all_that_it_started(here: Side, tmp_path: Path) -> None:
    environ = fake_ssh(tmp_path, f"sleep 60 & echo $! > {tmp_path}/pid; wait")
    side = Side(here.root, f"memory.example:{here.to}", environ)
    began = time.monotonic()
    with pytest.raises(Unreachable, match="1 s"):
        side.refs(seconds=1)
    assert time.monotonic() - began < 10
    pid = int((tmp_path / "pid").read_text())
    assert _is_gone(pid)


def test_a_server_that_complains_without_end_keeps_nobody_waiting(here: Side, tmp_path: Path) -> None:
    environ = fake_ssh(tmp_path, "(yes 'remote: so much to say' | head -c 3000000) >&2")
    side = Side(here.root, f"memory.example:{here.to}", environ)
    side.push()
    assert side.refs().refs == {MAIN: here.head()}


def test_a_folder_that_the_search_path_only_names_by_a_dot_has_no_ssh(
    here: Side, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_ssh(tmp_path)
    monkeypatch.chdir(tmp_path / "programs")
    with pytest.raises(Refused, match="no `ssh`"):
        Side(here.root, f"memory.example:{here.to}", {"PATH": f".:{os.pathsep}"}).refs()


def _is_gone(pid: int, tries: int = 200) -> bool:
    for _ in range(tries):
        status = Path(f"/proc/{pid}/status")
        if not status.exists() or "State:\tZ" in status.read_text():
            return True
        time.sleep(0.05)
    return False


# HTTP


@pytest.fixture
def locked(here: Side) -> Iterator[tuple[Side, list[tuple[str, str | None]]]]:
    with serving(Path(here.to).parent, password="open sesame") as (address, asked):
        yield Side(here.root, f"{address}/bare.git", {"PATH": ""}), asked


_HELPER = """
printf '%s ' "$*" >> "{log}"; sed 's/$/;/' | tr -d '\\n' >> "{log}"; echo >> "{log}"
case "$*" in *get) printf 'username=ann\\npassword={password}\\n' ;; esac
"""


def helper(tmp_path: Path, side: Side, password: str = "open sesame", name: str = "vault") -> Path:
    """A credential helper, named in the person's configuration; what it is asked."""
    log = tmp_path / "helper.log"
    program(tmp_path, f"git-credential-{name}", _HELPER.format(log=log, password=password))
    (tmp_path / ".gitconfig").write_text(f"[credential]\n\thelper = {name}\n")
    side.environ = {"PATH": f"{tmp_path}/programs:/usr/bin:/bin", "HOME": str(tmp_path)}
    return log


def without_git(tmp_path: Path, side: Side) -> None:
    """Leave only what a helper needs on the search path."""
    for name in ("sh", "sed", "tr", "yes", "sleep"):
        (tmp_path / "programs" / name).symlink_to(shutil.which(name) or "")
    side.environ["PATH"] = f"{tmp_path}/programs"


def test_without_credentials_it_is_said_how_to_have_some(locked: tuple[Side, object]) -> None:
    side, _ = locked
    with pytest.raises(Refused, match=r"asks for a password, or token.*CRABMEM_SYNC_TOKEN"):
        side.refs()


@pytest.mark.parametrize("has_git", [True, False])
def test_the_persons_helper_is_asked_once_and_told_that_it_was_right(
    locked: tuple[Side, list[tuple[str, str | None]]], tmp_path: Path, has_git: bool
) -> None:
    side, asked = locked
    log = helper(tmp_path, side)
    if not has_git:
        without_git(tmp_path, side)
    side.push()
    assert side.refs().refs == {MAIN: side.head()}
    lines = log.read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["get", "store"] * 2  # once for each time that a remote is opened
    assert "host=127.0.0.1:" in lines[0] and "password=open sesame" in lines[1]
    assert sum(authorization is None for _, authorization in asked) == 2


@pytest.mark.parametrize("has_git", [True, False])
def test_a_helper_with_the_wrong_password_is_told_so_and_not_asked_again(
    locked: tuple[Side, list[tuple[str, str | None]]], tmp_path: Path, has_git: bool
) -> None:
    side, asked = locked
    log = helper(tmp_path, side, password="sesame")
    if not has_git:
        without_git(tmp_path, side)
    with pytest.raises(Refused, match="refuses the password") as caught:
        side.refs()
    assert [line.split()[0] for line in log.read_text().splitlines()] == ["get", "erase"]
    assert len(asked) == 2 and "sesame" not in str(caught.value)


@pytest.mark.parametrize("script", ["sleep 60", "yes", "echo", "printf 'password=\\001\\n'", "exit 3", "kill -9 $$"])
@pytest.mark.parametrize("has_git", [True, False])
def test_a_helper_that_hangs_or_prints_rubbish_is_none(
    locked: tuple[Side, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, has_git: bool
) -> None:
    monkeypatch.setattr("crabmem.remotes.credentials._SECONDS", 1.0)
    side, _ = locked
    helper(tmp_path, side)
    program(tmp_path, "git-credential-vault", script)
    if not has_git:
        without_git(tmp_path, side)
    began = time.monotonic()
    with pytest.raises(Refused, match="asks for a password"):
        side.refs()
    assert time.monotonic() - began < 10


def test_a_token_of_the_environment_is_sent_where_it_is_asked_for(here: Side) -> None:
    with serving(Path(here.to).parent, password="t0ken") as (address, asked):
        side = Side(here.root, f"{address.replace('//', '//ann@')}/bare.git", {"CRABMEM_SYNC_TOKEN": "t0ken"})
        side.push()
        assert "ann" not in side.remote()._limit.where
    assert asked[0][1] is None and asked[-1][1] is not None


def test_nothing_of_a_repositorys_own_configuration_is_followed(
    locked: tuple[Side, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side, _ = locked
    mark = tmp_path / "started"
    helper(tmp_path, side, password="sesame")
    (tmp_path / ".gitconfig").write_text("")
    with (side.root / ".git/config").open("a") as config:
        config.write(
            f'[credential]\n\thelper = "!touch {mark}; :"\n[http]\n\tproxy = http://127.0.0.1:9\n'
            f'[url "http://127.0.0.1:9/"]\n\tinsteadOf = {side.to.rpartition("/")[0]}/\n'
            f'[core]\n\tsshCommand = "touch {mark}; :"\n\taskPass = "touch {mark}; :"\n'
        )
    monkeypatch.chdir(side.root)
    side.environ["GIT_DIR"] = str(side.root / ".git")
    with pytest.raises(Refused, match="asks for a password"):
        side.refs()
    Side(side.root, f"memory.example:{tmp_path}/bare.git", fake_ssh(tmp_path)).refs()
    assert not mark.exists()


def test_a_helper_may_leave_something_running_and_sees_no_token(
    locked: tuple[Side, list[tuple[str, str | None]]], tmp_path: Path
) -> None:
    side, _ = locked
    helper(tmp_path, side)
    said = "printf 'username=ann\\npassword=open sesame\\n'"
    keep = f"sleep 20 >/dev/null 2>&1 & echo $! > {tmp_path}/pid"
    program(tmp_path, "git-credential-vault", f"env > {tmp_path}/env\ncase $1 in get) {said};; store) {keep};; esac")
    side.refs()
    assert not _is_gone(int((tmp_path / "pid").read_text()), tries=1)
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    program(tmp_path, "git-credential-vault", f"env > {tmp_path}/env; exit 1")
    side.environ |= {"CRABMEM_SYNC_TOKEN": ""}
    with pytest.raises(Refused):
        side.refs()
    seen = (tmp_path / "env").read_text()
    assert "CRABMEM_SYNC_TOKEN" not in seen and "GIT_TERMINAL_PROMPT=0" in seen and "GIT_ASKPASS=\n" in seen


def _elsewhere(uri: str) -> Callable[[Backend], bool]:
    """Answer a fetch as one that takes the pack from another place."""

    def instead(handler: Backend) -> bool:
        if handler.command != "POST" or handler.count < 2:
            return False
        lines = [b"packfile-uris\n", f"{uri} sha1 {'1' * 40}\n".encode(), b"packfile\n", b"\x01PACK"]
        body = b"".join(b"%04x" % (len(line) + 4) + line for line in lines) + b"0000"
        handler.answer(200, body, {"Content-Type": "application/x-git-upload-pack-result"})
        return True

    return instead


def test_a_server_cannot_have_us_ask_another_one(here: Side) -> None:
    here.push()
    with ExitStack() as stack:
        elsewhere, asked = stack.enter_context(serving(Path(here.to).parent))
        address, _ = stack.enter_context(
            serving(Path(here.to).parent, instead=_elsewhere(f"{elsewhere.replace('http:', 'https:')}/x"))
        )
        there = Side(other(here).root, f"{address}/bare.git", {})
        with pytest.raises(Refused, match="not followed"):
            there.fetch([here.head()])
        assert asked == []


def test_a_fetch_that_is_not_done_in_time_leaves_nothing(here: Side) -> None:
    here.push()

    def instead(handler: Backend) -> bool:
        return handler.command == "POST" and handler.count > 1 and _drip(handler)

    with serving(Path(here.to).parent, instead=instead) as (address, _):
        there = Side(other(here).root, f"{address}/bare.git", {})
        began = time.monotonic()
        with pytest.raises(Unreachable, match="for 1 s"):
            there.fetch([here.head()], seconds=1)
        assert time.monotonic() - began < 4 and left_over(there.root) == []


def moved(place: str) -> Callable[[Backend], bool]:
    def instead(handler: Backend) -> bool:
        if handler.path.startswith("/old.git"):
            handler.answer(302, b"", {"Location": handler.path.replace("/old.git", place)})
            return True
        return False

    return instead


def test_a_repository_that_moved_on_the_same_host_is_followed(here: Side) -> None:
    with serving(Path(here.to).parent, instead=moved("/bare.git")) as (address, asked):
        side = Side(here.root, f"{address}/old.git", {})
        side.push()
        assert side.refs().refs == {MAIN: here.head()}
    assert not any(path.startswith("/old.git/git-") for path, _ in asked)


def test_one_that_moved_elsewhere_is_named_and_not_followed(here: Side) -> None:
    with ExitStack() as stack:
        elsewhere, asked = stack.enter_context(serving(Path(here.to).parent, password="sesame"))
        address, _ = stack.enter_context(serving(Path(here.to).parent, instead=moved(f"{elsewhere}/bare.git")))
        side = Side(here.root, f"{address}/old.git", {"CRABMEM_SYNC_TOKEN": "sesame"})
        with pytest.raises(Refused, match=f"has moved to {elsewhere}/bare.git, which is not followed"):
            side.refs()
    assert asked == []


def test_one_that_sends_in_circles_is_left(here: Side) -> None:
    with (
        serving(Path(here.to).parent, instead=moved("/old.git")) as (address, asked),
        pytest.raises(Refused, match="302"),
    ):
        Side(here.root, f"{address}/old.git", {}).refs()
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (403, Refused, "forbids"),
        (404, Refused, "no Git repository"),
        (407, Refused, "proxy"),
        (413, Refused, "of this size"),
        (418, Refused, "418"),
        (429, Unreachable, "429"),
        (503, Unreachable, "try again later"),
        (200, Refused, "what answers is `text/html`"),
    ],
)
def test_what_a_server_answers_is_said_with_what_to_do(
    here: Side, status: int, error: type[SyncError], words: str
) -> None:
    def instead(handler: Backend) -> bool:
        handler.answer(status, b"<html>Please log in</html>", {"Content-Type": "text/html"})
        return True

    with serving(Path(here.to).parent, instead=instead) as (address, _):
        side = Side(here.root, f"{address}/bare.git", {})
        for ask in (side.refs, lambda: side.push({MAIN: (None, here.head())})):
            with pytest.raises(error, match=words):
                ask()


def _drip(handler: Backend) -> bool:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for number in itertools.count():
        time.sleep(0.2)
        try:
            handler.wfile.write(b"X-%d: y\r\n" % number)
        except OSError:
            return True
    return True


def _silent(handler: Backend) -> bool:
    time.sleep(5)
    handler.close_connection = True
    return True


def _slow_body(handler: Backend) -> bool:
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\nContent-Length: 99999\r\n\r\n"
    )
    handler.wfile.write(head)
    for _ in range(50):
        time.sleep(0.2)
        try:
            handler.wfile.write(b"2")
        except OSError:
            return True
    return True


@pytest.mark.parametrize("instead", [_drip, _silent, _slow_body])
def test_a_server_that_is_slow_or_silent_has_its_time_and_no_more(
    here: Side, instead: Callable[[Backend], bool]
) -> None:
    with serving(Path(here.to).parent, instead=instead) as (address, _):
        began = time.monotonic()
        with pytest.raises(Unreachable):
            Side(here.root, f"{address}/bare.git", {}).refs(seconds=1)
        assert time.monotonic() - began < 4


def _endless(handler: Backend) -> bool:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
    handler.end_headers()
    line = b"0033" + b"1" * 40 + b" refs/x\n"[:7]
    handler.close_connection = True
    try:
        handler.wfile.write(b"001e# service=git-upload-pack\n0000")
        while True:
            handler.wfile.write(line * 10_000)
    except OSError:
        return True


def test_a_server_that_says_too_much_is_left(here: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crabmem.remotes.remote.MOST_REFS", 200_000)
    with serving(Path(here.to).parent, instead=_endless) as (address, _), pytest.raises(Untrusted, match="200,000 b"):
        Side(here.root, f"{address}/bare.git", {}).refs()


def test_a_host_that_is_not_there_is_unreachable(here: Side) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(Unreachable, match="refused"):
        Side(here.root, f"http://127.0.0.1:{port}/x.git", {}).refs()


def test_a_server_that_is_no_https_is_said_so(here: Side) -> None:
    with serving(Path(here.to).parent) as (address, _), pytest.raises(Refused, match="cannot show that it is"):
        Side(here.root, f"{address.replace('http:', 'https:')}/bare.git", {}).refs()


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate of `localhost`, made by itself, with its key."""
    if not shutil.which("openssl"):
        pytest.skip("NOT RUN: there is no openssl to make a certificate with")
    file = tmp_path / "certificate.pem"
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    subprocess.run(["openssl", *words.split(), "-keyout", file, "-out", file], capture_output=True, check=True)
    text = file.read_text()
    if "PRIVATE KEY" not in text:  # openssl has written the one over the other
        subprocess.run(["openssl", *words.split(), "-keyout", f"{file}.key", "-out", file], check=True)
        file.write_text(file.read_text() + Path(f"{file}.key").read_text())
    return file


def test_a_server_with_a_certificate_of_its_own_is_believed_where_it_is_named(here: Side, certificate: Path) -> None:
    with serving(Path(here.to).parent, certificate=certificate) as (address, _):
        side = Side(here.root, f"{address}/bare.git", {})
        with pytest.raises(Refused, match="SSL_CERT_FILE"):
            side.refs()
        side.environ = {"SSL_CERT_FILE": str(certificate)}
        side.push()
        assert side.refs().refs == {MAIN: here.head()}
        with pytest.raises(Refused, match=r"cannot show that it is 127\.0\.0\.1"):
            Side(here.root, side.to.replace("localhost", "127.0.0.1"), side.environ).refs()


def test_a_proxy_is_gone_through_but_where_none_is_wanted(here: Side, certificate: Path) -> None:
    with proxy() as (place, connected), serving(Path(here.to).parent, certificate=certificate) as (address, asked):
        environ = {"https_proxy": f"http://me:through@{place}", "SSL_CERT_FILE": str(certificate)}
        side = Side(here.root, f"{address}/bare.git", environ)
        side.push()
        assert side.refs().refs == {MAIN: here.head()} and set(connected) == {address.removeprefix("https://")}
        connected.clear()
        side.environ["NO_PROXY"] = "example.org, localhost"
        side.refs()
        assert connected == []
        side.environ = {"HTTPS_PROXY": place, "SSL_CERT_FILE": str(certificate)}
        before = len(asked)
        with pytest.raises((Unreachable, Refused), match="proxy before"):
            side.refs()
        assert len(asked) == before


def test_a_proxy_of_the_environment_is_used_and_one_that_is_not_there_is_named(here: Side) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environ = {"HTTPS_PROXY": f"http://me:secret@127.0.0.1:{port}"}
    with pytest.raises(Unreachable, match=r"proxy before https://memory\.example/x\.git") as caught:
        Side(here.root, "https://memory.example/x.git", environ).refs()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("cut", [0.0, 0.3, 0.9, 0.999])
def test_a_fetch_that_is_cut_short_leaves_nothing(here: Side, cut: float) -> None:
    here.push()

    def instead(handler: Backend) -> bool:
        if not handler.path.endswith("/git-upload-pack"):
            return False

        def answer(status: int, body: bytes, headers: dict[str, str]) -> None:
            if b"PACK" in body:
                headers["Content-Length"] = str(len(body))
                body = body[: int(len(body) * cut)]
                handler.close_connection = True
            Backend.answer(handler, status, body, headers)

        handler.answer = answer  # type: ignore[method-assign]
        return False

    with serving(Path(here.to).parent, instead=instead) as (address, _):
        there = Side(other(here).root, f"{address}/bare.git", {})
        with pytest.raises(SyncError):
            there.fetch()
    assert git(there.root, "count-objects").startswith("0 ") and left_over(there.root) == []
