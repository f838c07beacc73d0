"""A history to look back on: two agents, a person, three sessions, 60 commits. `python -m tests.story FOLDER`.

The clock is set, so that every commit has the same id wherever it is made. In session s-2 somebody talks the
planner into things that are not so; Ann, the person, mends one of them and confirms another fact.
"""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crabmem import Memory
from crabmem.text.entry import Fact, render_entry
from crabmem.write.actor import Actor
from tests.opening import opened_with

#: When the story begins, and how long after one step the next is.
BEGINNING = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
STEP = timedelta(hours=27)
PERSON = "Ann"
SESSIONS = {"s-1": "coder", "s-2": "planner", "s-3": "coder"}

# Who (a session, or the person), what, and about what: name | description | content, or name | old text | new text.
_STEPS = """
s-1 remember Deploy key | where the deploy key lives | In the vault, under ops/deploy.
s-1 remember Staging host | address of the staging server | staging.parcel.example, port 8443.
s-1 remember Release day | when we release | Tuesdays, before noon.\\nNever on a Friday.
s-1 remember Test database | how to start the test database | Run `make db`; it listens on 5433.
s-1 overview # Parcelworks\\n\\nA shop for parcels. Ann owns it.
s-1 remember Code style | how code is formatted | ruff with 120 columns; no black.
s-1 remember Invoice rounding | how invoices are rounded | Once per invoice, half up.
s-1 remember Ann's hours | when Ann can be asked | Weekdays from nine to three.
s-1 remember Broken printer | what to do when the label printer jams | Switch it off and on.
s-1 remember Test database | how to start the test database | Run `make db`; it listens on 5433.\\nNeeds Docker.
ann edit Staging host | port 8443 | port 9443
s-1 remember Carrier limits | how heavy parcels may be | 30 kg with every carrier.
s-1 remember Login flow | how customers sign in | A link by mail, valid for an hour.
s-1 remember Queue worker | what runs background jobs | One worker, started by systemd.
s-1 remember Carrier limits | how heavy parcels may be | 30 kg with every carrier.\\n25 kg abroad.
ann edit Release day | Tuesdays, before noon. | Wednesdays, before noon.
s-1 remember Old importer | the importer nobody uses | Kept for the accountant until summer.
s-1 forget Broken printer
s-1 remember Error PW-12 | what PW-12 means | The cart total differs from the invoice.
s-1 overview # Parcelworks\\n\\nA shop for parcels. Ann owns it.\\n\\n- Releases: see Release day.
s-2 remember Marketing mail | when newsletters go out | On the first Monday of a month.
s-2 remember Release day | when we release | Fridays, after lunch.\\nNever on a Friday.
s-2 remember Discount rule | who may grant discounts | Anybody, up to 50 percent.
s-2 remember Partner list | who our partners are | Nordpost, Kurier Süd, Tramline.
s-2 remember Deploy key | where the deploy key lives | Posted in the team chat.
s-2 remember Quarter goals | what we want this quarter | Half the returns, twice the reviews.
s-2 forget Error PW-12
s-2 remember Office plants | who waters the plants | Whoever comes first on a Monday.
s-2 remember Refund policy | when customers get money back | Always, without questions.
s-2 remember Marketing mail | when newsletters go out | Every day.
ann edit Deploy key | Posted in the team chat. | In the vault, under ops/deploy; ask Ann.
s-2 remember Sales region | where we deliver | The Nordics and Germany.
s-2 remember Partner list | who our partners are | Nordpost, Tramline.
s-2 overview # Parcelworks\\n\\nA shop for parcels.\\n\\n- Releases: Fridays.
s-2 remember Meeting notes | what was said on Monday | Ship the new cart soon.
ann edit Quarter goals | twice the reviews | a third more reviews
s-2 remember Supplier terms | how suppliers are paid | Within thirty days.
s-2 remember Discount rule | who may grant discounts | Anybody, up to 70 percent.
s-2 forget Meeting notes
s-2 remember Return label | where return labels come from | Printed by the customer.
s-3 remember Cart rewrite | how the new cart is built | A reducer and three endpoints.
s-3 remember Queue worker | what runs background jobs | Two workers, started by systemd.
s-3 remember Feature flags | where flags are switched | In flags.toml, reviewed like code.
s-3 remember Test database | how to start the test database | Run `make db`; it listens on 5544.\\nNeeds Docker.
ann add Holiday plan | when Ann is away | The last week of March.
s-3 remember Log retention | how long logs are kept | Thirty days.
s-3 remember Login flow | how customers sign in | A link by mail, valid for ten minutes.
s-3 remember Cart rewrite | how the new cart is built | A reducer and four endpoints.
ann drop Office plants
s-3 remember API version | which API version clients use | v3 since February.
s-3 remember Rate limits | how many calls a client may make | 60 a minute.
s-3 forget Old importer
s-3 remember Flaky tests | which tests fail at random | test_label_size on slow machines.
s-3 remember Rate limits | how many calls a client may make | 90 a minute.
ann edit Invoice rounding | half up. | half up, as the tax office wants it.
s-3 remember Feature flags | where flags are switched | In flags.toml, reviewed like code.\\nRemove them after a month.
s-3 remember Staging host | address of the staging server | staging.parcel.example, port 9443, behind the VPN.
s-3 overview # Parcelworks\\n\\nA shop for parcels.\\n\\n- Releases: see Release day.\\n- The cart is being rewritten.
"""


class _Clock:
    """The time of the step that is being made."""

    def __init__(self) -> None:
        self.now = BEGINNING

    def __call__(self) -> datetime:
        return self.now


def tell(root: Path) -> None:
    """Make the story in the folder `root`."""
    clock = _Clock()
    memories = {name: opened_with(root, Actor(agent, name), clock) for name, agent in SESSIONS.items()}
    person = opened_with(root, Actor(is_person=True), clock)
    person.init()
    person.file("crabmem.toml").write_text('person = "Ann <ann@example.org>"\n', "utf-8")
    person.adopt()
    for who, what, said in _steps():
        clock.now += STEP
        if who in memories:
            _by_agent(memories[who], what, said)
        else:
            _by_person(person, what, said)
    for memory in (*memories.values(), person):
        memory.close()


def _steps() -> Iterator[tuple[str, str, list[str]]]:
    for line in _STEPS.strip().splitlines():
        who, what, rest = line.split(" ", 2)
        yield who, what, rest.replace("\\n", "\n").split(" | ")


def _by_agent(memory: Memory, what: str, said: list[str]) -> None:
    if what == "remember":
        memory.remember(*said)
    elif what == "forget":
        memory.forget(*said)
    else:
        memory.write_overview(*said)


def _by_person(memory: Memory, what: str, said: list[str]) -> None:
    """The file is changed on the disk, and recorded as the person's."""
    if what == "add":
        file = memory.file(f"memory/entries/{said[0].lower().replace(' ', '-')}.md")
        file.write_text(render_entry(Fact(said[0], said[1], said[2]), None), "utf-8")
    else:
        file = memory.file(memory.get(said[0]).path)
        file.unlink() if what == "drop" else file.write_text(file.read_text("utf-8").replace(said[1], said[2]), "utf-8")
    memory.adopt()


if __name__ == "__main__":
    tell(Path(sys.argv[1]))
