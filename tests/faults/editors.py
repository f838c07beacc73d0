"""A person saves the file that an agent overwrites, at every moment of the agent's write and as several editors do."""

import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path

from crabmem import Memory, NotFound

from . import Counts, Say
from .actors import (
    STYLES,
    Record,
    apart,
    body,
    in_history,
    is_whole,
    main,
    page,
    running,
    save_slowly,
    token,
    total,
    waited,
    whole,
)  # fmt: skip
from .repository import assert_clean, git

NOTE = "memory/entries/note.md"
#: An editor that shows half of a text for a while: seconds, and rounds in the short and the long form.
SLOW = {0.05: (4, 200), 0.4: (1, 30), 2.6: (1, 6)}
Save = Callable[[Path, str], None]


def run(long: bool, say: Say) -> Counts:
    """Save 10 times in each style, or 600 times."""
    return apart(__name__, long, say)


def counted(long: bool, say: Say) -> Counts:
    """Every style in a memory of its own."""
    sums: Counter[str] = Counter()
    plays = [(name, save, 600 if long else 10) for name, save in STYLES.items()]
    for pause, rounds in SLOW.items():
        plays.append((f"in two parts, {pause} s apart", partial(save_slowly, pause=pause), rounds[long]))
    for seed, (name, save, times) in enumerate(plays):
        try:
            sums += _played(save, times, random.Random(seed))
        except AssertionError as broken:
            raise AssertionError(f"editors, saving {name}, seed {seed}: {broken}") from None
        say(f"saved {name}: {times} rounds")
    return total(sums, "saves", "agent's texts", "recalls", "halves seen", "halves recorded", "lost")


def _played(save: Save, rounds: int, chance: random.Random) -> Counter[str]:
    with tempfile.TemporaryDirectory() as folder:
        root, record = Path(folder, "memory"), Record(Path(folder, "said"))
        with Memory(root, agent="agent") as memory:
            memory.remember("note", "what two write", body(token("agent", 0)))
        with running(lambda: _overwrite(root, record), lambda: _recall(root, record)):
            _save_often(save, root, record, rounds, chance)
        return _checked(root, record, rounds)


def _save_often(save: Save, root: Path, record: Record, rounds: int, chance: random.Random) -> None:
    for number in range(rounds):
        time.sleep(chance.random() * 0.03)  # somewhere in a write, which takes about as long
        save(root / NOTE, page("note", token("person", number)))
        _two_more(record)


def _two_more(record: Record) -> None:
    """Wait for a whole write of the agent that began after now."""
    enough = len(record.said("text")) + 2
    assert waited(lambda: len(record.said("text")) >= enough), "the agent cannot write"


def _overwrite(root: Path, record: Record) -> None:
    with Memory(root, agent="agent") as memory:
        for number in count(1):
            text = token("agent", number)
            memory.remember("note", "what two write", body(text))
            record.say("text", text)


def _recall(root: Path, record: Record) -> None:
    """Read all the while; what is seen of an agent's text is the whole of it."""
    with Memory(root) as memory:
        while True:
            time.sleep(0.01)
            memory.recall("agent person")
            record.say("recall", "")
            with suppress(NotFound):
                content = memory.get("note").content
                assert is_whole(content) or "agent" not in content, f"torn: {content[:200]!r}"
                if not is_whole(content):
                    record.say("half", "")


def _checked(root: Path, record: Record, rounds: int) -> Counter[str]:
    with Memory(root, agent="agent") as memory:
        memory.remember("after", "the last", "It still works.")
    written, found = record.said("text"), in_history(root)
    lost = ({token("person", number) for number in range(rounds)} | set(written)) - found
    assert not lost, f"saved or acknowledged, and in no history: {sorted(lost)[:5]}"
    assert_clean(root)
    return Counter({
        "saves": rounds,
        "agent's texts": len(written),
        "recalls": len(record.said("recall")),
        "halves seen": len(record.said("half")),
        "halves recorded": _halves(root),
    })  # fmt: skip


def _halves(root: Path) -> int:
    """How many commits of the person hold a file that is not a whole text."""
    words = ("log", "--all", "--author=^person", "--format=%x00", "-p", "-U9999", "--diff-merges=first-parent")
    patches = git(root, *words, "--", NOTE).split("\0")[1:]
    files = ("\n".join(line[1:] for line in patch.splitlines() if line[:1] in "+ ") for patch in patches)
    return sum(not whole(file) for file in files)


if __name__ == "__main__":
    main(counted)
