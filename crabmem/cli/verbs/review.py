"""`crabmem review`: opens what waits in an editor, as the memory that the person wants, and does what they decided."""

from collections import Counter

import click

from ...operations import proposals
from ...operations import review as operation
from ...operations.review import Block, Decision, Outcome
from ...session.session import Session
from ...text.hashes import short
from ...text.words import enumerated
from ..app import open_session, verb
from ..editor import edited_copy
from ..options import json_option, yes_option
from ..output import can_ask, confirm, show, tell
from ..selecting import Selection, proposals_wait, selected, show_outcomes
from ._proposals import VERBS
from ._resolve import resolve

_DOES = {"apply": "apply", "reject": "reject", "later": "keep waiting"}


@verb(after="note", cls=click.Group, invoke_without_command=True)
@selected
@yes_option
@json_option
@click.pass_context
def review(ctx: click.Context, meant: Selection, yes: bool, json_wanted: bool) -> None:
    """Decide on what agents wrote and what waits for you.

    Your editor ($VISUAL, $EDITOR) opens with memory as it would be. What you leave is applied, what you delete is
    rejected, what you reword is applied as you say it, and a line "# later" keeps it waiting. You are asked before
    anything happens; an empty file, or one without a change, decides nothing. The verbs below do it one by one.

    What waits is set by [review] in crabmem.toml, and for the identity by soul = "propose", too. It lies in the history
    beside the branch, and is neither recalled nor in a prompt, until you decide. No tool can do that, nor anybody with
    --agent or CRABMEM_AGENT.

    \b
    crabmem review
    crabmem review --by coder --tag person
    crabmem review list                the oldest first
    crabmem review show 3f2a91c7       what it would change now, and why
    crabmem review apply 3f2a91c7      as a commit of yours, with what was changed since
    crabmem review reject --by coder
    """
    if ctx.invoked_subcommand is not None:
        return None
    memory = open_session()
    waiting = meant.found(memory)
    shown = operation.blocks(memory, waiting, memory.engine.clock())
    if not shown:
        return show(json_wanted, {"proposals": []}, str) if json_wanted else tell(meant.words_of_none(memory))
    if not (yes or can_ask()):
        confirm("", "decided")
    outcomes = _decide_in_editor(memory, shown, yes)
    show_outcomes(json_wanted, outcomes, waiting)
    if not outcomes and not json_wanted:
        tell("nothing was decided")
    left = len(proposals.proposals(memory)) if outcomes else 0
    if left and not json_wanted:
        tell(f"{proposals_wait(left)} still")


for each in (*VERBS, resolve):
    review.add_command(each)


def _decide_in_editor(memory: Session, shown: list[Block], is_sure: bool) -> list[Outcome]:
    """Open the proposals in an editor, carry out what the person decided there, and return the outcomes.

    Ask before anything is done, unless `is_sure`. Keep the file if a decision was not understood or failed.
    """
    text = operation.rendered(shown)
    with edited_copy("review.md", text) as copy:
        decided = operation.decisions(copy.text, shown)
        if decided and not is_sure:
            confirm(f"{_summary(decided, shown)}\nDo this?", "decided")
        outcomes = operation.carry_out_decisions(memory, decided)
        copy.is_needed = any(each.error or each.decision.why for each in outcomes)
        return outcomes


def _summary(decided: list[Decision], shown: list[Block]) -> str:
    """Return what is about to happen: counts, then a line for each decision. Plain approvals come last."""
    counts = Counter[str](each.what for each in decided)
    reworded = sum(bool(each.wording) for each in decided)
    asides = {"apply": f" ({reworded} reworded)" if reworded else ""}
    words = [f"{does} {counts[what]}{asides.get(what, '')}" for what, does in _DOES.items() if counts[what]]
    about = {block.id: block.notes[0] for block in shown}
    told = {each.id: each.why or "reworded" * bool(each.wording) for each in decided}
    ends = {id: f"  ({words})" if words else "" for id, words in told.items()}
    lines = [
        f"  {_DOES[each.what]:12}  {short(each.id)}  {about[each.id]}{ends[each.id]}"
        for each in sorted(decided, key=lambda each: (each.what == "apply", not told[each.id]))
    ]
    return "\n".join([f"{enumerated(words)}:", *lines])
