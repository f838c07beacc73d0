"""One running process answers for others: the same to the byte, for verbs that read alone, and never a wrong answer."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from crabmem import Memory
from crabmem.ask import READING_HOOKS, VERBS, WAIT, identity, place, received, send
from crabmem.standby import offer
from tests import forked, samples
from tests.faults.actors import waited

#: `crabmem` as a process that cannot do anything by itself: what it prints was answered by another.
ASKING = [
    sys.executable,
    "-c",
    "import sys; sys.modules['crabmem.cli'] = sys.modules['crabmem.hosts'] = None\n"
    "sys.argv[0] = 'crabmem'; from crabmem.__main__ import main; main()",
]
MESSAGE = "What is the password for guests of the wifi?"
Answer = tuple[int, bytes, bytes]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's folder, of a path short enough for sockets; its processes ask for, and offer, answers."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("XDG_STATE_HOME", f"{folder}/state")
        monkeypatch.delenv("CRABMEM_ALONE")
        monkeypatch.setattr(offer, "SOON", 0.01)
        yield Path(folder)


@pytest.fixture
def notes(home: Path) -> Path:
    """A workspace with some facts and a past."""
    root = home / "notes"
    with Memory(root, agent="coder", session="s-1") as memory:
        memory.remember("Deploy key", "where the deploy key lives", "In the vault, under ops/deploy.", tags=["ops"])
        memory.remember("Wifi", "the password for guests", "On the router.", aliases=["wlan"])
        memory.write_overview("# Overview\n\nSee [[Wifi]].\n")
        memory.remember("Wifi", "the password for guests", "On the back of the router.", aliases=["wlan"])
    return root


def done(
    words: Sequence[str],
    said: bytes = b"",
    command: Sequence[str] = forked.COMMAND,
    cwd: Path | None = None,
    environ: Mapping[str, str] = MappingProxyType({}),
) -> Answer:
    """The answer of a process of `crabmem` with these words."""
    ran = subprocess.run(
        [*command, *words], input=said, capture_output=True, cwd=cwd, env={**os.environ, **environ}, timeout=60
    )
    return ran.returncode, ran.stdout, ran.stderr


def alone(words: Sequence[str], said: bytes = b"") -> Answer:
    """The answer of a process that asks nobody."""
    return done(words, said, environ={"CRABMEM_ALONE": "1"})


def served(words: Sequence[str], said: bytes = b"", **more: Any) -> Answer:
    """The answer of another process; asked again where a busy machine took longer than anybody waits."""
    until = time.monotonic() + 20
    while b"ModuleNotFoundError" in (answer := done(words, said, ASKING, **more))[2]:
        assert time.monotonic() < until, answer
    return answer


@contextmanager
def standing_by(words: Sequence[str]) -> Iterator[None]:
    """Stand by, until the block ends, and be ready to answer these words of a verb at once."""
    with offer.offering(os.environ):
        assert waited(lambda: done(words, command=ASKING)[0] == 0), done(words, command=ASKING)
        yield


def hook(event: str, session: str = "", **more: str) -> bytes:
    """The words of a host at an event of a session that is new."""
    return json.dumps({"session_id": session or os.urandom(6).hex(), "prompt": MESSAGE, **more}).encode()


def _ways() -> Iterator[tuple[list[str], bytes]]:
    """Every way in which the tests try a verb that may be answered by another, right and wrong ones, and hooks."""
    for name in samples.verbs():
        verb, (first, *rest) = samples.verb(name), name.split()
        if first in VERBS - {"hook"} and verb.does == "looks" and rest in ([], ["show"]):
            typed = samples.typed(name)
            unseen = [[*name.split(), *shlex.split(way)] for way in verb.unseen or ()]
            for words in (typed, [*typed, "--json"], [*typed, "--help"], [*typed, "--odd"], *unseen):
                yield words, b""
    for event in sorted(READING_HOOKS):
        for host in ("claude-code", "gemini"):
            yield ["hook", event, "--host", host], hook(event)


def _served_like_alone(root: Path, ways: Sequence[tuple[list[str], bytes]]) -> None:
    with standing_by(["--dir", str(root), "show", "wifi"]):
        for verb, said in ways:
            words = ["--dir", str(root), *verb]
            wanted = alone(words, said)
            # The session of a hook before was told already.
            assert served(words, hook(verb[1]) if said else b"") == wanted, words


def test_every_verb_that_reads_prints_the_same_to_the_byte(notes: Path) -> None:
    ways = list(_ways())
    assert {words[0] for words, _ in ways} == VERBS and len(ways) > 60
    _served_like_alone(notes, ways)


def test_recall_show_and_the_hook_print_the_same_to_the_byte(notes: Path) -> None:
    words = ["recall password", "recall nothing-like-it", "show Nobody", "recall --odd"]
    _served_like_alone(notes, [(shlex.split(each), b"") for each in words] + [(["hook", "prompt"], hook("prompt"))])


@pytest.mark.parametrize(
    "environ",
    [{"CLICOLOR_FORCE": "1"}, {"TZ": "Asia/Tokyo"}, {"CRABMEM_PROFILE": "claw"}, {"CRABMEM_DIR": "notes"}],
)
def test_the_environment_and_folder_of_who_asks_count(notes: Path, environ: dict[str, str]) -> None:
    given = {"CRABMEM_DIR": str(notes), **environ}
    expected = done(["log"], cwd=notes.parent, environ={**given, "CRABMEM_ALONE": "1"})
    with standing_by(["--dir", str(notes), "log"]):
        assert served(["log"], cwd=notes.parent, environ=given) == expected
    assert expected[1]


def test_what_is_said_and_what_is_told_come_in_order_where_both_are_one_file(notes: Path) -> None:
    words = ["--dir", str(notes), "recall", "nothing-like-it"]
    with standing_by(["--dir", str(notes), "show", "wifi"]):
        until = time.monotonic() + 20
        while True:
            ran = subprocess.run([*ASKING, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if b"ModuleNotFoundError" not in ran.stdout or time.monotonic() > until:
                break
    expected = alone(words)
    assert (ran.returncode, ran.stdout) == (expected[0], b"".join(expected[1:])) and ran.stdout


@pytest.mark.parametrize(
    "words",
    ["remember recall -d d -c c", "overview set -c recall", "identity edit", "hook wrote", "hook session-end", "hook",
     "forget log", "call recall {}", "recall -"],
)  # fmt: skip
def test_what_may_write_is_done_by_the_process_itself(notes: Path, words: str) -> None:
    with standing_by(["--dir", str(notes), "show", "wifi"]):
        assert _was_left_alone(["--dir", str(notes), *shlex.split(words)], hook(""))


def test_where_a_model_would_be_loaded_or_a_service_asked_a_process_does_it_by_itself(notes: Path) -> None:
    words = ["--dir", str(notes), "recall", "password"]
    with standing_by(words):
        (notes / "crabmem.toml").write_text('[vectors]\nmodel = "nowhere"\n')
        assert _was_left_alone(words) and done(words) == alone(words)


def _was_left_alone(words: Sequence[str], said: bytes = b"") -> bool:
    """Whether nobody answers a process that cannot do it by itself."""
    return b"ModuleNotFoundError" in done(words, said, ASKING)[2]


def test_a_change_is_seen_at_once_whatever_it_is(notes: Path) -> None:
    """By an editor, another process, a setting, a purge, a folder that was moved."""
    words = ["--dir", str(notes), "recall", "password"]

    def check(holds: str) -> None:
        for _ in range(2):  # the first finds no engine that fits, and leaves one
            answer = done(words)
            assert answer == alone(words) and holds.encode() in answer[1] + answer[2]

    with standing_by(words):
        file = notes / "memory" / "entries" / "wifi.md"
        file.write_text(file.read_text().replace("On the back", "Password: on the front"))
        assert b"on the front" in served(words)[1]
        file.rename(file.with_name("net.md"))
        assert b"net.md" in served(words)[1]
        assert alone(["--dir", str(notes), "remember", "Safe", "-d", "password", "-c", "1234"])[0] == 0
        assert b"1234" in served(words)[1]
        (notes / "crabmem.toml").write_text("recall_limit = 1\n")
        check("Safe")
        (notes / "crabmem.toml").write_text('layout = "nested"\n')
        check("layout")
        (notes / "crabmem.toml").unlink()
        assert alone(["--dir", str(notes), "purge", "Safe", "--yes"])[0] == 0
        check("net.md")
        notes.rename(notes.with_name("elsewhere"))
        check("no memory in")
        assert alone(["--dir", str(notes), "remember", "Other", "-d", "password", "-c", "5678"])[0] == 0
        check("5678")


def _asked(words: Sequence[str], said: bytes = b"", environ: Mapping[str, str] = MappingProxyType({})) -> socket.socket:
    """A client of the process that stands by, which has asked."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(20)
    client.connect(place(os.environ))
    given = [f"{name}={value}".encode() for name, value in {**os.environ, **environ}.items()]
    words = ["crabmem", *words]
    head = [b"", os.getcwdb(), str(len(words)).encode(), *map(os.fsencode, words), *given]
    send(client, _identity(), b"\0".join(head), said)
    return client


