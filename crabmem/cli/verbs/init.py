"""`crabmem init`: makes the workspace."""

import click

from ...operations import setup
from ...results import json_of
from ..app import open_session, profile_option, verb
from ..options import dry_run_option, global_options, json_option
from ..output import show, tell, warn


@verb(after="try")
@profile_option
@dry_run_option
@json_option
@click.pass_context
def init(ctx: click.Context, dry_run: bool, json_wanted: bool) -> None:
    """Make the workspace, also inside a repository of yours. Twice is harmless.

    With --profile, also for one that is there: crabmem.toml names the profile, and the files that it begins with are
    made where there are none, in one commit. What is there stays as it is, and what you once deleted stays away.

    Other verbs make the workspace too when they first write, but never inside a repository of something else.

    \b
    crabmem init --profile camel                 see `crabmem profile list`
    """
    memory = open_session(ctx, tells_place=False)
    begin = setup.use_profile if global_options(ctx).profile else setup.init
    done = begin(memory, claim=True, dry_run=dry_run)
    verb = "would make" if dry_run else "made"
    words = f"{verb if done.made else 'already there:'} {memory.root}"
    show(json_wanted, json_of(done), lambda: words)
    if done.paths and not json_wanted:
        tell(f"{'would write' if dry_run else 'wrote'} {', '.join(done.paths)}")
    name = memory.engine.profile_name
    warn(
        f"{old} is no longer read before a conversation: with the profile {name} that is {new}; move there what it says"
        for old, new in (done.unread or {}).items()
    )
