"""Recall by meaning: what it finds, what it never loses, and that words go on whatever happens to it."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crabmem import EmbedderFailed, Expectation, Memory, memory
from crabmem.operations import evaluate, maintenance
from crabmem.recall import hybrid as meaning
from crabmem.text.extras import how_to_get
from crabmem.write.actor import Actor
from tests import forked
from tests.conftest import allow
from tests.embedding import GROUPS, Array, Own, Reply, Service, good, saved_model, service, vectors
from tests.examples import examples
from tests.opening import opened_with

FACTS = {
    "Luna": ("who looks after the dog", "Dr. Moreno, every Thursday. The vet is open at nine."),
    "Guests": ("what visitors ask for", "The wifi is called Pinguin."),
    "Cellar": ("what makes the noise", "The boiler, an E-4711, each winter."),
    "Plum tree": ("when it is cut", "In July, never in frost."),
}


def filled(root: Path, facts: dict[str, tuple[str, str]] = FACTS) -> Path:
    with Memory(root, is_person=True) as memory:
        for name, (description, content) in facts.items():
            memory.remember(name, description, content)
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return filled(tmp_path / "notes")


def names(memory: memory.Memory, query: str, limit: int = 5) -> list[str]:
    return [hit.entry.name for hit in memory.recall(query, limit)]


def is_fact(text: str) -> bool:
    """Whether a text is an entry's."""
    return text.startswith(tuple(FACTS))


