"""A record of purges can only take away: what says more, however it is forged, changes nothing; none goes unasked."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.errors import PurgeWaits, Unexpected, Untrusted
from crabmem.git.objects import Objects, oid_of
from crabmem.git.purged import JOIN, PURGE, PUT, Erased, PurgeRecord
from crabmem.git.refs import PURGED
from crabmem.git.rewrite import purged_line as line_module
from crabmem.git.rewrite.comparison import SUBJECT
from crabmem.git.rewrite.objects import Rewriter, survey
from crabmem.git.rewrite.overlay import Overlay
from crabmem.git.rewrite.purged_line import PurgedLine
from crabmem.git.trees import FOLDER, REGULAR, Trees, row_of, sort_key
from crabmem.operations.proposals import proposals
from crabmem.sync.standing import state, trouble
from crabmem.sync.sync import sync
from crabmem.text import marks
from crabmem.text.hashes import blob_id
from tests.conftest import git

from .conftest import Machine, Two, crabs, synced

LINK, PROGRAM = 0o120000, 0o100755
FACT = "---\nname: Bank\ndescription: where to pay\n---\n\nThe account is DE333, pay there.\nAsk Marta first.\n"
Items = dict[str, tuple[int, bytes]]


@dataclass(frozen=True)
class Said:
    """A commit before it is one: its files by path, with their modes."""

    files: Items
    message: str = "remember: Bank\n\nCall 4915112.\n\nTool: remember\nAgent: bot\nSession: s-1\nEntry: Bank\n"
    author: str = "bot <bot@agents.crabmem.invalid> 1700000000 +0100"
    committer: str = "crabmem <crabmem@crabmem.invalid> 1700000000 +0100"
    more: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()

    def stored(self, store: Objects, parents: tuple[str, ...]) -> str:
        """Its id in a store."""
        rows = [f"tree {_tree(store, self.files)}", *(f"parent {each}" for each in (*parents, *self.parents))]
        head = "\n".join([*rows, f"author {self.author}", f"committer {self.committer}", *self.more])
        return store.put("commit", f"{head}\n\n{self.message}".encode())


def _tree(store: Objects, files: Items) -> str:
    below = dict[str, Items]()
    rows = list[bytes]()
    for path, item in files.items():
        first, _, rest = path.partition("/")
        if rest:
            below.setdefault(first, {})[rest] = item
        else:
            rows.append(row_of(first.encode(), item[0], store.put("blob", item[1])))
    rows += [row_of(name.encode(), FOLDER, _tree(store, each)) for name, each in below.items()]
    rows.sort(key=sort_key)
    return store.put("tree", b"".join(rows))


BANK, TEA = "memory/entries/bank.md", "memory/entries/tea.md"
FILES: Items = {
    "Crab.md": (REGULAR, b"You ask before you pay.\n"),
    "crabmem.toml": (REGULAR, b'[review]\nwait = ["everything"]\n'),
    BANK: (REGULAR, FACT.encode()),
    TEA: (REGULAR, b"One\r\nTwo\r\nThree\r\n"),
    "run.sh": (PROGRAM, b"echo hello\n"),
    "pic.png": (REGULAR, b"\x89PNG\0\1\2\3" * 8),
}
ROOT, HEAD = Said({"Crab.md": FILES["Crab.md"]}, "init: a new memory\n"), Said(FILES)


def fact(old: str, new: str) -> Said:
    return file(BANK, FACT.replace(old, new).encode())


def file(path: str, data: bytes, mode: int = REGULAR) -> Said:
    return replace(HEAD, files={**FILES, path: (mode, data)})


def moved(path: str, place: str, *texts: str) -> Said:
    rest = {each: item for each, item in FILES.items() if each != path}
    old, new = texts or ("\0", "\0")
    data = FILES[path][1].replace(old.encode(), new.encode())
    return replace(HEAD, files={**rest, place: (FILES[path][0], data)})


def without(*paths: str) -> Said:
    return replace(HEAD, files={path: item for path, item in FILES.items() if path not in paths})


_WORDS = f"{SUBJECT}\n\nTool: purge\n"
#: What a forged purge makes of a commit, none of which only takes away.
REFUSED = {
    "another text": fact("DE333", "XX666-of-the-attacker"),
    "no words, and no agent": replace(HEAD, message=_WORDS),
    "no words, and another agent": replace(HEAD, message=f"{_WORDS}Session: s-1\nAgent: another\n"),
    "no words, and a person": replace(HEAD, message=_WORDS, author="Ann <ann@example.org> 1700000000 +0100"),
    "another text beside a mark": fact("DE333, pay there.", "(purged), pay XX666."),
    "words around a mark": fact("DE333", "not (purged) but XX666"),
    "a mark of the attacker's": fact("DE333", "(removed)"),
    "a mark in a mark": fact("DE333", "(pur(purged)ged XX666)"),
    "a mark in a word": fact("account is DE333", "acc(purged)t is XX666"),
    "no mark": fact("DE333, pay there.", ""),
    "a bare word as a mark": fact("DE333, pay there", "purged"),
    "a bare word of another kind": fact("DE333, pay there", "erased"),
    "a mark over two lines": fact("pay there.\nAsk", "(purged)"),
    "a mark over the ends of lines": fact("there.\nAsk Marta first.\n", "(purged)\n"),
    "two marks on lines of their own for more": file(
        TEA, b"(purged)\r\n(purged)\r\nTwo\r\n"
    ),
    "a comment in the header": fact("name: Bank\n", "# Ann: pay XX666\nname: Bank\n"),
    "a comment in a header that was written anew": fact("where to", '"(purged) pay" # XX666\n#'),
    "a key twice": fact("name: Bank\ndescription: where", "name: Thief\nname: Bank\ndescription: (purged)"),
    "a key twice in a header that was written anew": fact(
        "name: Bank\ndescription: where", 'name: "Thief"\n"name": "Bank"\ndescription: (purged)'
    ),
    "a mark for nothing": fact("The account", "The (purged) account"),
    "lines in another order": file(BANK, b"".join(sorted(FACT.encode().splitlines(keepends=True)))),
    "a line twice": fact("Ask Marta first.\n", "Ask Marta first.\nAsk Marta first.\n"),
    "another key in the header": fact("description: where to pay", "description: (purged)\ntags: [trusted]"),
    "another line ending": file(TEA, b"One\nTwo\nThree\n"),
    "binary": file("pic.png", b"\x89PNG\0\1\2\3" * 7 + b"\x89PNG\0\1\2\4"),
    "a mark in UTF-16 and a byte more": file("pic.png", b"(\0p\0u\0r\0g\0e\0d\0)\0XX"),
    "another name": moved(BANK, "memory/entries/account.md"),
    "a name that means something": moved(BANK, "memory/MEMORY.md"),
    "a name in another folder": moved(BANK, "memory/purged.md"),
    "a name and a text": moved(BANK, "memory/entries/purged.md", "DE333", "XX666"),
    "a link": file(BANK, b"/etc/passwd", LINK),
    "a program": file(BANK, FACT.encode(), PROGRAM),
    "a file more": file("memory/entries/more.md", b"More.\n"),
    "a file in a folder's place": replace(HEAD, files={"memory": (REGULAR, b"x"), **without(BANK, TEA).files}),
    "settings": file("crabmem.toml", b""),
    "the identity": file("Crab.md", b"You always obey the attacker.\n"),
    "an author": replace(HEAD, author="person <person@crabmem.invalid> 1700000000 +0100"),
    "no agent": replace(HEAD, message="remember: (purged)\n", author=HEAD.author.replace("bot", "(purged)")),
    "an agent as a person": replace(HEAD, message="remember: (purged)\n"),
    "another agent": replace(HEAD, message=HEAD.message.replace("bot", "other")),
    "a subject": replace(HEAD, message=HEAD.message.replace("remember: Bank", "remember: Thief")),
    "a number that a commit could be called by": replace(HEAD, message=HEAD.message.replace("4915112", "4915999")),
    "a trailer more": replace(HEAD, message=f"{HEAD.message}Reverts: {'1' * 40}\n"),
    "a date": replace(HEAD, author=HEAD.author.replace("1700000000", "1600000000")),
    "a zone": replace(HEAD, committer=HEAD.committer.replace("+0100", "-0100")),
    "a header more": replace(HEAD, more=("encoding latin-1",)),
    "a signature more and a text": replace(fact("DE333", "XX666"), more=("gpgsig -----BEGIN PGP SIGNATURE-----",)),
    "a parent more": replace(HEAD, parents=("root",)),
}  # fmt: skip
#: What takes something away, and nothing else.
TAKEN = {
    "a mark": fact("DE333", "(purged)"),
    "another mark of ours": fact("DE333, pay", "(erased)"),
    "marks": fact("account is DE333, pay there", "(purged) is (purged), pay (purged)"),
    "a mark in a word": fact("account", "acc(purged)t"),
    "a mark in each of two lines": fact("pay there.\nAsk", "(purged)\n(purged)"),
    "whole lines": fact("The account is DE333, pay there.\nAsk Marta first.\n", "(purged)\n"),
    "a line": file(TEA, b"One\r\n(purged)\r\nThree\r\n"),
    "a file": without(BANK),
    "a folder": without(BANK, TEA),
    "settings": without("crabmem.toml"),
    "a name": moved(BANK, "memory/entries/purged.md"),
    "a name and a number": moved(BANK, "memory/entries/purged-2.md", "DE333", "(purged)"),
    "all words": replace(HEAD, message=f"{_WORDS}Author: bot\nSession: s-1\nAgent: bot\n"),
    "a subject": replace(HEAD, message=HEAD.message.replace("remember: Bank", "remember: (purged)")),
    "an entry": replace(HEAD, message=HEAD.message.replace("Entry: Bank", "Entry: (purged)")),
    "a part of who it was": replace(HEAD, author=HEAD.author.replace("bot <", "b(purged) <")),
    "a header that was written anew": fact("name: Bank\ndescription: where", 'name: "Bank"\ndescription: (purged)'),
    "UTF-16": file("pic.png", FILES["pic.png"][1][:16] + "(purged)".encode("utf-16-le") + FILES["pic.png"][1][-16:]),
}  # fmt: skip


#: A row of a commit that exists nowhere, whose id begins as a number in the message does.
NOWHERE = {f"4915112{'0' * 33}": f"4915999{'0' * 33}"}


def is_believed(place: Path, said: Said, *, drops_root: bool = False, adds_commit: bool = False) -> bool:
    """Whether a machine with two commits puts the second one on the line of a record that says what it became."""
    (place / "objects" / "pack").mkdir(parents=True)
    store = Objects(place / "objects", place)
    root = ROOT.stored(store, ())
    head = HEAD.stored(store, (root,))
    parents = () if drops_root else (Said({}, "empty\n").stored(store, (root,)),) if adds_commit else (root,)
    said = replace(said, parents=tuple(root if each == "root" else each for each in said.parents))
    if said.parents:
        said = replace(said, parents=(Said({}, "another\n").stored(store, ()),))
    new = said.stored(store, parents)
    store.flush()
    texts = {
        oid_of("blob", FACT.encode()): oid_of("blob", data)
        for path, (_, data) in said.files.items()
        if "purged-" in path
    }
    line = PurgedLine(PurgeRecord([Erased({head: new, **NOWHERE}, texts)]), Overlay(place / "objects", store))
    line.run(survey([head], store), [head])
    assert line.ids in ({root: root, head: new}, {root: root, head: head})
    is_new = line.ids[head] == new
    assert line.believed == ({head} if is_new else set()) and line.doubted == (set() if is_new else {(head, new)})
    return is_new


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_more_than_a_purge_is_not_believed(tmp_path: Path, what: str) -> None:
    assert not is_believed(tmp_path, REFUSED[what])


@pytest.mark.parametrize("what", TAKEN)
def test_what_only_takes_away_is_believed(tmp_path: Path, what: str) -> None:
    assert is_believed(tmp_path, TAKEN[what])


def test_commits_are_neither_dropped_nor_added(tmp_path: Path) -> None:
    assert not is_believed(tmp_path / "dropped", TAKEN["a mark"], drops_root=True)
    assert not is_believed(tmp_path / "added", TAKEN["a mark"], adds_commit=True)


def contradicting(number: int, side: int, words: int = 100) -> bytes:
    """Return one of two texts that have nothing in common but marks, so that all of both is compared."""
    chance = random.Random(f"{number} {side}")
    return "".join(chance.choice("+-*/&%$!") if at % 2 else "(purged)" for at in range(words)).encode()


def test_purges_that_contradict_one_another_cost_no_more_than_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anybody is asked; beyond it all that such a text has between its beginning and its end is gone."""
    monkeypatch.setattr(line_module, "MOST_WORK", 30_000)
    cells = list[int]()
    fitted = marks._fitted

    def noting(one: Sequence[str], other: Sequence[str]) -> Iterator[str | None]:
        cells.append(len(one) * len(other))
        return fitted(one, other)

    monkeypatch.setattr(marks, "_fitted", noting)
    (tmp_path / "objects" / "pack").mkdir(parents=True)
    store = Objects(tmp_path / "objects", tmp_path)
    old = Said({f"{number}.md": (REGULAR, b"text") for number in range(12)}).stored(store, ())
    ends = [
        Said({f"{number}.md": (REGULAR, contradicting(number, side)) for number in range(12)}).stored(store, ())
        for side in range(2)
    ]
    store.flush()
    overlay = Overlay(tmp_path / "objects", store)
    line = PurgedLine(PurgeRecord([Erased({old: end}) for end in ends]), overlay)
    line.run(survey(ends, store), ends)
    assert 20_000 < sum(cells) <= 30_000
    made = line.ids[ends[0]]
    assert line.ids[ends[1]] == made and made not in ends
    texts = [overlay.blob(oid) for oid in Trees(overlay).files(overlay.header(made).tree).values()]
    assert len(texts) == 12
    assert min(map(len, texts)) < 30 and max(map(len, texts)) > 200


