"""No text keeps an expression of ours busy: ten times the text takes ten times as long."""

import json
import re
import time
from collections.abc import Callable, Iterator

import pytest

from crabmem import Memory
from crabmem.hosts.hooks.input import parse_input
from crabmem.operations import links
from crabmem.operations.erasure import rule
from crabmem.search import ordinary, scripts
from crabmem.search.tokens import WORD
from crabmem.text import credentials, quoting
from crabmem.text import patterns as globs
from crabmem.text.markdown import with_section
from tests.pace import costing_less_than
from tests.patterns import Used, used, worst

#: Characters. Every text is tried short, and ten times as long. Some expressions look ahead for a thousand: that they
#: are slower on `_SHORT` * 10 shows no fault before they are so on `_MIDDLE` * 10, too.
_SHORT, _MIDDLE, _FULL = 300, 1_000, 10_000
#: Ten times as long is in proportion, a hundred times is not.
_RATIO = 30
#: Seconds that tell nothing: the machine was busy, or the clock is coarse.
_NOISE = 0.001
#: Seconds that a text of `_SHORT` takes only where a longer one would take minutes.
_MOST = 0.003
#: Texts that are tried in full length: those that took longest when they were shorter.
_SLOWEST = 3


def _made(name: str, operation: str, *patterns: re.Pattern[str]) -> list[Used]:
    return [Used(name, pattern, frozenset({operation})) for pattern in patterns]


_MADE_OF_ARGUMENTS = {
    "text.credentials._expression": _made(
        "credentials", "finditer", *(credentials._expression(mark, each) for _, mark, each in credentials._FORMATS)
    ),
    "text.credentials.redacted": _made(
        "redacted", "finditer", re.compile(re.escape("-----BEGIN PRIVATE KEY-----") + credentials._REST_OF_KEY)
    ),
    "operations.erasure.rule._any_of": _made(
        "rule._any_of", "finditer", rule._any_of(["Luna's vet", 'a "quoted" text\n\nof two lines'])
    ),
    "operations.erasure.rule._entry_pattern": [],  # as the one above, with a look around each
    "operations.erasure.rule.by_text": _made("rule.by_text", "finditer", rule.by_text("key-1").slugs),
    "operations.erasure.rule.by_pattern": [],  # what a person asks to be purged is their own expression
    "text.patterns._expression": _made(
        "globs", "fullmatch",
        *map(globs._expression, ["memory/**/a*b*c*d.md", "**/*", "**/**/a/**/b/*x*", "?a*" * 9, "*" * 9, "a/**/b"]),
    ),
    "text.quoting._opening": _made(
        "quoting", "finditer", quoting._opening("recall"), quoting._opening("of two words")
    ),
    "search.ordinary.sentences": _made(
        "ordinary", "findall", *map(re.compile, (ordinary._ASCII_WORD, WORD, ordinary._END))
    ),
    "search.scripts._compiled": _made(
        "search.scripts", "finditer", re.compile(scripts._RUN), re.compile(scripts._CLUSTER)
    ),
}  # fmt: skip


def _seconds(each: Used, text: str, times: int = 1) -> float:
    """How long it took the processor, the fastest of some times: a machine with much to do is no fault of ours."""
    found = []
    for _ in range(times):
        began = time.process_time()
        each.run(text)
        found.append(time.process_time() - began)
    return min(found)


def _grows(each: Used, make: Callable[[int], str], length: int) -> bool:
    """Whether a text of ten times the `length` takes much more than ten times as long; looks again when it seems so."""
    for times in (1, 3):
        longer = _seconds(each, make(length * 10), times)
        if longer < _NOISE or longer < _RATIO * _seconds(each, make(length), times):
            return False
    return True


