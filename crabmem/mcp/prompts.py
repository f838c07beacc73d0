"""Prompts, which a person asks for by name (flush, review, tidy), and the completion of names that they type."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from mcp import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptReference,
    TextContent,
)

from ..operations import facts, history
from ..session.session import Session
from ..text.quoting import block, one_line, visible
from ..text.templates import storing_prompt, template
from ..text.words import counted, shortened
from ..tools.looking import log_text
from .addresses import ENTRY
from .served import Context, Served, in_thread, refuse_cursor

Given = Mapping[str, str]
_COMMITS = 100
_FACTS = 500
_WIDTH = 160
_MOST = 100


@dataclass(frozen=True)
class Offer:
    """A prompt: `text` makes it of a memory and the values of its arguments. `arguments` has what each is, by name."""

    title: str
    description: str
    arguments: Mapping[str, str]
    text: Callable[[Session, Given], str]


def _flush(memory: Session, given: Given) -> str:
    focus = given.get("focus", "").strip()
    return storing_prompt("flush").replace("{focus}", f", above all about: {focus}" if focus else "")


def _review(memory: Session, given: Given) -> str:
    since, entry = given.get("since", "").strip(), given.get("entry", "").strip()
    commits = tuple(islice(history.commits(memory, entry or None, since=since or None), _COMMITS))
    about = (f" about {entry}" if entry else "") + (f", since {since}" if since else "")
    return template("review").replace("{about}", about).replace("{log}", block("memory", log_text(commits)))


def _tidy(memory: Session, given: Given) -> str:
    entry, entries = given.get("entry", "").strip(), facts.entries(memory)
    lines = [
        one_line(f"- {each.name}: {shortened(each.description or each.content, _WIDTH)}") for each in entries[:_FACTS]
    ]
    more = len(entries) - len(lines)
    text = "\n".join(lines) + (f"\n({counted(more, 'more fact')})" if more else "") or "none yet"
    about = f", above all what has to do with {facts.get(memory, entry).name}" if entry else ""
    return template("tidy").replace("{about}", about).replace("{facts}", block("memory", text))


_ENTRY = "entry"
_OFFERS = {
    "flush": Offer(
        "Store what is worth keeping",
        "Store what is worth keeping of this conversation, now.",
        {"focus": "What matters most; all of it without."},
        _flush,
    ),
    "review": Offer(
        "Review recent changes",
        "Go through what was written to memory lately.",
        {"since": "A date, '1 week ago', or a commit.", _ENTRY: "Only this fact."},
        _review,
    ),
    "tidy": Offer(
        "Tidy memory",
        "Find facts that say the same, contradict each other, or are out of date.",
        {_ENTRY: "Only what has to do with this fact."},
        _tidy,
    ),
}


class Prompts:
    """Answers requests about prompts, and for the completion of names."""

    def __init__(self, served: Served) -> None:
        self._memory = served.memory

    async def list_prompts(self, context: Context, params: PaginatedRequestParams | None) -> ListPromptsResult:
        """List all prompts; they fit on one page."""
        refuse_cursor(params)
        return ListPromptsResult(prompts=[_to_protocol(name, offer) for name, offer in _OFFERS.items()])

    async def get_prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        """Return the text of a prompt."""
        offer, given = _offer(params.name), params.arguments or {}
        if unknown := sorted(set(given) - set(offer.arguments)):
            raise MCPError(INVALID_PARAMS, f"{params.name} has no argument {unknown[0]!r}: {list(offer.arguments)}")
        text = await in_thread(self._memory, offer.text, self._memory, given)
        message = PromptMessage(role="user", content=TextContent(text=visible(text).strip()))
        return GetPromptResult(description=offer.description, messages=[message])

    async def complete(self, context: Context, params: CompleteRequestParams) -> CompleteResult:
        """Return the names of entries, or of their files, that begin with what was typed, then those that hold it."""
        argument, ref = params.argument, params.ref
        if isinstance(ref, PromptReference):
            known = argument.name in _offer(ref.name).arguments
            names = self._names if argument.name == _ENTRY else None
        else:
            known = ref.uri == ENTRY and argument.name == "slug"
            names = self._slugs
        if not known:
            raise MCPError(INVALID_PARAMS, f"nothing here has an argument {argument.name!r}")
        found = await in_thread(self._memory, _matching, names, argument.value) if names else []
        values = found[:_MOST]
        return CompleteResult(completion=Completion(values=values, total=len(found), has_more=len(found) > _MOST))

    def _names(self) -> Iterator[str]:
        return (visible(entry.name) for entry in facts.entries(self._memory))

    def _slugs(self) -> Iterator[str]:
        return (self._memory.layout.label(entry.path) for entry in facts.entries(self._memory))


def _matching(names: Callable[[], Iterator[str]], typed: str) -> list[str]:
    wanted = typed.casefold()
    found = [name for name in names() if wanted in name.casefold()]
    return sorted(found, key=lambda name: not name.casefold().startswith(wanted))


def _offer(name: str) -> Offer:
    if name not in _OFFERS:
        raise MCPError(INVALID_PARAMS, f"no prompt named: {name} (there are: {', '.join(_OFFERS)})")
    return _OFFERS[name]


def _to_protocol(name: str, offer: Offer) -> Prompt:
    arguments = [PromptArgument(name=each, description=what, required=False) for each, what in offer.arguments.items()]
    return Prompt(name=name, title=offer.title, description=offer.description, arguments=arguments)
