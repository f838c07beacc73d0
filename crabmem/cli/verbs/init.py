"""`crabmem init`: makes the workspace."""

import os
import shlex

import click

from ...disk.project import project_of
from ...operations import setup
from ...results import json_of
from ..app import open_session, profile_option, verb
from ..options import dry_run_option, global_options, json_option, yes_option
from ..output import Failure, can_ask, show, tell, tell_always, warn


@verb(after="config")
@profile_option
@yes_option
@dry_run_option
@json_option
def init(yes: bool, dry_run: bool, json_wanted: bool) -> None:
    """Begin a memory in the folder. Twice is harmless.

    Inside a project's repository it asks first, for memory then becomes part of the branch that is checked out:
    Crab.md, crabmem.toml and what lies below memory/. All else there is the project's and is never committed by
    crabmem, whether it is changed, staged or new. Mostly better is a memory beside the project: --project DIR.

    With --profile, also for one that is there: crabmem.toml names the profile, and the files that it begins with are
    made where there are none, in one commit. What is there stays as it is, and what you once deleted stays away.

    Other verbs make the workspace too when they first write, but never inside a project's repository, or in a folder
    below it.

    \b
    crabmem init --profile camel                 see `crabmem profile`
    """
    memory = open_session(tells_place=False)
    begin = setup.use_profile if global_options().profile else setup.init
    branch = setup.branch_of_project(memory)
    if branch and not (yes or dry_run):
        _ask(memory.root, branch, begin(memory, claim=True, dry_run=True).paths)
    done = begin(memory, claim=True, dry_run=dry_run)
    verb = "would make" if dry_run else "made"
    words = f"{verb if done.made or branch else 'already there:'} {memory.root}"
    words += f", on {branch} of the project" if branch else ""
    show(json_wanted, json_of(done), lambda: words)
    if done.paths and not json_wanted:
        tell(f"{'would write' if dry_run else 'wrote'} {', '.join(done.paths)}")
    wanted = global_options()
    if not (wanted.folder or wanted.project or branch or json_wanted) and project_of(os.curdir):
        tell("for a memory of the project here: `crabmem --project .`, or in its own history `crabmem --dir . init`")
    name = memory.engine.profile_name
    warn(
        f"{old} is no longer read before a conversation: with the profile {name} that is {new}; move there what it says"
        for old, new in (done.unread or {}).items()
    )


def _ask(root: os.PathLike[str], branch: str, paths: tuple[str, ...]) -> None:
    """Ask whether a project's branch is to have memory.

    Raises:
        Failure: nobody is there to ask.
    """
    place = "." if os.path.samefile(root, os.curdir) else shlex.quote(os.fspath(root))
    beside = f"For a memory beside it: `crabmem --project {place}`."
    files = ", ".join(paths)
    if not can_ask():
        raise Failure(
            f"nothing was made: {root} is a project's repository. {beside} To commit {files} to {branch}: --yes"
        )
    tell_always(f"{root} is a project's repository. {beside}")
    tell_always(
        f"Else {files} are committed to {branch} now, and each fact later, below memory/. All else stays as it is."
    )
    click.confirm("Put memory into the project's history?", abort=True, err=True)