def wants(root: Path, **said: object) -> None:
    """Write the settings of vectors, and allow what they name."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in said.items()]
    (root / "crabmem.toml").write_text("[vectors]\n" + "\n".join(lines) + "\n")
    allow(root)


# What it finds


def test_a_fact_that_shares_no_word_is_found_by_what_it_means(root: Path) -> None:
    with Memory(root) as words, Memory(root, embedder=Own()) as both:
        assert names(words, "puppy physician") == []
        assert names(both, "puppy physician") == ["Luna"]


def test_what_means_something_else_is_not_found(root: Path) -> None:
    with Memory(root, embedder=Own()) as both:
        assert both.recall("train coast").note == "no match in 4 facts"
        assert names(both, "password") == []


def test_meaning_decides_between_facts_that_share_words(tmp_path: Path) -> None:
    facts = {"One": ("notes", "the number of the office"), "Two": ("notes", "the number of the doctor")}
    with Memory(filled(tmp_path, facts), embedder=Own()) as both:
        assert names(both, "number physician") == ["Two", "One"]
        assert both.recall("number physician")[0].score < 1.001


def test_an_explanation_says_what_of_a_score_is_for_meaning(root: Path) -> None:
    with Memory(root) as words, Memory(root, embedder=Own()) as both:
        [hit] = both.recall("puppy physician", explain=True)
        assert hit.by_meaning == pytest.approx(hit.score) and hit.matches == ()
        [hit] = both.recall("vet", 1, explain=True)
        assert 0 < (hit.by_meaning or 0) < hit.score and hit.matches
        assert both.recall("vet")[0].by_meaning is None is words.recall("vet", explain=True)[0].by_meaning


# Before a turn


def test_before_a_turn_a_fact_is_told_that_shares_no_word_and_means_what_is_asked(root: Path) -> None:
    message, own = "Good morning, how are you? I met Jo. Who is the puppy's physician?", Own()
    with Memory(root) as words, Memory(root, embedder=own) as both:
        assert not both.before_turn(message, again=True)  # as nobody made vectors yet
        both.recall("puppy")
        assert "Dr. Moreno" in both.before_turn(message, again=True) and not words.before_turn(message, again=True)
        assert own.asked[-1] == "Who is the puppy's physician?"
        assert not both.before_turn("Does the train go to the coast?", again=True)
        known = len(own.asked)
        assert not both.before_turn("Good morning, thanks a lot!", again=True)
        assert (
            both.before_turn("Good morning, what does the vet of the dog say, doctor?", again=True).count("(from") == 1
        )
        assert len(own.asked) == known + 1, "courtesy was asked about"
        assert not both.before_turn(message), "said before"


def test_before_a_turn_no_service_hears_the_message(root: Path, told: Service) -> None:
    wants(root, url=told.url)
    with Memory(root) as both:
        assert names(both, "puppy") == ["Luna"]
        heard = len(told.asked)
        assert not both.before_turn("Who is the puppy's physician?") and len(told.asked) == heard


def test_tags_hold_for_what_is_found_by_meaning(root: Path) -> None:
    with Memory(root, embedder=Own()) as both:
        both.remember("Rex", "the other one", "A puppy.", tags=["pets"])
        assert sorted(names(both, "puppy doctor")) == ["Luna", "Rex"]
        assert [hit.entry.name for hit in both.recall("doctor dog puppy", tags=["pets"])] == ["Rex"]


def test_a_question_without_a_searchable_word_is_answered_by_meaning(root: Path) -> None:
    class Knows(Own):
        def embed(self, texts: Sequence[str], /) -> Array:
            return super().embed(["dog" if text == "?!" else text for text in texts])

    with Memory(root) as words, Memory(root, embedder=Knows()) as both:
        assert words.recall("?!").note == "nothing to search for: only common words or signs"
        assert names(both, "?!") == ["Luna"]


def test_a_long_entry_is_found_by_any_part_of_it(tmp_path: Path) -> None:
    long = "It is said again. " * 300
    with Memory(filled(tmp_path, {"Long": ("text", f"{long} The boiler. {long}")}), embedder=Own()) as both:
        assert names(both, "heating") == ["Long"]


class Luck:
    """An embedder to which words mean anything."""

    identity = "luck"

    def __init__(self) -> None:
        self.rows: list[float] = []

    def embed(self, texts: Sequence[str], /) -> Array:
        angles = np.resize(np.array(self.rows, np.float32), len(texts))
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


@pytest.fixture(scope="module")
def similar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    facts = {f"Part {at}": ("why the cellar makes noise", f"The boiler, part {at}.") for at in range(8)}
    return filled(tmp_path_factory.mktemp("similar"), facts | {"Code": ("noise", "Error E-4711: it is dry.")})


@given(st.lists(st.floats(-3, 3), min_size=5, max_size=40), st.integers(1, 9))
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_only_fact_with_the_code_that_is_asked_for_is_in_the_answer_whatever_it_means(
    similar: Path, rows: list[float], limit: int
) -> None:
    luck = Luck()
    luck.rows = rows
    with Memory(similar, embedder=luck) as both:
        (similar / ".git" / "crabmem" / "index" / "vectors").unlink(missing_ok=True)
        assert "Code" in names(both, "what does E-4711 mean, when the cellar makes noise?", limit)
        assert set(names(both, "noise", 20)) == {"Code", *(f"Part {at}" for at in range(8))}


# Vectors are made once


def test_an_entry_is_embedded_once_and_again_when_it_is_edited(root: Path) -> None:
    own = Own()
    with Memory(root, embedder=own) as both:
        names(both, "puppy physician")
        own.asked.clear()
        assert names(both, "heating") == ["Cellar"] and own.asked == ["heating"]
        (root / "memory/entries/plum-tree.md").write_text("---\nname: Plum tree\n---\n\nBehind the heating.\n")
        own.asked.clear()
        assert sorted(names(both, "heating")) == ["Cellar", "Plum tree"]
        assert own.asked == ["heating", "Plum tree Behind the heating."]
        both.undo() if both.adopt() else None
        own.asked.clear()
        assert names(both, "heating") == ["Cellar"] and own.asked == ["heating"]


def test_vectors_are_there_for_the_next_process(root: Path) -> None:
    with Memory(root, embedder=Own()) as first:
        before = [(hit.entry.name, hit.score) for hit in first.recall("puppy physician noise")]
    own = Own()
    with Memory(root, embedder=own) as second:
        assert [(hit.entry.name, hit.score) for hit in second.recall("puppy physician noise")] == before
    assert own.asked == ["puppy physician noise"]


def test_another_model_makes_its_own_vectors(root: Path) -> None:
    with Memory(root, embedder=Own()) as both:
        assert names(both, "puppy") == ["Luna"]
    for groups in (GROUPS[2:], GROUPS):
        own = Own(groups)
        with Memory(root, embedder=own) as both:
            assert names(both, "heating") == ["Cellar"]
        assert len([text for text in own.asked if is_fact(text)]) == len(FACTS)


def test_a_damaged_file_of_vectors_is_made_anew(root: Path) -> None:
    file = root / ".git" / "crabmem" / "index" / "vectors"
    with Memory(root, embedder=Own()) as both:
        names(both, "puppy")
    whole = file.read_bytes()
    file.write_bytes(whole[:-3] + b"xyz")
    with Memory(root, embedder=Own()) as both:
        assert names(both, "puppy") == ["Luna"]
    assert file.read_bytes() == whole


def test_without_a_place_for_them_vectors_serve_all_the_same(root: Path) -> None:
    (root / ".git" / "crabmem" / "index" / "vectors").mkdir(parents=True)
    with Memory(root, embedder=Own()) as both:
        assert names(both, "puppy") == names(both, "puppy") == ["Luna"]


def test_recall_in_a_folder_that_is_no_workspace_leaves_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path / "none", embedder=Own()) as both:
        assert both.recall("puppy").note == "this memory is empty"
    assert not (tmp_path / "none").exists()


def test_a_recall_spends_a_moment_on_entries_without_vectors_and_the_likeliest_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meaning, "PATIENCE", 0.0)
    facts = {f"Fact {at:03}": ("about something", "plain") for at in range(100)} | {"Zoo": ("noise", "the puppy")}
    own = Own()
    with Memory(filled(tmp_path, facts), embedder=own) as both:
        own.asked.clear()
        assert both.recall("noise, dog")[0].entry.name == "Zoo"
        assert next(text for text in own.asked if "about" in text or "Zoo" in text).startswith("Zoo")
        assert len(own.asked) < 80
        names(both, "dog")
        own.asked.clear()
        names(both, "dog")
        assert own.asked == ["dog"]


def test_threads_that_ask_at_once_all_get_answers(root: Path) -> None:
    own, found = Own(), list[list[str]]()
    with Memory(root, embedder=own) as both:
        ask = lambda: found.append(names(both, "boiler heating"))  # noqa: E731
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [["Cellar"]] * 8
        assert names(both, "puppy") == ["Luna"]
    assert len([text for text in own.asked if is_fact(text)]) == len(FACTS)


# Words go on


@pytest.fixture
def told() -> Iterator[Service]:
    with service() as running:
        yield running


def answered(root: Path, query: str = "noise of the boiler, and the dog") -> list[tuple[str, float]]:
    with Memory(root) as words:
        return [(hit.entry.name, hit.score) for hit in words.recall(query)]


def reply_of(rows: Sequence[Sequence[float]]) -> Reply:
    """The answer of a service with these vectors."""
    return 200, json.dumps({"data": [{"embedding": row} for row in rows]}).encode()


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (lambda texts: (500, b""), "answered with status 500"),
        (lambda texts: (401, b""), "refuses the key"),
        (lambda texts: (200, b"<html>"), "did not answer with vectors"),
        (lambda texts: (200, b'{"data": []}'), "gave 0 vectors for"),
        (lambda texts: reply_of([[] for _ in texts]), "gave an array of"),
        (lambda texts: reply_of([[float("nan")] * 3 for _ in texts]), "did not answer with vectors"),
    ],
)
def test_words_answer_exactly_as_ever_when_a_service_fails_and_each_says_so(
    root: Path, told: Service, reply: Callable[[Sequence[str]], Reply], words: str
) -> None:
    expected = answered(root)
    wants(root, url=told.url, model="small", timeout=0.4)
    told.reply = reply
    with Memory(root) as both:
        first, second = both.recall("noise of the boiler, and the dog"), both.recall("noise of the boiler, and the dog")
    assert first.note.startswith("by words alone: ") and words in first.note and second.note == first.note
    assert [[(hit.entry.name, hit.score) for hit in found] for found in (first, second)] == [expected] * 2


def test_words_answer_when_nobody_is_at_the_address_and_when_it_is_slow(root: Path, told: Service) -> None:
    expected = answered(root)
    told.pause = 1.0
    for url, why in (("http://127.0.0.1:9/v1", "refused"), (told.url, "no answer in time")):
        wants(root, url=url, timeout=0.2)
        with Memory(root) as both:
            found = both.recall("noise of the boiler, and the dog")
        assert why in found.note and [(hit.entry.name, hit.score) for hit in found] == expected


def test_a_service_that_failed_three_times_is_left_alone_for_a_minute(root: Path, told: Service) -> None:
    now = [datetime(2026, 3, 1, tzinfo=UTC)]
    wants(root, url=told.url, timeout=10)
    told.reply = lambda texts: (401, b"")
    with opened_with(root, Actor(None, None, True), lambda: now[0], environment=os.environ) as both:
        for _ in range(6):
            assert "refuses the key" in both.recall("noise").note
        assert len(told.asked) == 3
        now[0] += timedelta(seconds=61)
        told.reply = good
        assert names(both, "puppy") == ["Luna"]


def test_a_service_that_answers_questions_but_takes_no_entries_is_told_and_words_rank(
    root: Path, told: Service
) -> None:
    wants(root, url=told.url, timeout=10)
    told.reply = lambda texts: (400, b"") if any(map(is_fact, texts)) else good(texts)
    with Memory(root) as both:
        found = both.recall("noise")
        assert [hit.entry.name for hit in found] == ["Cellar"] and "status 400" in found.note
        for _ in range(5):
            assert names(both, "noise") == ["Cellar"]
    assert len([asked for asked in told.asked if any(map(is_fact, asked["input"]))]) == 3


def smaller(texts: Sequence[str]) -> Reply:
    return reply_of(vectors(texts, GROUPS[:2]).tolist())


def test_a_service_whose_vectors_have_now_this_dimension_and_now_that_is_told_of(root: Path, told: Service) -> None:
    wants(root, url=told.url, timeout=10)
    told.reply = lambda texts: (smaller if any(map(is_fact, texts)) else good)(texts)
    with Memory(root) as both:
        assert "vectors of 2 and of 5 dimensions" in both.recall("noise").note
        assert names(both, "noise") == ["Cellar"]


def test_a_service_with_another_model_under_the_same_name_starts_anew(root: Path, told: Service) -> None:
    wants(root, url=told.url, model="small")
    with Memory(root) as both:
        assert names(both, "puppy") == ["Luna"]
        told.reply = smaller
        assert names(both, "puppy") == ["Luna"] and names(both, "heating") == []
    with Memory(root) as both:
        told.asked.clear()
        assert names(both, "physician") == ["Luna"] and len(told.asked) == 1


def test_an_embedder_of_anybodys_that_raises_is_told_of(root: Path) -> None:
    class Broken:
        def embed(self, texts: Sequence[str], /) -> Array:
            raise KeyError("model")

    expected = answered(root)
    with Memory(root, embedder=Broken()) as both:
        found = both.recall("noise of the boiler, and the dog")
    assert found.note == "by words alone: Broken failed: KeyError: 'model'"
    assert [(hit.entry.name, hit.score) for hit in found] == expected


def test_an_embedder_that_cannot_say_who_it_is_is_told_of_in_one_line(root: Path) -> None:
    class Nobody(Own):
        identity = property(lambda self: json.loads("\n{"), lambda self, said: None)

    with Memory(root, embedder=Nobody()) as both:
        found = both.recall("noise")
    assert [hit.entry.name for hit in found] == ["Cellar"] and "Nobody failed: JSONDecodeError: " in found.note
    assert len(found.note.splitlines()) == 1


def test_nobody_holds_back_who_interrupts_and_words_go_on_after(root: Path) -> None:
    class Interrupted(Own):
        def embed(self, texts: Sequence[str], /) -> Array:
            if any(map(is_fact, texts)) and not self.asked:
                self.asked += texts
                raise KeyboardInterrupt
            return vectors(texts)

    with Memory(root, embedder=Interrupted()) as both:
        with pytest.raises(KeyboardInterrupt):
            both.recall("noise")
        assert names(both, "noise") == ["Cellar"] and names(both, "puppy") == ["Luna"]


# Settings


def test_the_key_is_read_from_the_environment_and_never_shown(
    root: Path, told: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    wants(root, url=told.url, model="small", key="CRABMEM_NOTES_KEY")
    with Memory(root) as both:
        assert both.recall("noise").note == (
            "by words alone: the environment variable CRABMEM_NOTES_KEY holds no key; vectors.key names it"
        )
    monkeypatch.setenv("CRABMEM_NOTES_KEY", " sk-12\n")
    with Memory(root) as both:
        assert names(both, "puppy") == ["Luna"] and told.headers[0]["Authorization"] == "Bearer sk-12"
        told.reply = lambda texts: (401, texts[0].encode() + b"sk-12")
        seen = [both.recall("noise").note, *(finding.message for finding in both.doctor())]
    assert "refuses the key" in seen[0] and not any("sk-12" in text for text in seen)
    assert not any(b"sk-12" in file.read_bytes() for file in root.rglob("*") if file.is_file())
    monkeypatch.setenv("CRABMEM_NOTES_KEY", "sk-\n12")
    with Memory(root) as both:
        assert "holds no key" in both.recall("noise").note


@pytest.mark.parametrize("said", [{}, {"provider": "off", "url": "http://127.0.0.1:9"}, {"weight": 0.9}])
def test_nobody_is_asked_unless_a_model_or_a_service_is_named(root: Path, said: dict[str, object]) -> None:
    wants(root, **said)
    code = """