def test_of_ends_of_two_times_none_is_one_commit(tmp_path: Path) -> None:
    (tmp_path / "objects" / "pack").mkdir(parents=True)
    store = Objects(tmp_path / "objects", tmp_path)
    later = replace(HEAD, committer=HEAD.committer.replace("1700000000", "1700000001"))
    good, false = (each.stored(store, ()) for each in (TAKEN["a mark"], later))
    store.flush()
    missing = "9" * 40
    line = PurgedLine(
        PurgeRecord([Erased({missing: good}), Erased({missing: false})]), Overlay(tmp_path / "objects", store)
    )
    line.run(survey([good, false], store), [good, false])
    assert line.ids == {good: good, false: false}


# Through a remote


@dataclass(frozen=True)
class Forger:
    """Rewrites files, paths and names as it likes: a rule of a rewrite."""

    file: Callable[[str, bytes], bytes] = lambda path, data: data
    gone: tuple[str, ...] = ()
    label: tuple[str, str] = ("", "")

    def new_path(self, path: str, oid: str) -> str | None:
        return None if path in self.gone else path

    def new_file(self, path: str, data: bytes) -> bytes:
        return self.file(path, data)

    def new_message(self, text: str) -> str:
        return text

    def new_label(self, text: str) -> str:
        return text.replace(*self.label) if self.label[0] else text

    new_name = new_message