def _answered(words: Sequence[str], said: bytes = b"") -> tuple[socket.socket, list[bytes]]:
    """The same, and what it was answered; asked again where a busy machine took too long."""
    until = time.monotonic() + 20
    while True:
        client = _asked(words, said)
        try:
            return client, received(client, 4, until)
        except (EOFError, ConnectionError):
            client.close()
            assert time.monotonic() < until


@cache
def _identity() -> bytes:
    """The identity of a process with plain streams."""
    code = "import os, sys; from crabmem.ask import identity; sys.stdout.buffer.write(identity(os.environ))"
    return subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True).stdout


@pytest.mark.parametrize("is_heard", [True, False])
def test_what_was_said_counts_once_it_was_heard(notes: Path, is_heard: bool) -> None:
    words, turns = ["--dir", str(notes), "hook", "prompt"], notes / ".git" / "crabmem" / "turns"
    with standing_by(["--dir", str(notes), "show", "wifi"]):
        client, answer = _answered(words, hook("", "s-9"))
        with client:
            assert b"On the back" in answer[2]
            assert not turns.exists()
            if is_heard:
                client.send(b"\1")
                assert client.recv(1) == b""  # it has ended
        again = served(words, hook("", "s-9"))
        # Whoever was answered says so and goes; on a busy machine the server writes that down a moment later.
        assert waited(lambda: turns.exists() and turns.read_text().count('"s-9"') >= 1 + is_heard)
    assert (b"On the back" in again[1]) is not is_heard
    assert turns.read_text().count('"s-9"') == 1 + is_heard


