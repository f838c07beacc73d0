"""A conversation that grew too long: what is worth keeping of the old messages is written, only then is a summary put
in their place. Called by hosts, with a model of their own; never by crabmem itself.

shorter = compacted(memory, messages, lambda prompt: my_model(prompt))
"""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..errors import CrabmemError, HoldsSecret, InvalidArguments
from ..operations import context, keyvalue, notes
from ..operations import facts as facts_operations
from ..prompt.compaction import Window
from ..session.session import Session
from ..text.credentials import Screen
from ..text.entry import Fact, checked
from ..text.keys import Key
from ..text.messages import Message, facts_in, portions, split_messages, transcript
from ..text.quoting import escaped
from ..text.slug import name_key
from ..text.templates import fill, template, worth
from ..text.values import replace
from ..text.words import shortened

#: Where facts lie that a model took from a conversation: each again under its key, none in the place of another's.
NAMESPACE = ("conversation",)
_TITLE = "from the conversation"
_SUMMARY = "Summary of what was said before:\n\n"
_LEFT_OUT = "({count} messages were left out here)"
_SHOWN = 120

Answer: TypeAlias = str | Exception | None


@dataclass(frozen=True)
class Compacted:
    """What goes on as the conversation: shorter when `is_shorter`, else as it was, and `trouble` says why.

    `stored` are the names of the facts that were written, or the path of the note, in `commit`; also when it did not
    come to a summary. `trouble` names, too, what could not be stored.
    """

    messages: list[Message]
    is_shorter: bool = False
    stored: tuple[str, ...] = ()
    commit: str | None = None
    trouble: tuple[str, ...] = ()


#: Yields prompts for a model, is sent what it said or what went wrong, and returns what came of it.
_Work: TypeAlias = Generator[str, Answer, Compacted]


def compacted(
    memory: Session,
    messages: Sequence[Message],
    ask: Callable[[str], str],
    window: Window | None = None,
    store: bool = True,
) -> Compacted:
    """Store what is worth it of the old messages, and go on with a summary of them and the last ones as they are.

    `ask` gives a prompt to a model and returns what it says. Whatever fails, the messages stay as they are. `window`
    of None is the profile's. With `store` of False nothing is stored, as that was done before.
    """
    work = _compact(memory, list(messages), window or memory.profile.window, store)
    step = _resume(work, None)
    while not isinstance(step, Compacted):
        try:
            answer: Answer = ask(step)
        except Exception as error:  # it is the host's
            answer = error
        step = _resume(work, answer)
    return step


async def compacted_async(
    memory: Session,
    messages: Sequence[Message],
    ask: Callable[[str], Awaitable[str]],
    window: Window | None = None,
    store: bool = True,
) -> Compacted:
    """As `compacted`; what is written is written beside the event loop."""
    work = _compact(memory, list(messages), window or memory.profile.window, store)
    step = await asyncio.to_thread(_resume, work, None)
    while not isinstance(step, Compacted):
        try:
            answer: Answer = await ask(step)
        except Exception as error:  # it is the host's
            answer = error
        step = await asyncio.to_thread(_resume, work, answer)
    return step


def pruned(messages: Sequence[Message], window: Window) -> list[Message]:
    """The last messages without the old ones, for when there is no room left even to ask for a summary.

    The messages of the system stay, and one says how many were left out.
    """
    first, old, kept = split_messages(messages, window.keep, window.unit)
    said = [{"role": "user", "content": _LEFT_OUT.replace("{count}", str(len(old)))}] if old else []
    return [*first, *said, *kept]


def _resume(work: _Work, answer: Answer) -> str | Compacted:
    """The next prompt, or what came of it all."""
    try:
        return work.send(answer)
    except StopIteration as done:
        made: Compacted = done.value
        return made


def _compact(memory: Session, messages: list[Message], window: Window, store: bool) -> _Work:
    first, old, kept = split_messages(messages, window.keep, window.unit)
    text, done = transcript(old), Compacted(messages)
    if len(text) < max(window.least, 1):
        return replace(done, trouble=(f"there are only {len(text)} characters of old text; nothing was done",))
    try:
        if store and context.may_flush(memory):
            done = yield from _store(memory, text, window, done)
        summary = yield from _summarise(text, window)
    except CrabmemError as error:
        return replace(done, trouble=(*done.trouble, f"{error}; the messages stay as they are"))
    return replace(done, messages=[*first, {"role": "user", "content": _SUMMARY + summary}, *kept], is_shorter=True)