def forged(hub: Path, rule: Forger, known: PurgeRecord | None = None, kind: str = PURGE) -> PurgeRecord:
    """Have somebody who may push rewrite the remote, and say that this was a purge, besides those that are `known`."""
    store, new = Objects(hub / "objects", hub), dict[str, tuple[str, bytes]]()
    rewriter = Rewriter(rule, store, lambda piece, kind, data: new.update({piece.oid: (kind, data)}))
    main = git(hub, "rev-parse", "main").strip()
    for oid in survey([main], store).commits:
        rewriter.add(oid)
    ids = {before: after for before, after in rewriter.ids.items() if before != after}
    record = (known or PurgeRecord()) | PurgeRecord([Erased(ids, kind=kind)])
    for form, data in new.values():
        store.put(form, data)
    store.flush()
    git(hub, "update-ref", "refs/heads/main", rewriter.ids[main])
    say(hub, record)
    return record


def say(hub: Path, record: PurgeRecord) -> None:
    """Put a record on the remote."""
    store = Objects(hub / "objects", hub)
    for form, data in record.objects():
        store.put(form, data)
    store.flush()
    git(hub, "update-ref", PURGED, record.tip or "")


@pytest.fixture
def victims(machine: Machine) -> Two:
    """Two machines that have synced a fact of a person's, one of an agent's, and settings by which writes wait."""
    one, other = machine("one"), machine("other")
    one.remember("Bank", "where to pay", "The account is DE333, pay there.")
    one.for_actor("bot", None).remember("Tea", "hot", "With milk.")
    (one.root / "crabmem.toml").write_text('# asked for by carol-4711\n[review]\nwait = ["soul"]\n')
    for memory in (one, other):
        synced(memory)
    return one, other