import sys
from crabmem import Memory
with Memory(sys.argv[1]) as memory:
    assert [hit.entry.name for hit in memory.recall("noise")] == ["Cellar"] and not memory.recall("puppy").hits
    assert not [finding for finding in memory.doctor() if finding.check == "vectors"]
late = ("crabmem.embeddings", "model2vec", "urllib.request", "http.")
wrong = [name for name in sys.modules if name.startswith(late)]
assert not wrong, wrong
"""
    subprocess.run([sys.executable, "-c", code, str(root)], check=True)


def test_a_model_on_this_machine_answers_the_command_line_too(root: Path, tmp_path: Path) -> None:
    wants(root, model=str(saved_model(tmp_path / "model")))
    for _ in range(2):  # the second time there is an index, and nothing left to read
        ran = subprocess.run([*forked.COMMAND, "--dir", str(root), "recall", "puppy", "physician"],
                             capture_output=True, text=True)  # fmt: skip
        assert "\n## Luna\n" in ran.stdout and not ran.stderr


def test_settings_count_from_the_moment_they_are_written(root: Path, tmp_path: Path, told: Service) -> None:
    with Memory(root) as both:
        assert names(both, "puppy") == []
        wants(root, model=str(saved_model(tmp_path / "model")))
        assert names(both, "puppy") == ["Luna"] and not told.asked
        wants(root, url=told.url)
        assert names(both, "puppy") == ["Luna"] and told.asked
        (root / "crabmem.toml").unlink()
        assert names(both, "puppy") == []


def test_vectors_of_one_service_never_meet_those_of_another_that_did_not_answer_at_first(
    root: Path, told: Service
) -> None:
    with Memory(root) as both:
        wants(root, url=told.url, model="small", timeout=10)
        assert names(both, "puppy") == ["Luna"]
        told.reply = lambda texts: (401, b"")
        wants(root, url=told.url, model="large", timeout=10)
        assert "refuses the key" in both.recall("puppy").note
        told.reply = lambda texts: reply_of(vectors(texts, [*GROUPS[1:], GROUPS[0]]).tolist())
        assert names(both, "puppy") == ["Luna"] and names(both, "internet") == ["Guests"]


# Reindexing and the doctor


def test_reindexing_makes_all_vectors_and_says_how_far_it_is(root: Path) -> None:
    own, seen = Own(), list[tuple[int, int]]()
    with Memory(root, embedder=own) as both:
        done = maintenance.reindex(both, lambda *told: seen.append(told))
        assert (done.entries, done.embedder, done.dimension, done.made) == (4, "Own", len(GROUPS), 4)
        assert seen == [(4, 4)] and maintenance.reindex(both).made == 0
        own.asked.clear()
        assert names(both, "puppy") == ["Luna"] and own.asked == ["puppy"]


def test_reindexing_reads_every_entry_anew(root: Path) -> None:
    with Memory(root) as words:
        names(words, "noise")
    (root / ".git/crabmem/index/base").write_bytes(b"nonsense")
    with Memory(root) as words:
        assert maintenance.reindex(words).entries == 4 and names(words, "noise") == ["Cellar"]
        assert names(words, "noise") == ["Cellar"]


def test_reindexing_keeps_what_it_made_when_a_service_fails(
    root: Path, told: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meaning, "AT_ONCE", 2)
    wants(root, url=told.url)
    told.reply = lambda texts: (400, b"") if len(told.asked) > 2 else good(texts)
    with Memory(root) as both:
        with pytest.raises(EmbedderFailed, match="status 400"):
            maintenance.reindex(both)
        told.reply = good
        assert maintenance.reindex(both).made == 2


def run(root: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*forked.COMMAND, "--dir", str(root), *words], capture_output=True, text=True)


def test_reindex_on_the_command_line(root: Path, told: Service) -> None:
    assert run(root, "doctor", "--reindex").stdout == "read: 4 facts\n"
    wants(root, url=told.url, model="small")
    assert run(root, "doctor", "--reindex").stdout == "read: 4 facts; vectors by http small, 5 dimensions: 4 made now\n"
    assert json.loads(run(root, "doctor", "--reindex", "--json").stdout) == {
        "facts": 4, "embedder": "http small", "dimension": 5, "made": 0, "sections": 0,
    }  # fmt: skip
    told.reply = lambda texts: (401, b"")
    (root / ".git/crabmem/index/vectors").unlink()
    failed = run(root, "doctor", "--reindex")
    assert failed.returncode == 1 and failed.stderr.startswith("crabmem: http://127") and failed.stderr.count("\n") == 1


def findings(memory: Memory) -> list[tuple[str, str]]:
    return [(found.level, found.message) for found in memory.doctor() if found.check == "vectors"]


def test_doctor_says_whether_it_works_and_what_is_missing(root: Path, told: Service) -> None:
    wants(root, url=told.url, model="small", timeout=10)
    about = "recall by meaning asks http small, 5 dimensions; "
    with Memory(root) as both:
        rest = "0 of 4 facts have vectors; recalls make the others, or `crabmem doctor --reindex` now"
        assert findings(both) == [("info", about + rest)]
        names(both, "puppy")
        assert findings(both) == [("info", about + "4 of 4 facts have vectors")]
        told.reply = lambda texts: (404, b"")
        [(level, message)] = findings(both)
    assert level == "warning" and message.startswith("recall goes by words alone: http://127") and "404" in message


def test_doctor_names_the_extra_and_the_model_that_are_not_here(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wants(root, model=str(tmp_path / "model"))
    with Memory(root) as both:
        assert findings(both)[0][1].endswith(f"there is no folder {tmp_path / 'model'} with a model")
        monkeypatch.setitem(sys.modules, "model2vec", None)
        assert findings(both)[0][1].endswith(f"needs model2vec: `{how_to_get('vectors')}`")


def test_eval_measures_recall_by_meaning_now_and_then(root: Path) -> None:
    asked = [Expectation("puppy physician", ("Luna",))]
    with Memory(root, embedder=Own()) as both, Memory(root) as words:
        assert [evaluate.evaluate(each, asked).figures["r@1"] for each in (both, words)] == [1.0, 0.0]
        (root / "memory/entries/luna.md").write_text("---\nname: Luna\n---\n\nA cat.\n")
        done = evaluate.evaluate(both, [Expectation("physician", ("Luna",))], since="HEAD")
    assert done.figures["r@1"] == 0.0 and done.past and done.past.figures["r@1"] == 1.0


def test_what_is_called_as_the_question_says_comes_before_what_means_it(root: Path) -> None:
    class Knows(Own):
        def embed(self, texts: Sequence[str], /) -> Array:
            return super().embed(["dog" if text == "The Who" else text for text in texts])

    with Memory(root, embedder=Knows()) as both:
        both.remember("The Who", "a band", "Four records, in the cellar.")
        assert names(both, "The Who") == ["The Who", "Luna"]
        assert names(both, "The Who", 1) == ["The Who"]


def test_a_budget_cuts_what_is_found_by_meaning_too(root: Path) -> None:
    with Memory(root, embedder=Own()) as both:
        both.remember("Long", "text", "The boiler. " + "It is said again. " * 300)
        [hit] = [hit for hit in both.recall("heating", budget=700) if hit.entry.name == "Long"]
        assert hit.passage and hit.passage.startswith("The boiler.")


def test_notes_are_found_by_what_they_mean_and_no_entries_with_vectors(tmp_path: Path) -> None:
    with Memory(filled(tmp_path, {"Wifi": ("the network", "Pinguin.")}), embedder=Own()) as both:
        both.write_note("Called the vet, Luna is fine.")
        assert [hit.entry.is_note for hit in both.recall("physician puppy")] == [True]
        assert maintenance.reindex(both).entries == 1
        assert findings(both)[0][1].endswith("1 of 1 facts have vectors")
