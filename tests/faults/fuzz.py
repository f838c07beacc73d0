"""Feeds every parser and every way in with what a fuzzer makes up: nothing but an answer or a `CrabmemError` may come.

Hypothesis mutates samples; where `atheris` is installed, a second round follows what runs in the code under test.
Both work in processes of their own, so that one that dies or hangs is seen and its input known.
`python -m tests.faults.fuzz TARGET FILE` feeds one input again.
"""

import importlib
import importlib.util
import mmap
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from . import Say
from .fuzzed import FRAGMENTS, TARGETS, Target, assert_git_takes_commits, clear_scratch

#: Seconds of processor time that one input may take, and of waiting, for locks too.
BOUND = 1.0
PATIENCE = 4.0
#: A process that is this much longer than asked for hangs where Python cannot be interrupted.
_HANGS_AFTER = 60
_EXAMPLES = {False: (50, 8), True: (4_000, 400)}  # fast and slow targets
_GUIDED_SECONDS = {False: 6, True: 660}
_LONGEST = 4_096
_ROOT = Path(__file__).parent.parent.parent

#: Inputs that once broke a promise, with the target they broke it for.
ONCE_FAILED: tuple[tuple[str, bytes], ...] = (
    ("diffs", b"---\xef\xbb\xbf\xef\xbb\xbf: \n---\x01\xef\xbb\xbf\n"),
    ("journal", b'{"steps": {"": {"temporary": "\xfe"}}}'),
    ("displaced", b'{"\xff": "memory/entries/a.md"}'),
    ("displaced", b"[" * 100_000),
    ("workspaces", b"\x03\x00\xff\xfe"),  # a list of repairs that is no text
    ("workspaces", b"\x11\x00"),  # the mark of a gc, zero-length
    ("workspaces", b"\x11\x00garbage"),
    (
        "tools",
        b"\xe0\xb9\x84\xe0\n\xa2Z\x18\x9bk\xe3!\xbf\xae\xb9\xe0I\x1b\x97\xd4+ZoOs2\x92~\xbc\xe2\xa9\x9d+\xf9b\xeb\x16\xec\x02"
        b"\xa3r\x9c\xf9\x95",
    ),
    ("command_line", b"V\xba\xe9<1\xbdo\xbc\xbb\xc9\x06\x9c\xf5\xf1\xb80\x81\xf7"),
)


class Told:
    """The input being fed and the number fed so far, where another process reads them when this one has died."""

    def __init__(self, file: Path) -> None:
        if not file.exists():
            file.write_bytes(bytes(2**20))
        with file.open("r+b") as stream:
            self._map = mmap.mmap(stream.fileno(), 0)

    @property
    def count(self) -> int:
        """How many inputs were fed."""
        return int.from_bytes(self._map[:8], "big")

    @property
    def current(self) -> tuple[str, bytes]:
        """The target and the input that it was fed last."""
        name, _, data = self._map[16 : 16 + int.from_bytes(self._map[8:16], "big")].partition(b"\0")
        return name.decode(), data

    def next(self, name: str, data: bytes) -> None:
        """Tell that `data` is fed now."""
        said = name.encode() + b"\0" + data[: 2**19]
        self._map[: 16 + len(said)] = (self.count + 1).to_bytes(8, "big") + len(said).to_bytes(8, "big") + said


def run(long: bool, say: Say) -> Mapping[str, int]:
    """Replay what once failed, then make up inputs: some in short form, more than ten minutes of them in long."""
    number = random.SystemRandom().randrange(2**31) if long else 1
    with tempfile.TemporaryDirectory() as folder:
        replayed = _in_a_process(Path(folder), "replay", "all", 0, number)
        say(f"  fed {replayed} inputs that once failed; the seed is {number}")
        made_up = _mutated(Path(folder), long, number, say)
        guided = _guided(Path(folder), long, number, say)
    return {"targets": len(TARGETS), "replayed": replayed, "made up": made_up, "guided": guided}


def _mutated(folder: Path, long: bool, number: int, say: Say) -> int:
    total = 0
    for name in TARGETS if long else ["all"]:
        total += _in_a_process(folder, "mutate", name, int(long), number)
        if long:
            say(f"  {name}: {total:,} inputs made up so far")
    return total