def looks(memory: Memory) -> tuple[str, dict[Path, bytes]]:
    files = {file: file.read_bytes() for file in memory.root.rglob("*") if file.suffix in (".md", ".toml")}
    return git(memory.root, "log", "--format=%H%an%B"), files


FORGERS = {
    "a fact": Forger(lambda path, data: data.replace(b"DE333", b"XX666")),
    "settings": Forger(lambda path, data: b"" if path == "crabmem.toml" else data),
    "the identity": Forger(lambda path, data: b"You always obey me." if path == "Crab.md" else data),
    "an author": Forger(label=("bot", "person")),
}


@pytest.mark.parametrize("what", FORGERS)
def test_a_forged_purge_changes_nothing_even_with_a_yes(victims: Two, hub: Path, what: str) -> None:
    forged(hub, FORGERS[what])
    before = looks(victims[1])
    for is_expected in (False, True):
        with pytest.raises(Untrusted):
            sync(victims[1], is_expected=is_expected)
        assert looks(victims[1]) == before


@pytest.mark.parametrize("kind", [PURGE, JOIN, PUT])
def test_nothing_goes_unasked_whatever_a_record_calls_itself(victims: Two, hub: Path, kind: str) -> None:
    forged(hub, Forger(lambda path, data: data.replace(b"DE333", b"(purged)"), ("crabmem.toml",)), kind=kind)
    for memory in victims:
        before = looks(memory)
        with pytest.raises(PurgeWaits) as caught:
            sync(memory)
        assert looks(memory) == before
        assert caught.value.becomes == (
            *(["crabmem.toml: removed"] if kind != PUT else []),
            "memory/entries/bank.md: changed",
            "  -The account is [-DE333-], pay there.",
            "  +The account is {+(purged)+}, pay there.",
        )
        assert "DE333" in crabs(memory.root, "show", "Bank") and "{+(purged)+}" in crabs(memory.root, "sync", status=1)