@pytest.mark.parametrize("environ", [{"XDG_STATE_HOME": "/x"}, {"HOME": "", "XDG_STATE_HOME": ""}])
def test_nobody_may_ask_in_the_name_of_another_state(notes: Path, environ: dict[str, str]) -> None:
    """In which a stranger could say what may leave this machine."""
    words = ["--dir", str(notes), "show", "wifi"]
    with standing_by(words):
        _answered(words)[0].close()
        with _asked(words, environ=environ) as client, pytest.raises(EOFError):
            received(client, 4, time.monotonic() + 20)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_is_not_answered(notes: Path) -> None:
    words = ["--dir", str(notes), "show", "wifi"]
    folder = Path(place(os.environ)).parent
    with standing_by(words):
        for each in (folder, *list(folder.parents)[:3]):
            each.chmod(0o777)
        Path(place(os.environ)).chmod(0o777)
        # Its folder is no longer of this user alone.
        assert _was_left_alone(words) and _identity()
        os.seteuid(65_534)
        try:
            with _asked(words) as client, pytest.raises((EOFError, ConnectionError)):
                received(client, 4, time.monotonic() + 20)
        finally:
            os.seteuid(0)
        folder.chmod(0o700)
        assert served(words)[0] == 0


@contextmanager
def _answering(answer: Callable[[socket.socket], None] | None) -> Iterator[None]:
    """Something listens in place of a server of ours, and does this with whoever asks; None for nobody, any more."""
    where = Path(place(os.environ))
    where.parent.mkdir(parents=True, mode=0o700)
    clients: list[socket.socket] = []
    with socket.socket(socket.AF_UNIX) as listens:
        listens.bind(str(where))

        def serve() -> None:
            with suppress(OSError):
                while True:
                    clients.append(listens.accept()[0])
                    assert answer
                    answer(clients[-1])

        if answer:
            listens.listen()
            threading.Thread(target=serve, daemon=True).start()
        yield
        listens.shutdown(socket.SHUT_RDWR)
    for client in clients:
        client.close()


def _says(*texts: bytes) -> Callable[[socket.socket], None]:
    def answer(client: socket.socket) -> None:
        received(client, 3, time.monotonic() + 20)
        send(client, *texts)
        client.close()

    return answer


_WRONG: Mapping[str, Callable[[socket.socket], None] | None] = {
    "stale": None,
    "hangs": lambda client: None,
    "closes": lambda client: client.close(),
    "another version": _says(b"('0.0.9',)", b"0", b"wrong", b""),
    "half": _says(b"x", b"0"),
    "noise": lambda client: client.sendall(b"\0\0\0\0\0\0\0\2hello"),
}


@pytest.mark.parametrize("wrong", _WRONG)
@pytest.mark.parametrize("verb", ["hook prompt", "show wifi"])
def test_where_something_else_listens_a_process_does_it_by_itself_in_time(notes: Path, wrong: str, verb: str) -> None:
    words, said = ["--dir", str(notes), *verb.split()], hook("")
    expected = alone(words, said)
    began = time.monotonic()
    alone(words, hook(""))
    usual = time.monotonic() - began
    with _answering(_WRONG[wrong]):
        began = time.monotonic()
        assert done(words, hook("")) == expected
    assert time.monotonic() - began < WAIT + 5 * usual + 1
    assert b"router" in expected[1]