def _guided(folder: Path, long: bool, number: int, say: Say) -> int:
    """Inputs that follow what runs in the code under test; 0 without atheris."""
    if importlib.util.find_spec("atheris") is None:
        say("  atheris is not installed: no inputs follow the code (pip install atheris)")
        return 0
    names = list(TARGETS) if long else ["all"]
    total = 0
    for name in names:
        total += _in_a_process(folder, "guide", name, _GUIDED_SECONDS[long] // len(names), number)
        if long:
            say(f"  {name}: {total:,} inputs followed the code so far")
    return total


def _in_a_process(folder: Path, how: str, name: str, much: int, number: int) -> int:
    """Feed `name` in a process of its own; how many inputs it took.

    Raises:
        AssertionError: it died, hung, or broke a promise; the message has the input.
    """
    told = folder / f"{how}-{name}"
    words = [sys.executable, "-c", _PROGRAM, how, name, str(much), str(number), str(told)]
    limit = (much if how == "guide" else 1_800) + _HANGS_AFTER
    with (folder / "said").open("wb") as said:
        child = subprocess.Popen(words, cwd=_ROOT, stdout=said, stderr=said)
        try:
            code = child.wait(limit)
        except subprocess.TimeoutExpired:
            code = -signal.SIGKILL
        finally:
            child.kill()
            child.wait()
            clear_scratch(child.pid)
    fed = Told(told)
    if code:
        text = (folder / "said").read_text("utf-8", "replace")
        raise AssertionError(_failure(text, code, number, *fed.current))
    return fed.count


def _failure(text: str, code: int, number: int, name: str, data: bytes) -> str:
    """What to tell about a process that failed: the promise is in the traceback, the input beside it."""
    kept = Path(tempfile.gettempdir()) / f"crabmem-fuzz-{name}-{number}"
    kept.write_bytes(data)
    end = "\n".join(line for line in text.splitlines() if line.strip())[-3_000:]
    again = f"python -m tests.faults.fuzz {name} {kept}"
    return f"{end}\nfuzz: target {name}, seed {number}, exit status {code}, input {data[:200]!r}; again: {again}"


# What runs in the other process

_PROGRAM = """
import sys
if sys.argv[1] == "guide":
    import atheris
    with atheris.instrument_imports(include=["crabmem", "dulwich", "frontmatter", "slugify"]):
        from tests.faults import fuzz
else:
    from tests.faults import fuzz
fuzz.feed(*sys.argv[1:])
"""


def feed(how: str, name: str, much: str, number: str, told: str) -> None:
    """Feed one target, or all, in this process."""
    signal.signal(signal.SIGPROF, _too_slow)
    signal.signal(signal.SIGALRM, _too_slow)
    chosen = list(TARGETS.values()) if name == "all" else [TARGETS[name]]
    fed = Told(Path(told))
    try:
        if how == "replay":
            _replay(fed)
        elif how == "mutate":
            _mutate(chosen, bool(int(much)), int(number), fed)
        else:
            _guide(chosen, int(much), int(number), fed, Path(tempfile.mkdtemp(dir=Path(told).parent)))
        assert_git_takes_commits()
    finally:
        clear_scratch()


def _replay(told: Told) -> None:
    for name, data in ONCE_FAILED:
        _checked(TARGETS[name], data, told)


def _mutate(chosen: list[Target], long: bool, number: int, told: Told) -> None:
    for one in chosen:
        count = _EXAMPLES[long][one.slow]
        rules = settings(max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        seed(number)(rules(given(data=_inputs(one))(_fed_to(one, told))))()


def _fed_to(one: Target, told: Told) -> Callable[[bytes], None]:
    def fed(data: bytes) -> None:
        _checked(one, data, told)

    return fed


def _inputs(one: Target) -> st.SearchStrategy[bytes]:
    """Bytes of any kind, pieces of what breaks parsers, and samples with changes."""
    pieces = st.lists(st.sampled_from(FRAGMENTS) | st.binary(max_size=8), max_size=20).map(b"".join)
    kinds = [st.binary(max_size=400), pieces]
    if samples := one.seeds():
        edits = st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 12), pieces), max_size=4)
        kinds += [st.builds(_edited, st.sampled_from(samples), edits)] * 2
    return st.one_of(kinds)


def _edited(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """`data` with pieces put over some of its bytes."""
    for at, gone, piece in edits:
        place = at % (len(data) + 1)
        data = data[:place] + piece + data[place + gone :]
    return data


def _guide(chosen: list[Target], seconds: int, number: int, told: Told, folder: Path) -> None:
    """Follow what runs, for some seconds; does not return. With several targets the first byte chooses."""
    atheris: Any = importlib.import_module("atheris")
    for at, data in enumerate(_corpus(chosen)):
        (folder / str(at)).write_bytes(data)

    def fed(data: bytes) -> None:
        one = chosen[data[0] % len(chosen)] if data and len(chosen) > 1 else chosen[0]
        try:
            _checked(one, data[1:] if len(chosen) > 1 else data, told)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    rules = [f"-max_total_time={seconds}", f"-seed={number}", f"-max_len={_LONGEST}", "-verbosity=0"]
    limits = ["-rss_limit_mb=3000", "-timeout=30", f"-artifact_prefix={folder}/"]
    atheris.Setup(["fuzz", *rules, *limits, str(folder)], fed, custom_mutator=_mutator(atheris))
    atheris.Fuzz()


def _corpus(chosen: list[Target]) -> Iterator[bytes]:
    most = 3 if len(chosen) > 1 else 1_000
    for at, one in enumerate(chosen):
        for data in [b"", *one.seeds()[:most]]:
            if len(data) < _LONGEST:
                yield bytes([at]) + data if len(chosen) > 1 else data


def _mutator(atheris: Any) -> Callable[[bytes, int, int], bytes]:
    """Half of the changes are libFuzzer's own, half put in a piece of what breaks parsers."""

    def mutated(data: bytes, most: int, number: int) -> bytes:
        chance = random.Random(number)
        if chance.random() < 0.5:
            return bytes(atheris.Mutate(data, most))
        edits = [(chance.randrange(2**16), chance.randrange(6), chance.choice(FRAGMENTS))]
        return _edited(data, edits * chance.randrange(1, 3))[:most]

    return mutated


def _checked(one: Target, data: bytes, told: Told) -> None:
    """Feed one input; TimeoutError when it takes too long."""
    told.next(one.name, data)
    slow = 4 if "atheris" in sys.modules else 1
    began, begun = time.process_time(), time.monotonic()
    signal.setitimer(signal.ITIMER_PROF, 5 * BOUND * slow)
    signal.setitimer(signal.ITIMER_REAL, 5 * PATIENCE * slow)
    try:
        one.check(data)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    worked, waited = time.process_time() - began, time.monotonic() - begun
    if worked > BOUND * slow or waited > PATIENCE * slow:
        raise TimeoutError(f"{worked:.1f} s of work and {waited:.1f} s of waiting for one input")


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise TimeoutError("one input takes far too long")


def main() -> None:
    """Feed one input again."""
    name, file = sys.argv[1:]
    try:
        TARGETS[name].check(Path(file).read_bytes())
    finally:
        clear_scratch()


if __name__ == "__main__":
    main()