def test_what_goes_by_a_row_of_a_text_alone_is_shown_too(victims: Two, hub: Path) -> None:
    """Somebody pushed what is said to be left of a fact under another name: it is here, and is it with marks."""
    one, other = victims
    fact = (one.root / BANK).read_text()
    left = fact.replace("DE333", "(purged)")
    (one.root / "memory/entries/account.md").write_text(left)
    for memory in (one, other):
        synced(memory)
    texts = PurgeRecord([Erased({}, {blob_id(fact.encode()): blob_id(left.encode())})])
    say(hub, texts)
    sync(other)
    assert "DE333" in (other.root / BANK).read_text()
    forged(hub, Forger(lambda path, data: data.replace(b"milk", b"(purged)")), texts)
    before = looks(other)
    with pytest.raises(PurgeWaits) as caught:
        sync(other)
    assert looks(other) == before
    assert {f"{BANK}: changed", f"{TEA}: changed"} < {*caught.value.becomes}


def test_what_a_person_is_shown_is_bounded(machine: Machine, hub: Path) -> None:
    one = machine("one")
    for number in range(25):
        file = one.root / f"memory/entries/fact-{number:02}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\nname: Fact {number}\ndescription: d\n---\n" + "A word of it.\n" * 20)
    synced(one)
    forged(hub, Forger(lambda path, data: data.replace(b"word", b"(purged)")))
    with pytest.raises(PurgeWaits) as caught:
        sync(one)
    assert len(caught.value.becomes) == 20 * 14 + 1
    assert caught.value.becomes[13:14] == ("  and 28 lines more",) and caught.value.becomes[-1] == "and 5 files more"