def test_standard_input_that_comes_late_or_in_pieces_is_read_to_its_end(notes: Path) -> None:
    words = ["--dir", str(notes), "hook", "prompt", "--deadline", "60"]
    with standing_by(["--dir", str(notes), "show", "wifi"]):
        for pause in (WAIT / 3, WAIT * 1.5):
            with subprocess.Popen([*forked.COMMAND, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as asks:
                assert asks.stdin and asks.stdout
                said = hook("")
                asks.stdin.write(said[:30])
                asks.stdin.flush()
                time.sleep(pause)
                asks.stdin.write(said[30:])
                asks.stdin.close()
                assert b"On the back" in asks.stdout.read()


def _helpers() -> list[int]:
    """The processes that answer for the user of this test."""
    found = []
    for each in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            words = (each / "cmdline").read_bytes()
            ours = f"XDG_STATE_HOME={os.environ['XDG_STATE_HOME']}".encode()
            number = int(each.name)
            if b"stand_by" in words and os.getsid(number) == number and ours in (each / "environ").read_bytes():
                found.append(number)
    return found


@contextmanager
def ending(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Have a process end with the block, however that does."""
    try:
        yield
    finally:
        process.kill()


def test_when_a_server_is_killed_the_next_one_stands_by(notes: Path) -> None:
    words = ["--dir", str(notes), "show", "wifi"]
    command = [sys.executable, "-m", "crabmem", "--dir", str(notes), "watch"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as first, ending(first):
        assert waited(lambda: done(words, command=ASKING)[0] == 0)
        [helper] = _helpers()
        with standing_by(words):
            assert _helpers() == [helper]  # one stands by at a time
            first.kill()
            first.wait()
            assert waited(lambda: not done(words, command=ASKING)[0] and _helpers() not in ([], [helper]))
        assert waited(lambda: not _helpers())
    assert not Path(place(os.environ)).exists()


@pytest.mark.parametrize("verb", ["mcp", "mcp --http --port 0", "ui --no-open", "watch"])
def test_each_server_stands_by_and_leaves_nothing_behind(notes: Path, verb: str) -> None:
    words = ["--dir", str(notes), "show", "wifi"]
    command = [sys.executable, "-m", "crabmem", "--dir", str(notes), *verb.split()]
    nothing = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing) as server, ending(server):
        assert waited(lambda: done(words, command=ASKING)[0] == 0)
        server.terminate()
        server.wait()
        assert not Path(place(os.environ)).exists() and not _helpers()


def test_a_helper_that_hangs_or_dies_in_the_middle_costs_no_answer(notes: Path) -> None:
    """Short form of the one below: a fork for each hook, of which the group is stopped or killed at any moment."""
    _killed_in_the_middle(notes, 12)


def test_kills_in_the_middle_of_a_thousand_hooks_cost_no_answer(notes: Path) -> None:
    _killed_in_the_middle(notes, 1_000)


def _killed_in_the_middle(notes: Path, count: int) -> None:
    words = ["--dir", str(notes), "hook", "prompt", "--deadline", "60"]
    expected, over = alone(words, hook("")), threading.Event()

    def kill() -> None:
        number = 0
        while not over.wait(0.05 + number % 7 * 0.03):
            for helper in _helpers():
                with suppress(OSError):
                    os.killpg(helper, signal.SIGSTOP if number % 5 == 4 else signal.SIGKILL)
                    over.wait(0.1)
                    os.killpg(helper, signal.SIGKILL)
            number += 1

    killer = threading.Thread(target=kill)
    with standing_by(["--dir", str(notes), "show", "wifi"]):
        killer.start()
        try:
            for number in range(count):
                assert done(words, hook("", f"k-{number}")) == expected
        finally:
            over.set()
            killer.join()
    sessions = [json.loads(line)["session"] for line in (notes / ".git/crabmem/turns").read_bytes().splitlines()]
    assert b"router" in expected[1] and len(set(sessions)) == len(sessions) <= count + 1


def test_a_process_that_prints_to_a_reader_who_left_says_nothing(notes: Path) -> None:
    words = ["--dir", str(notes), "list"]
    with standing_by(words):
        read, write = os.pipe()
        os.close(read)
        for command in (ASKING, forked.COMMAND):
            ran = subprocess.run([*command, *words], stdout=write, stderr=subprocess.PIPE)
            assert command is ASKING or (ran.returncode, ran.stderr) == (1, b"")
        os.close(write)


def test_who_wants_no_such_process_has_none(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRABMEM_ALONE", "1")
    with offer.offering(os.environ):
        time.sleep(0.1)
        assert not Path(os.environ["XDG_STATE_HOME"], "crabmem", "standby").exists()
    assert identity(os.environ)
