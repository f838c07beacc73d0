"""A conversation that grew too long: store what is worth keeping of the old messages, then put a summary in their
place. Hosts call this, with a model of their own; crabmem itself never does.

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

#: The namespace of facts that a model took from a conversation: a fact replaces the one of the same key in it only.
NAMESPACE = ("conversation",)
_TITLE = "from the conversation"
_SUMMARY = "Summary of what was said before:\n\n"
_LEFT_OUT = "({count} messages were left out here)"
_SHOWN = 120

#: A model's reply, or the exception that asking for it raised; None only to start a generator.
Answer: TypeAlias = str | Exception | None


@dataclass(frozen=True)
class Compacted:
    """The `messages` with which the conversation goes on: shortened if `is_shorter`, else as they were.

    `stored` are the names of the facts that were written in `commit`, or the path of the note: also where no summary
    was made. `trouble` says why the messages are not shorter, and what could not be stored.
    """

    messages: list[Message]
    is_shorter: bool = False
    stored: tuple[str, ...] = ()
    commit: str | None = None
    trouble: tuple[str, ...] = ()


#: A generator that yields prompts for a model and is sent the answers: one course of work for sync and async callers.
_Work: TypeAlias = Generator[str, Answer, Compacted]


def compacted(
    memory: Session,
    messages: Sequence[Message],
    ask: Callable[[str], str],
    window: Window | None = None,
    store: bool = True,
) -> Compacted:
    """Store what is worth keeping of the old messages, and replace them by a summary; the last messages stay.

    `ask` gives a prompt to a model and returns its reply. If anything fails, the messages are returned unchanged.
    `window` of None is the profile's. With `store=False` nothing is stored: the host has done it before.
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
    """As `compacted`, with an async `ask`; reading and writing memory runs in a thread, not in the event loop."""
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
    """Send an answer into the work; return its next prompt, or the result if it has ended."""
    try:
        return work.send(answer)
    except StopIteration as done:
        made: Compacted = done.value
        return made


def _compact(memory: Session, messages: list[Message], window: Window, store: bool) -> _Work:
    """The work of `compacted`. An error of crabmem ends up in `trouble`, beside what was stored until then."""
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
    """Ask about the text, portion by portion, and write what the model finds worth keeping, in one commit."""
    replies = []
    for portion in portions(text, window.portion):
        reply = yield from _answer_to("extract" if window.store == "facts" else "bullets", portion)
        replies.append(reply)
    if window.store == "facts":
        return _with_facts(memory, replies, done)
    return _with_lines(memory, [reply.strip() for reply in replies if not window.is_nothing(reply)], done)


def _with_lines(memory: Session, texts: Sequence[str], done: Compacted) -> Compacted:
    """Add the lines of `texts` to today's note, without lines that hold a credential: these go into `trouble`."""
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
    """Write the facts of all replies in one commit; of two with one name the later.

    A fact that cannot be kept goes into `trouble`; one that memory has already is not written again.
    """
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
    """A checked fact, made of the JSON object that a model wrote: `key`, `value` and perhaps `category`.

    Raises:
        InvalidArguments: the object has no key or no value, or the fact cannot be kept.
        HoldsSecret: the value holds a credential, and the setting `secrets` refuses that.
    """
    texts = {key: item.get(key) for key in ("key", "value", "category")}
    key, value, category = (str(text).strip() if isinstance(text, _PLAIN) else "" for text in texts.values())
    if not key or not value:
        raise InvalidArguments("it has no key or no value")
    Screen(secrets).refuse_new(value)
    return checked(Fact(" ".join(key.split()), "", value, tags=(category,) if category else None))


def _is_known(memory: Session, fact: Fact) -> bool:
    """Whether the entry of that name has the fact's content already, as a whole or as one of its lines."""
    try:
        content = facts_operations.get(memory, fact.name).content
    except CrabmemError:  # none, or one that cannot be read
        return False
    return fact.content in (content.strip(), *map(str.strip, content.splitlines()))


def _summarise(text: str, window: Window) -> Generator[str, Answer, str]:
    """Ask for a summary, portion by portion: each prompt has the summary of the portions before. Return the last.

    Raises:
        InvalidArguments: the model failed, or its summary is empty or not shorter than the text.
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
    """Yield the prompt made of the template `name`, and return the model's reply.

    Raises:
        InvalidArguments: asking the model raised an error, or its reply is no text.
    """
    answer = yield fill(template(name), {"worth": worth(), "before": before, "text": escaped(portion)})
    if isinstance(answer, str):
        return answer
    raise InvalidArguments(f"the model failed: {shortened(repr(answer), _SHOWN)}")


_PLAIN = (str, int, float)
