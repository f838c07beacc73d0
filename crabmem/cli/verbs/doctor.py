"""`crabmem doctor`: what is wrong or odd, and what mends it."""

import os
import sys

import click

from ...disk.allowed import Allowed
from ...errors import CrabmemError
from ...operations import maintenance
from ...operations.doctor.examine import CHECKS
from ...results import Finding, json_of
from ...session.locate import workspace_at
from ...session.session import Session
from ...text.quoting import visible
from ...text.words import counted
from ...workspace.layout import SETTINGS
from ..app import open_session, verb
from ..options import global_options, json_option
from ..output import coloured, exit_failed, few, plain, show, tell

# Characters of the bar that shows how many vectors are made.
_BAR = 30
_COLOURS = {"error": "red", "warning": "yellow", "info": None}


@verb(after="sync")
@click.option("--fix", is_flag=True, help="First mend what can be mended without a choice.")
@click.option("--reindex", is_flag=True, help="Only read every fact again, and make the vectors that are missing.")
@json_option
def doctor(fix: bool, reindex: bool, json_wanted: bool) -> None:
    """Look for what is wrong, and say what fixes it.

    Prints a line for each check that is fine, and for each finding what fixes it.

    Reads the whole history, as `git fsck` does, and changes nothing without --fix. Exit status 1 when there
    is an error.

    With --reindex nothing is checked. Recall does that by itself, a little at a time: do it once after you named a
    model or a service under [vectors] in crabmem.toml, and allowed that with `crabmem config allow`. It fetches a
    model that is not on this machine, which recall never does.

    \b
    crabmem doctor
    crabmem doctor --fix
    """
    if reindex:
        return _reindex(json_wanted)
    from .. import hosting

    checks: tuple[str, ...] = (*CHECKS, "hosts")
    try:
        memory = open_session()
    except CrabmemError:
        if not (findings := _without_profile()):
            raise
        checks = ("hosts",)
    else:
        if fix:
            _mend(memory)
        findings = maintenance.doctor(memory, _progress)
    findings += hosting.findings()
    troubled = {finding.check for finding in findings if finding.level != "info"}
    fine = (f"{coloured('ok', 'green')}: {check}" for check in checks if check not in troubled)
    alike = dict[tuple[str, str], list[str]]()
    for finding in findings:
        said = f"{finding.path}: {finding.message}" if finding.path else finding.message
        alike.setdefault((finding.level, finding.check), []).append(visible(" ".join(said.split("\n"))))
    lines = (
        f"{coloured(level, _COLOURS[level])}: {line}"
        for (level, check), said in alike.items()
        for line in few(said, f"more of {check}: -v")
    )
    show(json_wanted, {"findings": json_of(findings)}, lambda: "\n".join((*fine, *lines)))
    if any(finding.level == "error" for finding in findings):
        exit_failed()


def _without_profile() -> list[Finding]:
    """Return findings about the profile that the settings name, if it cannot be used.

    Without the profile nobody knows which file is what, so nothing else can be checked. Return nothing if the profile
    is fine, or if --profile names it.
    """
    wanted = global_options()
    root = wanted.root.absolute()
    try:
        if wanted.profile is None:
            workspace_at(root, None, Allowed(os.environ))
        return []
    except CrabmemError as failed:
        text, own = failed.text(), f"{root / SETTINGS}: "
        path = SETTINGS if text.startswith(own) else ""
        unknown = "nothing else in the workspace was checked or mended: the profile says which files are what"
        return [
            Finding("error", path, text.removeprefix(own), "settings"),
            Finding("info", "", unknown, "settings"),
        ]


def _reindex(json_wanted: bool) -> None:
    done = maintenance.reindex(open_session(), _show_embedding)
    about = f"; vectors by {done.embedder}, {done.dimension} dimensions: {done.made} made now" if done.embedder else ""
    sections = f" and {counted(done.sections, 'section')} of files" if done.sections else ""
    show(json_wanted, json_of(done), lambda: f"read: {counted(done.entries, 'fact')}{sections}{plain(about)}")


def _show_embedding(done: int, total: int) -> None:
    if sys.stderr.isatty():
        width = round(_BAR * done / total)
        progress_bar = f"\rmaking vectors: [{'#' * width}{'-' * (_BAR - width)}] {done:,} of {total:,}"
        click.echo(progress_bar if done < total else "\r\033[K", nl=False, err=True)


def _mend(memory: Session) -> None:
    """Mend what can be mended without a choice, and tell what was; an error is only told."""
    try:
        for words in maintenance.mend(memory):
            tell(f"mended: {words}")
    except CrabmemError as error:  # the checks that follow report what is wrong
        tell(f"not mended: {error}")


def _progress(count: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\rchecking the history: {count} objects", err=True, nl=False)
