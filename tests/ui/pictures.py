"""The pictures of the page in the documents: `python -m tests.ui.pictures`.

They show the sample workspace `coding-agent`, in which two agents have proposed what a person is to decide on.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from crabmem.session.session import Session
from crabmem.text.entry import Fact
from crabmem.write.actor import Actor
from tests.opening import opened_with
from tests.ui import NO_BROWSER
from tests.ui.conftest import started, window
from tests.web.browsing import Site, site_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parent.parent.parent
PICTURES = ROOT / "docs" / "pictures"
NOW = datetime(2026, 11, 23, 9, 30, tzinfo=UTC)
#: Bytes of a picture, at most.
LARGEST = 150_000
_SETTINGS = 'person = "Marit"\n\n[review]\nwait = ["entries"]\n'
# Which agent in which session, hours before now, and the fact.
_PROPOSED = [
    ("coder", "s-41", 75, Fact("Checkout timeout", "how long the checkout waits for KestrelPay",
     "Ten seconds, then one retry with the same idempotency key.")),
    ("coder", "s-41", 74, Fact("Staging server", "address, data and oddities of the staging shop",
     "`https://staging.pinewood.example`, behind the VPN since 20 November. Data is last Sunday's production copy with "
     "names and addresses scrambled.\nMails end in a mailbox called `catchall`. Fonts look wrong there because the "
     "licence covers production only; this is not a bug.")),
    ("planner", "s-44", 26, Fact("Nkechi's working hours", "when Nkechi is reachable",
     "Works Monday to Friday, 07:00 to 15:00, from Lagos. Never ping her on a Friday.\nPrefers a screen recording to a "
     "paragraph. Accessibility bugs may always interrupt her, colours may not.")),
    ("planner", "s-44", 25, Fact("Christmas freeze", "when nothing is deployed at the end of the year",
     "From 18 December to 4 January nothing goes to production; Oleg may break that for an outage.")),
    ("coder", "s-47", 2, Fact("Flaky test: stock sync at midnight", "why the stock sync test fails around midnight",
     "Fixed on 22 November by a clock that is handed in.")),
]  # fmt: skip


@contextmanager
def sample() -> Iterator[Session]:
    """The sample workspace as its person has it, at the home of nobody."""
    with tempfile.TemporaryDirectory() as home:
        root, now = Path(home) / ".crabmem", [NOW - timedelta(days=30)]
        shutil.copytree(ROOT / "fixtures" / "coding-agent", root)
        (root / "crabmem.toml").write_text(_SETTINGS, "utf-8")
        person = opened_with(root, Actor(is_person=True), lambda: now[0], environment={"HOME": home})
        person.adopt()
        for agent, session, hours, fact in _PROPOSED:
            now[0] = NOW - timedelta(hours=hours)
            memory = opened_with(root, Actor(agent, session), lambda: now[0])
            memory.remember(fact.name, fact.description, fact.content)
            memory.close()
        now[0] = NOW
        yield person
        person.close()


def shown(chromium: "Browser", site: Site, scheme: str, file: Path) -> None:
    """A picture of what the second text that waits would change."""
    with window(chromium, site, color_scheme=scheme, viewport={"width": 1000, "height": 640}) as context:
        tab = context.new_page()
        tab.goto(site.at("/"))
        tab.click(".item >> nth=1 >> a")
        tab.wait_for_selector("h2:has-text('What it would change')")
        tab.wait_for_selector("body:not(.soon)")
        tab.screenshot(path=file)
        assert file.stat().st_size < LARGEST


def main() -> int:
    """Make the pictures of the documents; 1 where there is no browser."""
    with started() as chromium, sample() as person, site_of(person) as site:
        if chromium is None:
            print(NO_BROWSER, file=sys.stderr)
            return 1
        for scheme in ("light", "dark"):
            shown(chromium, site, scheme, PICTURES / f"review-{scheme}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
