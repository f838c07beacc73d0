"""`crabmem reindex`: reads every fact anew, and makes the vectors."""

import sys

import click

from ...operations import maintenance
from ...results import json_of
from ..app import open_session, verb
from ..options import json_option
from ..output import plain, show

_WIDTH = 30


@verb(after="doctor")
@json_option
@click.pass_context
def reindex(ctx: click.Context, json_wanted: bool) -> None:
    """Read every fact anew, and make the vectors that recall by meaning still lacks.

    Recall does both by itself, a little at a time. Do this once after you named a model or a service under
    [vectors] in crabmem.toml, and allowed that with `crabmem config allow`: it fetches a model that is not on this
    machine, which recall never does.

    \b
    crabmem reindex
    """
    done = maintenance.reindex(open_session(ctx), _embedding)
    about = f"; vectors by {done.embedder}, {done.dimension} dimensions: {done.made} made now" if done.embedder else ""
    sections = f" and {done.sections} sections of files" if done.sections else ""
    show(json_wanted, json_of(done), lambda: f"read: {done.entries} entries{sections}{plain(about)}")


def _embedding(done: int, total: int) -> None:
    if sys.stderr.isatty():
        width = round(_WIDTH * done / total)
        progress_bar = f"\rmaking vectors: [{'#' * width}{'-' * (_WIDTH - width)}] {done:,} of {total:,}"
        click.echo(progress_bar if done < total else "\r\033[K", nl=False, err=True)
