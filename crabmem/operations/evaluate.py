"""How good recall is at a person's questions: asks them, and looks for what must be found."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count

from ..errors import Inapplicable, InvalidArguments, NotFound, Unreadable
from ..recall.catalog import Progress
from ..recall.ranking import check_question
from ..results import Answer, Evaluation, Recall
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.evaluation import Expectation, figures
from ..text.slug import name_key


def evaluate(
    session: Session,
    questions: Iterable[Expectation],
    limit: int = 10,
    since: str | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """How well recall answers `questions`, with `limit` hits each; those for other workspaces are passed over.

    With `since`, also how well it would have in the memory as it was at that revision or time, with the settings
    of then. `progress` is called with how many questions of how many were asked.

    Raises:
        NotFound: what must be found is no entry, now or then; or there is no such revision.
        InvalidArguments: a question cannot be asked, or none is for this workspace.
    """
    session.view.check_whole()
    given = list(questions)
    past = None if since is None else session.look(lambda then: then, since)
    return session.look(lambda now: _evaluated(given, session.root.name, limit, now, past, progress))


def _evaluated(
    questions: Sequence[Expectation],
    workspace: str,
    limit: int,
    now: Snapshot,
    past: Snapshot | None,
    progress: Progress | None,
) -> Evaluation:
    """How well those of `questions` that are for `workspace` are answered, now and in the past."""
    asked, elsewhere = _parted(questions, workspace)
    sources = [now, *([past] if past else [])]
    for question in asked:
        check_question(question.query, limit, question.tags)
        _check_wanted(question, sources)
    done = count(1)

    def answers(source: Snapshot) -> Iterator[Answer]:
        for question in asked:
            yield _answer(question, source, source.recall(question.query, limit, question.tags))
            if progress:
                progress(next(done), len(asked) * len(sources))

    then = Evaluation(tuple(answers(past)), limit) if past else None
    return Evaluation(tuple(answers(now)), limit, tuple(elsewhere), then)


def _parted(questions: Sequence[Expectation], workspace: str) -> tuple[list[Expectation], list[Expectation]]:
    """The questions for the workspace of that name, and the others."""
    asked = [question for question in questions if question.workspace in ("", workspace)]
    elsewhere = [question for question in questions if question.workspace not in ("", workspace)]
    if elsewhere and not asked:
        names = ", ".join(sorted({question.workspace for question in elsewhere}))
        raise Inapplicable(f"no question is for the workspace {workspace}; they are for: {names}")
    if not asked:
        raise InvalidArguments("there are no questions")
    return asked, elsewhere


def _check_wanted(question: Expectation, sources: Sequence[Snapshot]) -> None:
    """Refuse a question whose answer is nowhere; the error is that of the first source."""
    for name in question.find:
        try:
            sources[0].get(name)
        except (NotFound, InvalidArguments, Unreadable) as error:
            if not any(_path(source, name) for source in sources):
                raise type(error)(f"{question.query}: {error}") from None


def _answer(question: Expectation, now: Snapshot, recall: Recall) -> Answer:
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