def _store(memory: Session, text: str, window: Window, done: Compacted) -> Generator[str, Answer, Compacted]:
    """Ask about all of the text, and write what is worth it in one commit."""
    replies = []
    for portion in portions(text, window.portion):
        reply = yield from _answer_to("extract" if window.store == "facts" else "bullets", portion)
        replies.append(reply)
    if window.store == "facts":
        return _with_facts(memory, replies, done)
    return _with_lines(memory, [reply.strip() for reply in replies if not window.is_nothing(reply)], done)


def _with_lines(memory: Session, texts: Sequence[str], done: Compacted) -> Compacted:
    """Add texts to the note of today, without their lines that the settings refuse."""
    lines, trouble = list[str](), list[str]()
    for line in "\n".join(texts).splitlines():
        try:
            Screen(memory.settings.secrets).refuse_new(line)
            lines.append(line)
        except HoldsSecret as error:
            trouble.append(f"not stored: {error}")
    if not lines:
        return replace(done, trouble=tuple(trouble))
    note = notes.write_note(memory, "\n".join(lines), _TITLE)
    return replace(done, stored=(note.path,), commit=note.commit, trouble=tuple(trouble))


def _with_facts(memory: Session, replies: Sequence[str], done: Compacted) -> Compacted:
    """Write the facts of all replies; of one that is there twice the newest."""
    facts, trouble = dict[Key, Fact](), list[str]()
    for item in (item for reply in replies for item in _items(reply)):
        try:
            fact = _fact(item, memory.settings.secrets)
        except CrabmemError as error:
            # Its key alone: what is refused may be a credential.
            trouble.append(f"not stored: {shortened(str(item.get('key')), _SHOWN)!r}: {error}")
        else:
            if not _is_known(memory, fact):
                facts[Key(NAMESPACE, name_key(fact.name))] = fact
    names = tuple(fact.name for fact in facts.values())
    return replace(done, stored=names, commit=keyvalue.keep(memory, facts), trouble=tuple(trouble))


def _items(reply: str) -> list[Mapping[str, Any]]:
    found = facts_in(reply)
    if found is None:
        raise InvalidArguments(f"the model gave no JSON array of facts but {shortened(reply, _SHOWN)!r}")
    return found


def _fact(item: Mapping[str, Any], secrets: str) -> Fact:
    """What a model wrote of a fact, checked.

    Raises:
        InvalidArguments: it lacks something, or cannot be kept.
        HoldsSecret: there is a credential in it, and the setting `secrets` refuses that.
    """
    texts = {key: item.get(key) for key in ("key", "value", "category")}
    key, value, category = (str(text).strip() if isinstance(text, _PLAIN) else "" for text in texts.values())
    if not key or not value:
        raise InvalidArguments("it has no key or no value")
    Screen(secrets).refuse_new(value)
    return checked(Fact(" ".join(key.split()), "", value, tags=(category,) if category else None))


def _is_known(memory: Session, fact: Fact) -> bool:
    """Whether a line of the entry called so says this already, whoever wrote it."""
    try:
        content = facts_operations.get(memory, fact.name).content
    except CrabmemError:  # none, or one that cannot be read
        return False
    return fact.content in (content.strip(), *map(str.strip, content.splitlines()))


def _summarise(text: str, window: Window) -> Generator[str, Answer, str]:
    """A summary of all of the text: of each portion with what the summary of those before it says.

    Raises:
        InvalidArguments: the model failed, or what it says is not shorter.
    """
    summary = ""
    for portion in portions(text, window.portion):
        before = f"\nThe summary of what was said before that:\n{escaped(summary)}\n" if summary else ""
        summary = (yield from _answer_to("summary", portion, before)).strip()
    if not summary:
        raise InvalidArguments("the summary is empty")
    if len(_SUMMARY + summary) >= len(text):
        raise InvalidArguments(f"the summary is no shorter than the {len(text)} characters that it is of")
    return summary


def _answer_to(name: str, portion: str, before: str = "") -> Generator[str, Answer, str]:
    """What the model says to the prompt of that name.

    Raises:
        InvalidArguments: it failed, or said no text.
    """
    answer = yield fill(template(name), {"worth": worth(), "before": before, "text": escaped(portion)})
    if isinstance(answer, str):
        return answer
    raise InvalidArguments(f"the model failed: {shortened(repr(answer), _SHOWN)}")


_PLAIN = (str, int, float)
