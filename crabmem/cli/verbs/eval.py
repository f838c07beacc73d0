"""`crabmem eval`: how well recall answers a person's own questions, whether it got better or worse, when it speaks."""

import sys
from collections.abc import Iterable, Mapping, Sequence

import click

from ...operations.evaluate import evaluate as evaluate_operation
from ...operations.evaluate import react
from ...results import Answer, Evaluation, Reaction, Reactions, json_of
from ...text.evaluation import FIGURE_NAMES, parse_questions
from ...text.spoken_to import parse_messages
from ...text.words import counted, shortened
from ..app import open_session, verb
from ..completing import complete_files
from ..input import content_of
from ..options import json_option, limit_option, when_option
from ..output import Failure, plain, show, tell

_OF_SPEAKING = ("spoken", "silent", "right")
_GATES = (*FIGURE_NAMES, "right", "spoken", "silent")
_TITLES = {"r@1": "R@1", "r@5": "R@5", "r@10": "R@10", "mrr": "MRR", "ndcg@10": "nDCG@10", "right": "right"}
_WIDTH = 100
# Questions from which on progress is shown: fewer are answered before a person could notice it.
_MANY = 200
# Questions between two updates of it.
_TOLD_EVERY = 100
# Rounding error that a figure may be under its gate by: a mean depends on the order in which it is summed.
_SAME = 1e-9


def _gate(text: str) -> tuple[str, float]:
    """Convert a value of --fail-under, like `r@5=0.8`, to the name of the figure and the least it may be.

    Raises:
        BadParameter: there is no such figure, or the number is not from 0 to 1.
    """
    name, _, least = text.partition("=")
    if name.strip().lower() not in _GATES:
        raise click.BadParameter(f"{name} is no figure; there are: {', '.join(_GATES)}")
    try:
        number = float(least)
    except ValueError:
        number = -1
    if not 0 <= number <= 1:
        raise click.BadParameter(f"{text}: give the least that {name} may be, from 0 to 1, as {name}=0.8")
    return name.strip().lower(), number


@verb(after="watch")
@click.argument("file", metavar="FILE|-", shell_complete=complete_files)
@limit_option("How many facts each question gets.", 10)
@when_option("--compare", "And in the memory as it was at a commit, at a date, or '2 days ago'.")
@click.option(
    "--fail-under",
    "gates",
    type=_gate,
    multiple=True,
    metavar="FIGURE=N",
    shell_complete=lambda ctx, param, begun: [f"{name}=" for name in _GATES if name.startswith(begun)],
    help="Fail below that; may be repeated.",
)
@click.option("--speak", is_flag=True, help="FILE has messages: does memory speak before those that it should?")
@json_option
def eval_(
    file: str,
    limit: int,
    compare: str | None,
    gates: tuple[tuple[str, float], ...],
    speak: bool,
    json_wanted: bool,
) -> None:
    """Measure recall by questions of your own, and list those it answers wrong.

    \b
    [[query]]
    text = "who looks after the dog"
    find = ["Luna's vet"]           # all of these must be found: by name, file name or alias
    first = true                    # if you like: one of them in the first place
    tags = ["pets"]                 # if you like: asked for with the question
    workspace = "household"         # if you like: passed over in folders of another name

    FILE has any number of those, or the same keys as a line of JSON each. The figures are means over
    the questions, by name: r@1, r@5 and r@10, the share of what must be found among the first 1, 5 and 10; mrr, 1
    over the first place of any of it; ndcg@10; and right, the share of questions whose every fact was found, one
    of them in the first place where that is asked for.

    With --speak, what is measured is whether memory speaks by itself before a turn. Any number of these:

    \b
    [[message]]
    text = "Good morning, who is Luna's vet?"
    find = ["Luna's vet"]           # one of these must be told; or speak = true, for any fact
    kind = "question"               # if you like: figures are by kind
    workspace = "household"         # if you like
    [[message]]
    text = "Sounds good, let's continue tomorrow."
    speak = false
    [[opening]]                     # if you like: messages are tried within these as well
    text = "Hi there! {message} Thanks."

    The figures are spoken, the share of messages to speak before that it speaks before; silent, the share of the
    others that it is silent before; and right, the share of all, the fact told included.

    \b
    crabmem eval questions.toml --compare '1 month ago'
    crabmem eval questions.toml --fail-under r@5=0.8
    crabmem eval --speak messages.toml --fail-under silent=0.95
    """
    given = content_of(None, file, None)
    name, progress = "stdin" if file == "-" else file, _show_asking if sys.stderr.isatty() else None
    _check_gates(gates, _OF_SPEAKING if speak else (*FIGURE_NAMES, "right"), speak)
    if speak:
        if compare:
            raise click.UsageError("--speak with --compare: the past is compared for questions only; give one")
        reactions = react(open_session(), parse_messages(given, name), progress)
        show(json_wanted, json_of(reactions), lambda: plain(_reactions(reactions)))
        if reactions.unasked and not json_wanted:
            tell(f"{counted(reactions.unasked, 'message')} passed over, for other workspaces")
        _fail_under(reactions.figures, gates)
        return
    done = evaluate_operation(open_session(), parse_questions(given, name), limit, compare, progress)
    show(json_wanted, json_of(done), lambda: plain(_report(done)))
    if done.elsewhere and not json_wanted:
        tell(f"{counted(len(done.elsewhere), 'question')} passed over, for other workspaces")
    _fail_under(done.figures, gates)


