"""`crabmem bisect`: which commit changed an answer, by what must be found, or by a command of one's own."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from ...operations import facts
from ...operations.bisect import Claim, Test, claim_in
from ...operations.bisect import bisect as bisect_operation
from ...results import Bisected, Commit, Step, json_of
from ...session.session import Session
from ...session.snapshot import Snapshot
from ...text.hashes import short
from ...text.limits import RECALL_LIMIT
from ...text.words import listed
from ..app import open_session, verb
from ..input import LINE
from ..options import json_option, limit_option, when_option
from ..output import Failure, coloured, minute, plain, show, tell

_CANNOT_TELL = 125
_VERDICTS = {True: "good", False: "bad", None: "cannot be told"}
_FILES = 3


@verb(after="eval")
@click.option(
    "--bad", "never", multiple=True, type=LINE, metavar="'QUERY must not return NAME'", help="Bad when it does."
)
@click.option(
    "--good", "always", multiple=True, type=LINE, metavar="'QUERY must return NAME'", help="Good only when it does."
)
@limit_option("In so many facts.", RECALL_LIMIT)
@when_option("--since", "Where it was good.  [default: looked for, backwards]")
@when_option("--until", "Where it is bad.  [default: the newest commit]")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@json_option
def bisect(
    never: tuple[str, ...],
    always: tuple[str, ...],
    limit: int,
    since: str | None,
    until: str | None,
    command: tuple[str, ...],
    json_wanted: bool,
) -> None:
    """Find the commit that changed an answer for the worse, and who made it.

    \b
    crabmem bisect --bad "when do we release must not return Marketing mail"
    crabmem bisect --good "where is the vet must return Luna's vet" --since 2026-01-01
    crabmem bisect -- sh -c '! grep -rq "team chat" memory'

    COMMAND runs in a throw-away folder with the files of memory as they were, which CRABMEM_DIR names too:
    exit 0 is good, 125 cannot be told, any other bad. Your files are not touched.
    """
    claims = [*_claims("--bad", never, False), *_claims("--good", always, True)]
    if bool(claims) == bool(command):
        ways = "say what is wrong by --bad or --good, or by a command after --"
        raise click.UsageError(f"{ways}: one of the two" if claims else ways)
    memory = open_session()
    _check_names(memory, claims, until)
    test = _by_command(command) if command else _by_claims(claims, limit)
    done = bisect_operation(memory, test, since, until, None if json_wanted else _tell_step)
    show(json_wanted, json_of(done), lambda: _words(done))


def _claims(option: str, sentences: Sequence[str], is_wanted: bool) -> list[Claim]:
    claims = [claim_in(sentence) for sentence in sentences]
    if any(claim.is_wanted != is_wanted for claim in claims):
        raise click.UsageError(f"{option} takes 'QUERY must {'' if is_wanted else 'not '}return NAME'")
    return claims


def _check_names(memory: Session, claims: Sequence[Claim], until: str | None) -> None:
    """Check that each fact that must not be returned exists at `until`, else now: else there would be nothing to find.

    Raises:
        NotFound: there is no such fact.
    """
    for claim in claims:
        if not claim.is_wanted:
            facts.get(memory, claim.name, "HEAD" if until is None else until)


def _by_claims(claims: Sequence[Claim], limit: int) -> Test:
    return lambda moment: all(claim.holds(moment.recall(claim.query, limit)) for claim in claims)


def _by_command(command: Sequence[str]) -> Test:
    """Return a test that runs a command in a temporary folder with the files of a moment.

    Exit status 0 is good, 125 cannot be told (None), any other is bad.
    """
    program, *arguments = command
    if os.path.dirname(program):
        program = os.path.abspath(program)  # it runs elsewhere

    def test(moment: Snapshot) -> bool | None:
        with tempfile.TemporaryDirectory(prefix="crabmem-bisect-", ignore_cleanup_errors=True) as folder:
            moment.put_into(Path(folder))
            status = _status([program, *arguments], folder)
        return None if status == _CANNOT_TELL else status == 0

    return test


def _status(command: Sequence[str], folder: str) -> int:
    """Run the command and return its exit status. Its output goes to stderr (2), as stdout is for our data.

    $CRABMEM_DIR names the folder; variables that would choose another workspace are removed.

    Raises:
        Failure: the command cannot be run.
    """
    elsewhere = ("CRABMEM_WORKSPACE", "CRABMEM_PROJECT")
    own = {name: value for name, value in os.environ.items() if name not in elsewhere} | {"CRABMEM_DIR": folder}
    try:
        return subprocess.run(command, cwd=folder, env=own, stdin=subprocess.DEVNULL, stdout=2).returncode
    except OSError as error:
        raise Failure(f"{command[0]} cannot be run: {(error.strerror or str(error)).lower()}") from None


def _tell_step(step: Step) -> None:
    tell(f"step {step.number} of about {step.about}: {_VERDICTS[step.is_good]} at {short(step.commit)}")


def _words(done: Bisected) -> str:
    looked = f"{done.looked_at} of {done.commits} commits looked at"
    ends = f"good at {short(done.good)}, bad at {short(done.bad)}; {looked}"
    one_of = [] if done.commit else [f"one of these {len(done.suspects)}, as it cannot be told between them:"]
    return "\n".join([*one_of, *map(_suspect, done.suspects), ends])


def _suspect(commit: Commit) -> str:
    lines = [
        commit.subject,
        f"{minute(commit.time)} by {commit.author}" + (f", session {commit.session}" if commit.session else ""),
        listed(commit.paths, _FILES),
        *(["a merge, which brought it: look into that with --until its other parent"] if commit.parents[1:] else []),
    ]
    return f"{coloured(short(commit.commit), 'yellow')}  " + "\n  ".join(map(plain, lines))