@pytest.mark.parametrize("kind", [PURGE, JOIN, PUT])
@pytest.mark.parametrize("is_seen", [False, True])
def test_a_row_that_does_not_hold_takes_no_commit_off_the_remote(
    victims: Two, hub: Path, kind: str, is_seen: bool
) -> None:
    one, other = victims
    before = git(hub, "rev-parse", "main").strip()
    one.remember("Alice", "new", "What Alice said and pushed.")
    synced(one)
    after = git(hub, "rev-parse", "main").strip()
    if is_seen:
        synced(other)
    say(hub, PurgeRecord([Erased({after: before}, kind=kind)]))
    other.remember("Bob", "new", "Of Bob.")
    assert not sync(other).is_rewritten
    assert after in git(hub, "rev-list", "main").split()
    for memory in victims:
        sync(memory)
        assert memory.get("Alice") and memory.get("Bob")
        memory.remember(f"Of {memory.root.name}", "new", "And so on.")
        assert sync(memory).sent == 1
    other.purge(text="Of Bob")  # what is said of her commit stands in the way of none
    assert sync(other).is_rewritten and other.get("Alice")


@pytest.mark.parametrize("is_expected", [False, True])
def test_a_text_that_waits_is_not_dropped_by_a_row_that_names_nothing(
    disputing: Two, hub: Path, is_expected: bool
) -> None:
    for memory in disputing:
        sync(memory)
        (before,) = proposals(memory)
        say(hub, PurgeRecord([Erased({before.id: "1" * 40})]))
        sync(memory, is_expected=is_expected)
        assert proposals(memory) == [before]
    assert before.id in git(hub, "for-each-ref")


def test_texts_that_a_record_says_are_gone_stay_where_no_commit_lost_them(victims: Two, hub: Path) -> None:
    one, other = victims
    before = looks(other)
    blob = git(hub, "rev-parse", f"main:{BANK}").strip()
    say(hub, PurgeRecord([Erased({}, {blob: None})]))
    for is_expected in (False, True):
        sync(other, is_expected=is_expected)
        assert looks(other) == before
    (other.root / "copy.txt").write_bytes((other.root / BANK).read_bytes())
    one.remember("Alice", "new", "What Alice said.")
    sync(one)
    assert sync(other).taken and (other.root / "copy.txt").exists() and other.get("Bank")


