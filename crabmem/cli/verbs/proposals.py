"""The verb with which a person decides on what agents propose."""

import click

from ...operations import proposals as proposals_operations
from ...results import Proposal, byline, json_of
from ...text.hashes import short
from ...text.words import shortened
from ..app import open_session, verb
from ..completing import complete_from
from ..options import json_option, yes_option
from ..output import coloured_diff, confirm, plain, show, tell
from ..whole_file import show_changed

_complete = complete_from(lambda memory: [short(proposal.id) for proposal in proposals_operations.proposals(memory)])
_REASON = 80
_NONE = 'nothing waits; with soul = "propose" in crabmem.toml, agents propose what they would have the identity say'
_CLASHES = "the same lines were changed since: to have it, edit the file, and reject the proposal"


@verb(after="soul", cls=click.Group, invoke_without_command=True)
@json_option
@click.pass_context
def proposals(ctx: click.Context, json_wanted: bool) -> None:
    """List what agents propose the identity should say, show one, apply or reject it.

    With soul = "propose" in crabmem.toml, an agent that writes the identity (Crab.md) changes nothing: it waits here,
    in the history beside the branch, until you decide. No tool can do that, nor anybody with --agent or
    CRABMEM_AGENT.

    \b
    crabmem proposals                  the oldest first
    crabmem proposals show 3f2a91c7    what it would change now, and why
    crabmem proposals apply 3f2a91c7   as a commit of yours, with what was changed since
    crabmem proposals reject 3f2a91c7
    """
    if ctx.invoked_subcommand is None:
        found = proposals_operations.proposals(open_session(ctx))
        show(json_wanted, [json_of(each) for each in found], lambda: "\n".join(map(_line, found)))
        if not found and not json_wanted:
            tell(_NONE)


@proposals.command("show")
@click.argument("id", shell_complete=_complete)
@json_option
@click.pass_context
def show_(ctx: click.Context, id: str, json_wanted: bool) -> None:
    """Show who proposes what and why, as a diff against the identity of now.

    \b
    crabmem proposals show 3f2a91c7
    """
    found = proposals_operations.proposal(open_session(ctx), id)
    show(json_wanted, json_of(found), lambda: f"{_heading(found)}\n\n{coloured_diff(found.diff)}")


@proposals.command("apply")
@click.argument("id", shell_complete=_complete)
@json_option
@click.pass_context
def apply_(ctx: click.Context, id: str, json_wanted: bool) -> None:
    """Write the identity as it was proposed, as yours; what you changed in it since stays.

    \b
    crabmem proposals apply 3f2a91c7
    """
    show_changed(json_wanted, proposals_operations.apply_proposal(open_session(ctx), id))


@proposals.command("reject")
@click.argument("id", shell_complete=_complete)
@yes_option
@json_option
@click.pass_context
def reject(ctx: click.Context, id: str, yes: bool, json_wanted: bool) -> None:
    """Let a proposal go. Git removes its text by and by; `crabmem purge` erases a text at once.

    \b
    crabmem proposals reject 3f2a91c7
    """
    memory = open_session(ctx)
    if not yes:
        confirm(f"{_line(proposals_operations.proposal(memory, id))}\nReject this?", "rejected")
    done = proposals_operations.reject_proposal(memory, id)
    show(json_wanted, json_of(done), lambda: f"rejected: {plain(_line(done))}")


def _line(proposal: Proposal) -> str:
    why = f"  {shortened(proposal.reason, _REASON)}" if proposal.reason else ""
    return plain(f"{_byline(proposal)}  {proposal.path}{why}")


def _heading(proposal: Proposal) -> str:
    reason = f"\n\n{proposal.reason}" if proposal.reason else ""
    told = f"\n\n{_CLASHES}" if proposal.clashes else "" if proposal.diff else "\n\nthe file says that already"
    return plain(f"{_byline(proposal)}{reason}{told}")


def _byline(proposal: Proposal) -> str:
    return f"{short(proposal.id)}  {proposal.time:%Y-%m-%d %H:%M}  {byline(proposal.author, proposal.session)}"
