"""`crabmem doctor`: what is wrong or odd, and what mends it."""

import sys

import click

from ...errors import CrabmemError
from ...operations import maintenance
from ...operations.doctor.examine import CHECKS
from ...results import json_of
from ...session.session import Session
from ..app import open_session, verb
from ..options import json_option
from ..output import plain, show, tell

_COLOURS = {"error": "red", "warning": "yellow", "info": None}


@verb(after="stats")
@click.option("--fix", is_flag=True, help="First mend what can be mended without a choice.")
@json_option
@click.pass_context
def doctor(ctx: click.Context, fix: bool, json_wanted: bool) -> None:
    """Look for what is wrong or odd: a line for each check that is fine, and for each finding what mends it.

    Reads the whole history, as `git fsck` does, and changes nothing without --fix. Exit status 1 when there
    is an error.
    """
    from .. import hosting

    memory = open_session(ctx)
    if fix:
        _mend(memory)
    findings = [*maintenance.doctor(memory, _progress), *hosting.findings()]
    troubled = {finding.check for finding in findings if finding.level != "info"}
    fine = (f"{click.style('ok', fg='green')}: {check}" for check in (*CHECKS, "hosts") if check not in troubled)
    lines = (
        f"{click.style(finding.level, fg=_COLOURS[finding.level])}: "
        + plain(f"{finding.path}: {finding.message}" if finding.path else finding.message)
        for finding in findings
    )
    show(json_wanted, json_of(findings), lambda: "\n".join((*fine, *lines)))
    if any(finding.level == "error" for finding in findings):
        ctx.exit(1)


def _mend(memory: Session) -> None:
    try:
        for words in maintenance.mend(memory):
            tell(f"mended: {words}")
    except CrabmemError as error:  # what is wrong is told with the rest
        tell(f"not mended: {error}")


def _progress(count: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\rchecking the history: {count} objects", err=True, nl=False)
