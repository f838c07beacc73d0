"""The verbs below `review` with which a person looks at what waits, and decides one by one."""

from datetime import datetime

import click

from ...operations import proposals as operation
from ...operations.proposals import Wording
from ...operations.review import Decision, age, carry_out_decisions
from ...results import Proposal, byline, json_of
from ...session.session import Session
from ...text.edit import lenient_text
from ...text.hashes import short
from ...text.quoting import spelled
from ...text.words import counted, listed, shortened
from ..app import open_session
from ..editor import edit_copy_of
from ..options import json_option, yes_option
from ..output import coloured_diff, confirm, minute, plain, show, tell
from ..selecting import Selection, complete_ids, selected, selected_by_id, show_outcomes
from ..whole_file import show_changed

_REASON, _WHO = 80, 40
_PATHS = 2
_CLASHES = "the same lines were changed since: to have it, edit the file, and reject the proposal"
_OPENS = "the same lines were changed since: this opens what was proposed, and what you save replaces what is there"
_DONE = {"apply": "applied", "reject": "rejected"}


@click.command("list")
@selected
@json_option
def list_(meant: Selection, json_wanted: bool) -> None:
    """List what waits for you, the oldest first.

    \b
    crabmem review list --by coder
    """
    memory = open_session()
    found, now = meant.found(memory), memory.engine.clock()
    data = {"proposals": json_of(found)}
    show(json_wanted, data, lambda: "\n".join(_line(each, now) for each in found))
    if words := memory.engine.history.aside.unread():
        tell(words)
    if not found and not json_wanted:
        tell(meant.words_of_none(memory))


@click.command("show")
@click.argument("id", shell_complete=complete_ids)
@json_option
def show_(id: str, json_wanted: bool) -> None:
    """Show who proposes what and why, as a diff against what is there now.

    \b
    crabmem review show 3f2a91c7
    """
    memory = open_session()
    found = operation.proposal(memory, id)
    text = f"{_heading(found, memory.engine.clock())}\n\n"
    show(json_wanted, json_of(found), lambda: f"{text}{coloured_diff(spelled(found.diff))}")


@click.command("apply")
@selected_by_id
@yes_option
@json_option
def apply_(meant: Selection, yes: bool, json_wanted: bool) -> None:
    """Write what was proposed, as yours; what was changed since stays. Several are shown and asked for first.

    \b
    crabmem review apply 3f2a91c7
    crabmem review apply --by coder --tag recipe
    """
    memory = open_session()
    operation.check_may_decide(memory)
    if meant.is_by_id and len(meant.ids) == 1:
        return show_changed(json_wanted, operation.apply_proposal(memory, meant.ids[0]))
    found = _choose(memory, meant, yes, "apply")
    if not found and not json_wanted:
        return tell(meant.words_of_none(memory))
    done = carry_out_decisions(memory, (Decision(each.id, "apply") for each in found))
    show_outcomes(json_wanted, done, found)


@click.command("edit")
@click.argument("id", shell_complete=complete_ids)
def edit(id: str) -> None:
    """Open one in your editor ($VISUAL, $EDITOR), and apply it as you have it then. Unchanged, it still waits.

    \b
    crabmem review edit 3f2a91c7
    """
    memory = open_session()
    operation.check_may_decide(memory)
    found = operation.proposal(memory, id)
    before = operation.verdicts(memory, found)
    shown = next(each for each in before if each.path == found.path)
    if shown.clashes:
        tell(_OPENS)
    done = edit_copy_of(
        found.path,
        lenient_text(shown.after) or "",
        lambda text: operation.apply_proposal(memory, found.id, {found.path: Wording(text, shown.now)}),
    )
    if done is None:
        return tell("nothing changed; it still waits")
    show_changed(False, done)


@click.command("reject")
@selected_by_id
@yes_option
@json_option
def reject(meant: Selection, yes: bool, json_wanted: bool) -> None:
    """Let proposals go. `crabmem review restore` has one wait again, until Git removes its text;
    `crabmem purge` erases it at once.

    \b
    crabmem review reject 3f2a91c7
    crabmem review reject --in s-42 --yes
    """
    memory = open_session()
    operation.check_may_decide(memory)
    found = _choose(memory, meant, yes, "reject")
    if not found and not json_wanted:
        return tell(meant.words_of_none(memory))
    done, now = [operation.reject_proposal(memory, each.id) for each in found], memory.engine.clock()
    show(json_wanted, {"proposals": json_of(done)}, lambda: "\n".join(f"rejected: {_line(each, now)}" for each in done))
    if done and not json_wanted:
        what = "it" if len(done) == 1 else "them"
        tell(f"`crabmem review restore {' '.join(short(each.id) for each in done)}` has {what} wait again")


@click.command("restore")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
def restore(ids: tuple[str, ...], json_wanted: bool) -> None:
    """Have proposals wait again that you rejected, while Git still has them: `reject` and `review` tell their ids.

    \b
    crabmem review restore 3f2a91c7
    """
    memory = open_session()
    done, now = [operation.restore_proposal(memory, id) for id in ids], memory.engine.clock()
    show(
        json_wanted,
        {"proposals": json_of(done)},
        lambda: "\n".join(f"waits again: {_line(each, now)}" for each in done),
    )


VERBS = (list_, show_, apply_, edit, reject, restore)


def _choose(memory: Session, meant: Selection, is_sure: bool, verb: str) -> list[Proposal]:
    """Return the proposals that are named, after the person has seen them and said yes; with `is_sure` unasked."""
    found, now = meant.chosen(memory), memory.engine.clock()
    if found and not is_sure:
        lines = "\n".join(_line(each, now) for each in found)
        confirm(f"{lines}\n{verb.capitalize()} {'this' if len(found) == 1 else 'these'}?", _DONE[verb])
    return found


def _line(proposal: Proposal, now: datetime) -> str:
    """Return a proposal on one line. What it changes is left out if that is only the name of its file."""
    days = (now - proposal.time).days
    old = f" ({counted(days, 'day')})" if days > 0 else ""
    paths = listed([file.path for file in proposal.files], _PATHS)
    why = f"  {shortened(proposal.reason, _REASON)}" if proposal.reason else ""
    who = shortened(byline(proposal.author, proposal.session), _WHO)
    what = f"{shortened(proposal.change, _WHO)}  " * (proposal.change != paths.rpartition("/")[2])
    return plain(spelled(f"{short(proposal.id)}  {minute(proposal.time)}{old}  {who}  {what}{paths}{why}"))


def _heading(proposal: Proposal, now: datetime) -> str:
    who = f"{byline(proposal.author, proposal.session)}, {age(proposal.time, now)}"
    reason = f"\n\n{proposal.reason}" if proposal.reason else ""
    told = f"\n\n{_CLASHES}" if proposal.clashes else "" if proposal.diff else "\n\nthe file says that already"
    return plain(spelled(f"{short(proposal.id)}  {minute(proposal.time)}  {who}  {proposal.change}{reason}{told}"))
