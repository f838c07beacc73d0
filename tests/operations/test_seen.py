"""What a session may not see is not there for it: in no value, no message, no number, no name that is near, no score.

Two laws, over every operation that there is: none are listed here, they are found. Nothing of a hidden file comes out
(whatever the operation, the profile and the kind of session); and what an operation that reads says of memory with
hidden files is what it says of a memory that has only the others.
"""

import inspect
import pkgutil
import shutil
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crabmem import CrabmemError, Fact, Memory, operations
from crabmem.errors import Stale
from crabmem.operations import setup
from crabmem.operations.facts import entries
from crabmem.operations.review import Decision
from crabmem.prompt.profile import KINDS, profile_names
from crabmem.results import News, Proposal, ProposedFile
from crabmem.session.session import Session
from crabmem.text.evaluation import Expectation
from crabmem.text.keys import Key
from crabmem.text.learnings import tool_failure
from crabmem.text.slug import slug_of
from crabmem.text.spoken_to import Message
from tests.conftest import git
from tests.examples import examples

Operation = Callable[..., object]

#: Stands in hidden files alone, in names, texts and tags.
CANARY = "quokka"
#: Hidden, too, and asked for by name: what is said of them must not tell that they are there.
HIDDEN_NAMES = ("Marsupial", "marsupia", "Vet")
KEY = Key(("zoo",), "feeding")
CUSTOM = """
about = "one keeper has secrets"
tools = ["entries", "files", "looking", "notes"]

[layout]
overview = "NOTES.md"
recall_notes = true

[kinds.group]
hides = ["NOTES.md", "memory/entries/private-*.md", "memory/????-??-??.md"]

[kinds.subagent]
hides = ["NOTES.md", "memory/**"]

[search]
files = ["NOTES.md", "memory/**/*.md"]

[[part]]
file = "{overview}"

[[part]]
say = "salient"
"""


def values_of(root: Path, hidden: list[str]) -> dict[str, list[Any]]:
    """What parameters are given, by their names: each operation is tried with all of these."""
    called = ["Wifi", *HIDDEN_NAMES, *hidden]
    who = "0" * 40, datetime.now(UTC), "a", "a", None, "remember: x", ""
    proposed = [Proposal(*who, (ProposedFile(path, b"Other.\n", None),)) for path in hidden]
    return {
        "name": called,
        "names": [[name] for name in called],
        "old": called,
        "new": ["Other", "Vet"],
        "source": ["."],
        "target": ["copy"],
        "place": [root.parent / "exported"],
        "query": ["feeding at dawn", "marsupial network"],
        "message": ["how does the feeding at dawn go, and is the wifi up?"],
        "description": ["d"],
        "content": ["A text."],
        "text": ["A text.", "feeding"],
        "title": ["t"],
        "to": ["HEAD~1"],
        "at": [None, "HEAD"],
        "as_of": [None, "HEAD"],
        "since": [None, "HEAD~2"],
        "until": [None, "HEAD"],
        "commit": ["HEAD", "HEAD~1"],
        "commits": [["HEAD", "HEAD~1"]],
        "if_version": [None, "0000000"],
        "id": ["0000"],
        "path": ["memory/entries/wifi.md", *hidden],
        "paths": [["memory/entries/wifi.md", *hidden]],
        "files": [[str(root / path) for path in hidden]],
        "after": [""],
        "limit": [5],
        "start": [1],
        "lines": [None],
        "tokens": [180_000],
        "window": [200_000],
        "facts": [[Fact("Vet", "", "x"), Fact("Marsupial", "", "y")]],
        "items": [{KEY: Fact("x", "", "y")}, {KEY: None}],
        "key": [KEY],
        "keys": [[KEY]],
        "namespace": [(), ("zoo",)],
        "lesson": [tool_failure("a tool", "an error")],
        "questions": [[Expectation("feeding", ("Wifi",))], [Expectation("feeding", ("Marsupial",))]],
        "messages": [[Message("how does the feeding at dawn go?", True)], [Message("x", True, ("Marsupial",))]],
        "tools": [["recall"]],
        "found": [[]],
        "what": ["words"],
        "operation": [entries],
        "side": ["ours"],
        "pattern": ["/nowhere/[{agent}].git"],
        "url": ["/nowhere/hub.git"],
        "work": [lambda tree: {path: tree.text(path) for path in tree.paths()}],
        "read": [lambda tree: [(path, tree.text(path)) for path in tree.paths()]],
        "change": [lambda text: f"{text} and more"],
        "test": [lambda then: CANARY not in repr([then.read(path) for path in then.files])],
        "scores": [[1.0, 2.0]],
        "news": [News("x", path, "", (), ((None, _blob(root, path)),)) for path in hidden],
        "proposal": proposed,
        "waiting": [proposed],
        "proposed": [proposed],
        "now": [datetime.now(UTC)],
        "decided": [[Decision("0" * 40, "apply"), Decision("0" * 40, "reject")]],
        "dry_run": [True],
        "explain": [True],
        "blame": [True],
    }