def _fault(each: Used) -> str:
    """The text, as it is made, that keeps an expression busy; "" for none."""
    makers = worst(each.pattern)
    seconds = dict[int, float]()
    for number, make in enumerate(makers):
        is_busy = _seconds(each, make(_SHORT)) > _MOST and _seconds(each, make(_SHORT), 3) > _MOST
        if not is_busy:
            seconds[number] = _seconds(each, make(_SHORT * 10))
            is_busy = seconds[number] > _NOISE and _grows(each, make, _SHORT) and _grows(each, make, _MIDDLE)
        if is_busy:
            return f"{each.place}: {each.pattern.pattern!r:.120} on {make.args!r}"
    slowest = [makers[number] for number in sorted(seconds, key=seconds.__getitem__)[-_SLOWEST:]]
    return next((f"{each.place} on {make.args!r}" for make in slowest if _grows(each, make, _FULL)), "")


@pytest.mark.parametrize("part", range(2))
def test_every_expression_takes_time_in_proportion_to_its_text(part: int) -> None:
    found = used(_MADE_OF_ARGUMENTS)
    assert len(found) > 150
    assert list(filter(None, map(_fault, found[part::2]))) == []


@pytest.mark.parametrize(
    ("pattern", "operation"),
    [
        (r"<\s*/?\s*(?:m\s*e)\b", "finditer"),
        (r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", "finditer"),
        (r"\[\[[ \t]*(?P<target>[^\[\]|#\n]*?)[ \t]*\]\]", "finditer"),
        (r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<title>.*?))??(?:[ \t]+#+)?[ \t]*$", "match"),
        (r"sk-[A-Za-z0-9_-]{20,}T3BlbkFJ", "finditer"),
        (r"[ \t]*\Z", "finditer"),
        (r"/\*(?s:.*?)\*/", "finditer"),
    ],
)
def test_an_expression_that_would_be_kept_busy_is_told(pattern: str, operation: str) -> None:
    assert _fault(Used("here", re.compile(pattern, re.MULTILINE), frozenset({operation})))


# What came to minutes, by way of what people call

_LONG = 200_000


@pytest.fixture
def quickly() -> Iterator[None]:
    """A test that is over in seconds, however busy the machine is."""
    with costing_less_than(15):
        yield


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("text", ["x <" + " " * _LONG + "y", "< / " * (_LONG // 4), "</ me" + "\n" * _LONG])
def test_prompt_of_an_overview_full_of_space_is_there_at_once(memory: Memory, text: str) -> None:
    memory.write_overview(text)
    assert "<memory>" in memory.prompt()


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("text", ["[[" + " " * _LONG, "[[a" + " \t" * (_LONG // 2) + "b", "[[a#" + "#|" * (_LONG // 2)])
def test_links_that_never_end_keep_no_operation_busy(memory: Memory, text: str) -> None:
    memory.remember("Old", "d", "See [[Odd]].")
    memory.remember("Odd", "d", text)
    assert memory.rename("Old", "New").path == "memory/entries/new.md"
    assert [link.target for link in links.links(memory, "New").out] == ["Odd"]
    assert memory.doctor() is not None


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("text", ["T3Blbk" + "FJ " + "sk-" * (_LONG // 3), "ey" + "J" + "a." * (_LONG // 2)])
def test_a_text_full_of_beginnings_of_keys_is_remembered_at_once(memory: Memory, text: str) -> None:
    assert memory.remember("Keys", "d", text).commit


@pytest.mark.usefixtures("quickly")
def test_a_patch_full_of_space_is_recorded_at_once() -> None:
    line = "*** Add File: a" + " " * _LONG + "b"
    told = {"hook_event_name": "PostToolUse", "tool_input": {"command": f"*** Begin Patch\n{line}  \n"}}
    assert parse_input(json.dumps(told).encode()).files == (line.removeprefix("*** Add File: "),)


@pytest.mark.usefixtures("quickly")
def test_a_heading_full_of_space_is_found_at_once() -> None:
    text = "#" + " " * _LONG + "Title" + " " * _LONG + "##\nold\n"
    assert with_section(text, "Title", "new").endswith("\n\nnew\n")
