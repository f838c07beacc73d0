"""How good recall is at a person's questions, and auto-recall at the messages it should speak before, or not."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from typing import TypeVar

from ..errors import Inapplicable, InvalidArguments, NotFound, Unreadable
from ..recall.catalog import Progress
from ..recall.ranking import check_question
from ..results import Answer, Evaluation, Reaction, Reactions, Recall
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.evaluation import Expectation, figures
from ..text.own_words import own_words
from ..text.slug import name_key
from ..text.spoken_to import Message

Asked = TypeVar("Asked", Expectation, Message)


def evaluate(
    session: Session,
    questions: Iterable[Expectation],
    limit: int = 10,
    since: str | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """How well recall answers `questions`, with `limit` hits each; those for other workspaces are passed over.

    With `since`, also how well it would have in the memory as it was at that revision or time, with its
    settings at that time. `progress` is called with how many questions of how many were asked.

    Raises:
        NotFound: a wanted name is that of no entry, now or then; or there is no such revision.
        InvalidArguments: a question cannot be asked, or none is for this workspace.
    """
    session.view.check_whole()
    past = None if since is None else session.look(lambda then: then, since)
    asked, elsewhere = _split_by_workspace(list(questions), session.root.name, "question")

    def read(now: Snapshot) -> Evaluation:
        sources = [now, *([past] if past else [])]
        for question in asked:
            check_question(question.query, limit, question.tags)
            _check_wanted(question.query, question.find, sources)
        done = count(1)

        def answers(source: Snapshot) -> Iterator[Answer]:
            for question in asked:
                yield _answer(question, source, source.recall(question.query, limit, question.tags))
                if progress:
                    progress(next(done), len(asked) * len(sources))

        then = Evaluation(tuple(answers(past)), limit) if past else None
        return Evaluation(tuple(answers(now)), limit, tuple(elsewhere), then)

    return session.look(read)


def react(session: Session, messages: Iterable[Message], progress: Progress | None = None) -> Reactions:
    """Whether auto-recall speaks before the messages that it should speak before, and before no others.

    Each message is judged by itself: facts told before, and facts that the prompt has anyway, are not left out.
    Messages for other workspaces are passed over. `progress` is called with how many messages of how many were judged.

    Raises:
        NotFound: a wanted name is that of no entry.
        InvalidArguments: no message is for this workspace.
    """
    session.view.check_whole()
    asked, elsewhere = _split_by_workspace(list(messages), session.root.name, "message")

    def reactions(now: Snapshot) -> Iterator[Reaction]:
        for number, message in enumerate(asked, start=1):
            _check_wanted(message.text, message.find, [now])
            yield _reaction(message, now)
            if progress:
                progress(number, len(asked))

    return session.look(
        lambda now: Reactions(tuple(reactions(now)), now.settings.auto_recall.threshold, len(elsewhere))
    )


def _reaction(message: Message, now: Snapshot) -> Reaction:
    """The answer of auto-recall before one message. It is right if it speaks as expected, and tells a wanted fact, if
    one is named."""
    from ..recall.auto_recall import best_confidence, told_of

    rules, words = now.settings, own_words(message.text)
    told = told_of(words, now.entries, rules.auto_recall, rules.language, now.likest)
    sure = best_confidence(words, now.entries, rules.auto_recall, rules.language)
    paths = {hit.entry.path for hit in told}
    wanted = {_path(now, name) for name in message.find}
    is_right = bool(told) == message.speak and (not wanted or not wanted.isdisjoint(paths))
    return Reaction(message, tuple(hit.entry.slug for hit in told), sure, is_right)


def _split_by_workspace(given: Sequence[Asked], workspace: str, what: str) -> tuple[list[Asked], list[Asked]]:
    """Split into those for the workspace of that name and the others; `what` is what errors call one of them.

    Raises:
        Inapplicable: all are for other workspaces.
        InvalidArguments: none are given.
    """
    asked = [each for each in given if each.workspace in ("", workspace)]
    elsewhere = [each for each in given if each.workspace not in ("", workspace)]
    if elsewhere and not asked:
        names = ", ".join(sorted({each.workspace for each in elsewhere}))
        raise Inapplicable(f"no {what} is for the workspace {workspace}; they are for: {names}")
    if not asked:
        raise InvalidArguments(f"there are no {what}s")
    return asked, elsewhere


def _check_wanted(query: str, find: Sequence[str], sources: Sequence[Snapshot]) -> None:
    """Refuse a question if a name it wants to `find` is an entry in none of `sources`; raise the first one's error."""
    for name in find:
        try:
            sources[0].get(name)
        except (NotFound, InvalidArguments, Unreadable) as error:
            if not any(_path(source, name) for source in sources):
                raise type(error)(f"{query}: {error}") from None


def _answer(question: Expectation, now: Snapshot, recall: Recall) -> Answer:
    # A wanted entry that is not there at this moment gets a key that no path has: it counts as missing.
    wanted = {_path(now, name) or f"?{name_key(name)}": name for name in question.find}
    ranked = [hit.entry.path for hit in recall]
    missing = tuple(name for path, name in wanted.items() if path not in ranked)
    is_first = bool(ranked) and ranked[0] in wanted
    gains = [int(path in wanted) for path in ranked]
    is_right = not missing and (is_first or not question.first)
    return Answer(question, recall, missing, is_right, figures(gains, [1] * len(wanted)))


def _path(now: Snapshot, name: str) -> str:
    """The path of the entry called `name`; "" where there is none, or not one alone."""
    with suppress(NotFound, InvalidArguments, Unreadable):
        return now.get(name).path
    return ""