def _blob(root: Path, path: str) -> str:
    """The id of what the newest commit has at a path; one of nothing where it has no such file."""
    return (git(root, "ls-tree", "--object-only", "HEAD", path) or "0" * 40).strip()


#: Operations that are given what only another one makes, and why they tell nothing: they say nothing of files at all.
GIVEN_BY_OTHERS = {
    "with_provenance",
    "times",
    "count_uses_by_name",
    "vectors_of",
    "changed_on_disk",
    "last_changed_in",
    "changed_beside",
    "follow_rename",
    "changed_within",
    "changed_within_each",
    "both_sides",
    "places_beside",
    "search_in",
    "described",  # of a session that may not see all it refuses: see `test_forgotten.py`
}
#: Parts of other operations, which are handed what these have seen.
PARTS = {"changes", "doctor", "conversations", "move_ways"}


@cache
def every_operation() -> dict[str, Operation]:
    """Every function in a module of operations over a session, by its name there."""
    found: dict[str, Operation] = {}
    for module in pkgutil.iter_modules(operations.__path__):
        if module.name in PARTS:
            continue
        home = import_module(f"crabmem.operations.{module.name}")
        for name, function in inspect.getmembers(home, inspect.isfunction):
            first = next(iter(inspect.signature(function).parameters.values()), None)
            takes_session = first is not None and first.annotation in (Session, "Session")
            if function.__module__ == home.__name__ and takes_session and not name.startswith("_"):
                found[f"{module.name}.{name}"] = function
    return found | {"setup.init": setup.init}  # which is the session room's, where the first write finds it


