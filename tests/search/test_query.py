"""What a question asks for: words, prefixes, phrases; and that any text is a question."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem import InvalidArguments, Memory
from crabmem.search import Document, Index, tokens
from crabmem.search.query import Phrase, Query, parse_query, terms_of
from tests.examples import examples


def parts(question: Query) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    return " ".join(question.text.split()), question.prefixes, question.phrases


@pytest.mark.parametrize(
    ("text", "words", "prefixes", "phrases"),
    [
        ("deploy key", "deploy key", (), ()),
        ("deploy*", "", ("deploy",), ()),
        ("where are deploy* and (rel*, conf*)?", "where are and ( , )?", ("deploy", "rel", "conf"), ()),
        ("src/conf*", "", ("src/conf",), ()),
        ("हिन्दी* café*", "", ("हिन्दी", "café"), ()),
        ('"deploy key"', "deploy key", (), ("deploy key",)),
        ('the "deploy key", "ops"!', "the , ! deploy key ops", (), ("deploy key", "ops")),
        ("the “deploy key” or «clé»", "the or deploy key clé", (), ("deploy key", "clé")),
        ("„Karte“ „Map”", "Karte Map", (), ("Karte", "Map")),
        ('"deploy* key"', "deploy* key", (), ("deploy* key",)),
        ('rel* "deploy key"', "deploy key", ("rel",), ("deploy key",)),
    ],
)
def test_prefixes_and_phrases_are_told_from_words(
    text: str, words: str, prefixes: tuple[str, ...], phrases: tuple[str, ...]
) -> None:
    assert parts(parse_query(text)) == (words, prefixes, phrases)


@pytest.mark.parametrize(
    "text",
    [
        '"deploy key', 'deploy" key', '"', '""', '"  "', '"?!"', "*", "**", "* deploy", "deploy *", "*deploy*",
        "**deploy**", "a*b", "5 * 3", "src/*.py", "conf*.toml",
        "**kwargs", "def f(*args)", '27" and 24" screens', 'print("key")',
        'say("a", "b")', "“deploy", "deploy”", "„", "«", "“”", "東京*", "แมว*", 'x="1"', "it's 5'11\" tall",
    ],
)  # fmt: skip
def test_whatever_only_looks_so_is_words(text: str) -> None:
    question = parse_query(text)
    assert (question.prefixes, question.phrases) == ((), ())
    assert tokens(question.text) == tokens(text)


SIGNS = st.text(st.sampled_from('"*“”„«» ab猫แé(.,\\\n') | st.characters(), max_size=30)


@given(SIGNS, SIGNS, st.sampled_from(["english", "none", "russian"]))
@settings(max_examples=examples(300))
def test_any_text_is_a_question(text: str, content: str, language: str) -> None:
    index = Index().updated({"k": Document("k", b"", tokens(content, language))})
    question = parse_query(text)

    words = terms_of(question, index, language)

    index.search(words)
    for phrase in question.phrases:
        found = Phrase(phrase, language)
        assert set(found.may_be_in(index)) <= {"k"}
        found.is_in([content])


@given(SIGNS, st.sampled_from(["english", "none", "french"]))
@settings(max_examples=examples(300))
def test_every_text_has_itself_as_a_phrase(text: str, language: str) -> None:
    index = Index().updated({"k": Document("k", b"", tokens(text, language))})
    phrase = Phrase(text, language)
    assert not phrase or (phrase.is_in([text]) and "k" in phrase.may_be_in(index))


@pytest.mark.parametrize(
    ("phrase", "text", "stands"),
    [
        ("deploy key", "The deploy keys are in the vault", True),
        ("DEPLOY KEY", "the deploy-key", True),
        ("key deploy", "The deploy key", False),
        ("deploy key", "deploy the key", False),
        ("rotates weekly", "The café's key rotates weekly", True),
        ("preferee rue", "la rue préférée", False),
        ("rue preferee", "la rue préférée", True),
        ("rue préférée", "la RUE PREFEREE", True),
        ("猫", "黒猫の家", True),
        ("黒猫の", "私の黒猫の家", True),
        ("黒の", "黒猫の", False),
        ("ผ่าน", "รหัสผ่านไวไฟ", True),
        ("ผ่านรหัส", "รหัสผ่านไวไฟ", False),
        ("пароль от сервера", "Пароли от серверов", True),
        ("C++のビルド", "C++のビルドは", True),
    ],
)
def test_a_phrase_stands_word_by_word(phrase: str, text: str, stands: bool) -> None:
    assert Phrase(phrase, "french" if "préf" in text.lower() else "english").is_in(["other", text]) is stands


@pytest.mark.parametrize(
    ("phrase", "text", "stands"),
    [
        ("3.11", "We run 3.11.7 everywhere.", True),
        ("run 3.11", "We run 3.11.7 everywhere.", True),
        ("11.7", "We run python-3.11.7.", True),
        ("6.1", "Home Assistant 2024.6.1", True),
        ("2024-06", "since 2024-06-09", True),
        ("2024-06-09T10", "at 2024-06-09T10:30", True),
        ("deploy.sh", "run ops/deploy.sh", True),
        ("ops/deploy", "run ops/deploy.sh", True),
        ("run ops", "run ops/deploy.sh", True),
        ("UserName", "call getUserName()", True),
        ("the key", "see the_key_of_all", True),
        ("isOn", "read isOn.value", True),
        ("C++17", "in C++17/20", True),
        ("build C++", "how to build C++17", True),
        ("build C++", "how to build C", False),
        ("3.11", "On day 3 at 11 there are 3 people and 11 chairs.", False),
        ("deploy.sh", "deploy with sh", False),
        ("ploy.sh", "run ops/deploy.sh", False),
        ("3.1", "We run 3.11.7 everywhere.", False),
    ],
)
def test_a_phrase_is_found_in_a_longer_name_too(phrase: str, text: str, stands: bool) -> None:
    index = Index().updated({"k": Document("k", b"", tokens(text))})
    found = Phrase(phrase, "english")
    assert ("k" in found.may_be_in(index) and found.is_in([text])) is stands


def test_words_of_two_fields_are_no_phrase() -> None:
    assert not Phrase("deploy key", "english").is_in(["deploy", "key"])


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """A memory with words that begin alike, and the same words in another order."""
    memory = Memory(tmp_path_factory.mktemp("query") / "workshop")
    memory.remember("Deployments", "when we deploy", "Deploying happens on Tuesdays.", tags=["ops"])
    memory.remember("Release keys", "where the key is", "The deploy key is in the vault.", aliases=["signing material"])
    memory.remember("Deployer", "who deploys", "Mira is the deployer; the key she has is for the door.")
    memory.remember("Café", "the place to meet", "Réunions at the café Zoë, on Thursdays.", tags=["meeting point"])
    memory.remember("Screens", 'a 27" screen', "From the second-hand shop; use parse_invoice_line for the bill.")
    memory.remember("Depot", "where parcels go", "The depot is behind the station.")
    return memory


def names(memory: Memory, query: str) -> list[str]:
    return [hit.entry.name for hit in memory.recall(query)]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("deploy*", {"Deployments", "Release keys", "Deployer"}),
        ("DEPLO*", {"Deployments", "Release keys", "Deployer"}),
        ("dep*", {"Deployments", "Release keys", "Deployer", "Depot"}),
        ("deployments*", {"Deployments", "Release keys", "Deployer"}),
        ("caf*", {"Café"}),
        ("réu*", {"Café"}),
        ("parse_inv*", {"Screens"}),
        ("qqq*", set()),
        ('"deploy key"', {"Release keys"}),
        ('"key is"', {"Release keys"}),
        ('"deploy key" mira', {"Release keys"}),
        ("“signing material”", {"Release keys"}),
        ('"meeting point"', {"Café"}),
        ('"cafe zoe"', {"Café"}),
        ('sta* "the depot"', {"Depot"}),
    ],
)
def test_recall_takes_prefixes_and_phrases(workshop: Memory, query: str, found: set[str]) -> None:
    assert set(names(workshop, query)) == found


@pytest.mark.parametrize("query", ['"deploy.sh"', '"ops/deploy"', '"run ops"'])
def test_a_phrase_in_a_longer_name_is_said_word_by_word(memory: Memory, query: str) -> None:
    memory.remember("Path", "deploying", "run ops/deploy.sh")
    memory.remember("Other", "deploying", "ops run sh deploy")
    found = memory.recall(query)
    assert [hit.entry.name for hit in found] == ["Path"] and found.note == ""


def test_a_prefix_is_no_flood(workshop: Memory) -> None:
    assert names(workshop, "dep* station")[0] == "Depot"
    assert len({hit.score for hit in workshop.recall("deploy*")}) > 1


def test_a_phrase_is_found_behind_many_that_have_its_words(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "many")
    for at in range(30):
        memory.remember(f"Note {at}", "key deploy key deploy", "deploy key"[:6] + " and key " * 3)
    memory.remember("Right", "somewhere", "long words before it " * 30 + "the deploy key itself")
    assert names(memory, '"deploy key itself"') == ["Right"]


def test_a_message_is_no_query(workshop: Memory) -> None:
    said = 'The "deploy key" or the depot*, behind the station where parcels go?'
    assert "Depot" not in names(workshop, said)
    assert "Depot" in workshop.before_turn(said)


def test_phrases_and_tags_are_both_heeded(workshop: Memory) -> None:
    assert [hit.entry.name for hit in workshop.recall('"deploying happens"', tags=["ops"])] == ["Deployments"]
    assert not workshop.recall('"deploy key"', tags=["nobody has"])


def test_what_nobody_says_word_by_word_is_words_and_the_note_tells(workshop: Memory) -> None:
    found = workshop.recall('"key deploy"')
    assert found.hits == workshop.recall("key deploy").hits and found.unsaid == ("key deploy",)
    assert found.note == 'no fact says "key deploy" word by word; these have the words'
    assert workshop.recall('"deploy key"').note == "" and "says" not in workshop.recall('"submarine boat"').note
    assert workshop.recall('"?!"').note == "nothing to search for: only common words or signs"


@given(SIGNS)
@settings(max_examples=examples(300))
def test_any_query_is_answered_or_refused(workshop: Memory, query: str) -> None:
    try:
        found = workshop.recall(query)
    except InvalidArguments:
        assert not query.strip()
    else:
        assert len(found) <= 5 and (found.hits or found.note)
    assert isinstance(workshop.before_turn(query), str)


@pytest.mark.parametrize("query", ["dep* station", '"deploy key" vault', "caf* réunion", "statio behind", "Zoë*"])
def test_what_prefixes_and_parts_of_words_add_makes_up_the_score(workshop: Memory, query: str) -> None:
    for hit in workshop.recall(query, explain=True):
        assert sum(match.added for match in hit.matches) == pytest.approx(hit.score)
        assert {match.word for match in hit.matches} <= {word.strip('"') for word in query.split()}


def test_a_passage_shows_what_a_prefix_found(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "long")
    memory.remember("Long", "a log", "Nothing of note happened. " * 60 + "The deployment failed. " + "And so on. " * 60)
    assert "deployment failed" in memory.recall("deplo*", budget=400)[0].shown


def test_the_spellings_of_a_word_count_as_one_word_that_is_named_as_it_was_typed(memory: Memory) -> None:
    memory.remember("Trip", "in spring", "Zürich, by train.")
    memory.remember("Visit", "in spring", "Basel, by train.")
    [umlaut], [plain] = (memory.recall(city, explain=True) for city in ("Zürich", "Basel"))
    assert umlaut.score < 1.6 * plain.score
    assert [match.word for match in umlaut.matches] == ["Zürich"]