def _check_gates(gates: Iterable[tuple[str, float]], names: Sequence[str], speak: bool) -> None:
    for name, _ in gates:
        if name not in names:
            where = "with --speak" if speak else "without --speak"
            raise click.BadParameter(f"{name} is no figure {where}; there are: {', '.join(names)}")


def _fail_under(figures: Mapping[str, float], gates: Iterable[tuple[str, float]]) -> None:
    if under := [
        f"{name} is {figures[name]:.4f}, under {least:g}" for name, least in gates if figures[name] < least - _SAME
    ]:
        raise Failure("; ".join(under))


def _show_asking(done: int, total: int) -> None:
    """Show how many questions were answered, if there are many."""
    if total >= _MANY and (done % _TOLD_EVERY == 0 or done == total):
        click.echo(f"\rasking: {done:,} of {total:,}" if done < total else "\r\033[K", nl=False, err=True)


def _reactions(done: Reactions) -> str:
    """Return the report of --speak: a table by kind of message, the figures, and each message answered wrong."""
    rows = [(kind, int(of["messages"]), of["spoken"], of["right"]) for kind, of in done.kinds.items()]
    width = max(len("all"), *(len(kind) for kind, *_ in rows))
    lines = [f"{counted(done.messages, 'message')}, {done.messages - len(done.wrong)} right"]
    lines += [f"{'':{width}} {'messages':>8}  {'spoken':>6}  {'right':>6}"]
    lines += [f"{kind:{width}} {count:8}  {spoken:6.3f}  {right:6.3f}" for kind, count, spoken, right in rows]
    lines += ["", *(f"{name:8} {value:.3f}" for name, value in done.figures.items())]
    for each in done.wrong:
        lines += ["", *_wrong(each, done.threshold)]
    return "\n".join(lines)


def _wrong(reaction: Reaction, threshold: float) -> list[str]:
    """Return lines on a message before which memory told the wrong thing, spoke, or kept silent by mistake."""
    what, find = reaction.message, ", ".join(reaction.message.find)
    told = f"told: {', '.join(reaction.told)}" if reaction.told else "silent"
    wanted = f"instead of: {find}" if find else "instead of anything" if what.speak else "instead of silence"
    sure = f"({reaction.confidence:.2f} at a threshold of {threshold:g})"
    return [f"wrong: {shortened(what.text, _WIDTH)}", f"  {told}, {wanted} {sure}"]


def _report(done: Evaluation) -> str:
    """Return the report: the figures, the questions answered wrong, and with --compare what got better and worse."""
    lines = [
        f"{counted(len(done.answers), 'question')}, {len(done.answers) - len(done.misses)} answered right",
        *_table(done),
    ]
    for answer in done.misses:
        lines += ["", *_miss(answer, done.limit)]
    for word, pairs in (("better", done.better), ("worse", done.worse)):
        lines += [f"\n{word}: {_question(pair.now)}\n  {_change(pair.past, pair.now)}" for pair in pairs]
    return "\n".join(lines)


def _table(done: Evaluation) -> list[str]:
    now = done.figures
    if done.past is None:
        return [f"{_TITLES[name]:8} {value:.3f}" for name, value in now.items()]
    then = done.past.figures
    rows = [f"{_TITLES[name]:8} {then[name]:.3f}  {now[name]:.3f}  {now[name] - then[name]:+.3f}" for name in now]
    return [f"{'':8} {'then':>5}  {'now':>5}", *rows]


def _miss(answer: Answer, limit: int) -> list[str]:
    """Return lines on a question answered wrong: facts that were not found, else facts not first; then what came."""
    missing = [f"  not among the first {limit}: {', '.join(answer.missing)}"] if answer.missing else []
    wanted = [] if missing else [f"  not first: {', '.join(answer.question.find)}"]
    hits = answer.recall.hits
    came = f"  came first: {hits[0].entry.name}" if hits else f"  {answer.recall.note}"
    return [f"missed: {_question(answer)}", *missing, *wanted, came]


def _question(answer: Answer) -> str:
    return shortened(answer.question.query, _WIDTH)


def _change(then: Answer, now: Answer) -> str:
    return f"{_place(then)} then, {_place(now)} now"


def _place(answer: Answer) -> str:
    """Return in words the place of the first fact that was wanted, and how many of them are missing."""
    if not answer.figures.mrr:  # MRR is 1 / place
        return "not found"
    rest = f" with {len(answer.missing)} missing" if answer.missing else ""
    return f"place {round(1 / answer.figures.mrr)}{rest}"