def calls_of(operation: Operation, values: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """The arguments to call an operation with: each value of each parameter once, the others being as they are."""
    wanted = list(inspect.signature(operation).parameters.values())[1:]
    needed = [each.name for each in wanted if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    assert set(needed) <= values.keys(), f"say in `values_of` what {set(needed) - values.keys()} may be"
    base = {name: values[name][0] for name in needed}
    base |= {"dry_run": True} if any(each.name == "dry_run" for each in wanted) else {}
    yield base
    for each in wanted:
        for value in values.get(each.name, ()):
            if value is not None or "None" in str(each.annotation):
                yield base | {each.name: value}


def all_that_is_said(operation: Operation, session: Session, arguments: dict[str, Any]) -> str:
    """Everything that a call tells: what it returns, what can be asked of that, or the error with all it carries."""
    try:
        answer = operation(session, **arguments)
        if isinstance(answer, Iterator):
            answer = list(answer)
        later = getattr(answer, "origin", None)
        return repr(answer) + (repr(later()) if callable(later) else "")
    except CrabmemError as error:
        return repr(error) + (repr(vars(error)) if isinstance(error, Stale) else "")


def words_in(values: Iterable[object]) -> Iterator[str]:
    """The texts among arguments, and in lists of them, also as the names of files."""
    for value in values:
        if isinstance(value, str) and value:
            yield from (value, slug_of(value))
        elif isinstance(value, list):
            yield from words_in(value)


def with_secrets(root: Path, profile: str, kind: str) -> list[str]:
    """Make a memory in which files are hidden from sessions of a kind; the paths of these."""
    with Memory(root, profile=profile) as memory:
        memory.remember("Wifi", "the network", "The network of the house. See [[Marsupial]].", tags=["home"])
        memory.remember("Boiler", "the heating", "The boiler is in the cellar, beside the dawn lamp.")
        view, layout = memory.of_kind(kind).view, memory.layout  # type: ignore[arg-type]
        places = [f"memory/entries/private-{CANARY}.md", layout.overview, layout.note_path(memory.engine.today())]
        hidden = [path for path in places if not view.allows(path)]
        head = f"name: Marsupial {CANARY}\ndescription: feeding the {CANARY} at dawn\naliases: [Vet, Marsupial]"
        entry = f"---\n{head}\ntags: [{CANARY}s]\n---\n\nThe {CANARY} is fed at dawn, by hand. [[Wifi]] [[Vet]]\n"
        for path in hidden:
            place = memory.file(path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(entry if "private" in path else f"# Notes\n\nThe {CANARY} is fed at dawn. [[Wifi]]\n")
        memory.adopt()
        memory.remember("Wifi", "the network", "The network of the house, and of the shed. See [[Marsupial]].")
        for path in hidden:  # an edit that nobody has recorded yet
            memory.file(path).write_text(f"{memory.file(path).read_text()}\nAnd at dusk.\n")
    return hidden


PLACES = [(profile, kind) for profile in (*profile_names(), "custom") for kind in KINDS if kind != "main"]


@pytest.mark.parametrize(("profile", "kind"), PLACES)
def test_nothing_that_is_hidden_comes_out_of_any_operation(profile: str, kind: str, tmp_path: Path) -> None:
    if profile == "custom":
        (tmp_path / "custom.toml").write_text(CUSTOM)
        profile = str(tmp_path / "custom.toml")
    made = tmp_path / "made"
    hidden = with_secrets(made, profile, kind)
    if not hidden:
        return  # the profile hides nothing of a memory from sessions of this kind
    asked, root = 0, tmp_path / "memory"
    for name, operation in every_operation().items():
        if name.partition(".")[2] in GIVEN_BY_OTHERS:
            continue
        if not root.exists():
            shutil.copytree(made, root)
        with Memory(root, agent="guest", profile=profile, kind=kind) as guest:
            head = guest.timeline.head()
            for arguments in calls_of(operation, values_of(root, hidden)):
                said = all_that_is_said(operation, guest, arguments)
                for word in words_in(arguments.values()):  # which the caller knows
                    said = said.replace(word, "")
                assert CANARY not in said.casefold(), f"{name}({arguments}): {said}"
                asked += 1
            is_changed = guest.timeline.head() != head
        if is_changed:
            shutil.rmtree(root)
    assert asked > 100


def test_what_is_looked_for_is_there_where_nothing_is_hidden(tmp_path: Path) -> None:
    (tmp_path / "custom.toml").write_text(CUSTOM)
    hidden = with_secrets(tmp_path / "memory", str(tmp_path / "custom.toml"), "group")
    telling = set()
    with Memory(tmp_path / "memory", profile=str(tmp_path / "custom.toml")) as memory:
        for name, operation in every_operation().items():
            if name.partition(".")[2] not in GIVEN_BY_OTHERS and "purge" not in name:
                for arguments in calls_of(operation, values_of(memory.root, hidden)):
                    if CANARY in all_that_is_said(operation, memory, arguments).casefold():
                        telling.add(name)
    assert len(telling) >= 15, telling


# What is hidden does not count: the same answers as without it

#: Operations that read memory as it is on disk, and by nothing that says when.
READING = ("reading.get", "reading.entries", "reading.page", "links.links", "recall.recall", "context.before_turn",
           "context.confidence", "files.search", "files.notes", "keyvalue.items", "keyvalue.namespaces")  # fmt: skip
WORDS = ("dawn", "boiler", "network", "cellar", "lamp", "garden", "key", "fridge")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seen=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5),
    hidden=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5),
    query=TEXTS,
)
def test_answers_are_those_of_a_memory_without_what_is_hidden(
    tmp_path_factory: pytest.TempPathFactory, seen: list[tuple[str, str]], hidden: list[tuple[str, str]], query: str
) -> None:
    folder = tmp_path_factory.mktemp("twins")
    (folder / "custom.toml").write_text(CUSTOM)
    for place, facts in (("with", hidden), ("without", [])):
        root = folder / place
        with Memory(root, profile=str(folder / "custom.toml")) as memory:
            memory.init()
            (root / "memory/entries").mkdir(parents=True, exist_ok=True)
            for prefix, texts in (("open", seen), ("private", facts)):
                for number, (description, content) in enumerate(texts):
                    page = f"---\nname: {prefix} {number}\ndescription: {description}\n---\n\n{content}\n"
                    (root / f"memory/entries/{prefix}-{number}.md").write_text(page)

    def answers(place: str) -> dict[str, str]:
        with Memory(folder / place, agent="guest", profile=str(folder / "custom.toml"), kind="group") as guest:
            values = values_of(guest.root, []) | {"query": [query], "message": [query], "name": ["open 0", "open"]}
            return {
                f"{name} {arguments}": all_that_is_said(every_operation()[name], guest, arguments)
                for name in READING
                for arguments in calls_of(every_operation()[name], values)
                if not {"at", "as_of", "since", "until", "blame"} & {key for key, value in arguments.items() if value}
            }

    assert answers("with") == answers("without")