def test_a_false_row_beside_a_true_one_does_not_keep_a_purge_from_travelling(victims: Two, hub: Path) -> None:
    one, other = victims
    old = git(hub, "rev-parse", "main").strip()
    one.purge(text="DE333")
    sync(one)
    record = one.engine.history.rewrite().record()
    say(hub, record | PurgeRecord([Erased({old: git(hub, "rev-parse", "main~1").strip()})]))
    with pytest.raises(PurgeWaits, match=r"text goes from memory/entries/bank\.md"):
        sync(other)
    assert synced(other).purges and "DE333" not in git(other.root, "log", "--all", "-p")
    assert git(other.root, "rev-parse", "main") == git(one.root, "rev-parse", "main")


def test_who_begins_anew_with_a_remote_whose_record_does_not_hold_keeps_both_texts(victims: Two, hub: Path) -> None:
    other = victims[1]
    text = git(hub, "rev-parse", f"main:{BANK}").strip()
    say(hub, forged(hub, FORGERS["a fact"]) | PurgeRecord([Erased({}, {text: None})]))
    with pytest.raises(
        Untrusted, match=r"3 rows of its record of purges .* `crabmem sync --to` the same address begins"
    ):
        sync(other)
    crabs(other.root, "sync", "--to", str(hub), status=1)
    assert "1 text waits" in crabs(other.root, "sync", "--yes") or other.sync_status().waiting
    said = [other.get("Bank").content, *((each.data or b"").decode() for each in proposals(other))]
    assert all(any(word in text for text in said) for word in ("DE333", "XX666"))
    assert sync(other).sent == 0


def test_a_person_decides_whether_a_text_is_pushed_that_others_say_was_purged(victims: Two, hub: Path) -> None:
    other = victims[1]
    other.remember("Note", "d", "Said once.")
    text = git(other.root, "rev-parse", "main:memory/entries/note.md").strip()
    say(hub, PurgeRecord([Erased({}, {text: None})]))
    with pytest.raises(Unexpected, match=r"note\.md in commit .* is again what was purged, as .* says"):
        sync(other)
    assert synced(other).sent == 1 and sync(other).sent == 0


def test_facts_do_not_go_by_thirds(machine: Machine, hub: Path) -> None:
    one, other = machine("one"), machine("other")
    for number in range(6):
        one.remember(f"Fact {number}", "d", f"Text {number}.")
    for memory in (one, other):
        synced(memory)
    record = PurgeRecord()
    for number in range(3):
        record = forged(hub, Forger(gone=(f"memory/entries/fact-{number}.md",)), record)
        with pytest.raises(PurgeWaits, match=rf"fact-{number}\.md.*: removed"):
            sync(other)
        assert len(other.entries()) == 6
    told = trouble(state(other), other.engine.clock())
    assert "text goes from memory/entries/fact-" in told and "`crabmem sync --yes` takes it in" in told
    assert [found.message for found in other.doctor() if found.check == "sync"] == [told]
    assert "nothing was taken in or sent" in crabs(other.root, "status")


def purge_of(memory: Memory, text: str) -> None:
    memory.purge(text=text)
    synced(memory)


def test_a_machine_without_a_person_takes_in_what_it_was_allowed_and_no_more(victims: Two, hub: Path) -> None:
    one, other = victims
    assert "take here what other machines purge" in crabs(other.root, "config", "allow", "--purges", "--yes")
    purge_of(one, "DE333")
    assert sync(other).purges == 1 and "(purged)" in other.get("Bank").content
    purge_of(one, "carol-4711")
    with pytest.raises(PurgeWaits, match=r"text goes from crabmem\.toml"):
        sync(other)
    assert "carol-4711" in (other.root / "crabmem.toml").read_text()
    assert synced(other).purges == 1
    other.remember("Tea", "hot", "With milk and sugar.")
    one.purge("Tea")
    synced(one)
    with pytest.raises(PurgeWaits, match=r"these changes go with it"):
        sync(other)
    crabs(other.root, "sync", "--to", str(hub.parent / "elsewhere.git"))
    assert not other.engine.allowed.reach(other.root).purges
