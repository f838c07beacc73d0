"""The page as a person has it: with keys and without scripts, in two tabs."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from crabmem import Memory
from crabmem.operations import facts, files, proposals
from crabmem.session.opening import session_at
from crabmem.session.session import Session
from crabmem.write.actor import Actor
from tests.ui.conftest import window
from tests.web.browsing import Site, site_of
from tests.web.test_pages import HOSTILE, MARKDOWN

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.ui
KEY = "memory/entries/deploy-key.md"
PAGES = [
    "/", "/facts", "/new", f"/fact?path={KEY}", f"/fact?path={KEY}&view=lines", f"/fact?path={KEY}&view=history&step=0",
    f"/fact?path={KEY}&view=links", f"/fact?path={KEY}&view=edit", "/timeline", "/commit?id=HEAD~3", "/forgotten",
    "/revert?session=s-2", "/revert?session=s-2&take=ours", "/recall?q=deploy+key&message=deploy+key&blame=1",
    "/prompt", "/figures", "/sync", "/workspaces", "/nowhere", "/facts?q=nothing-such",
    "/timeline?words=key&author=coder&since=2026-01-01", "/timeline?since=whenever",
]  # fmt: skip


def test_the_file_that_the_terminal_makes_leads_in(chromium: "Browser", story: Path, tmp_path: Path) -> None:
    """Once; and it is gone when the page ends."""
    state = tmp_path / "state"
    told = [sys.executable, "-m", "crabmem", "--dir", str(story), "ui", "--no-open"]
    surroundings = {**os.environ, "XDG_STATE_HOME": str(state)}
    with subprocess.Popen(told, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=surroundings) as process:
        assert process.stdout and process.stderr
        address = process.stdout.readline().decode().strip()
        file = Path(address.removeprefix("file://"))
        assert file.parent == state / "crabmem" and file.stat().st_mode & 0o777 == 0o600
        assert b"/enter/" not in process.stderr.readline()  # what is no terminal may be a log
        context = chromium.new_context()
        tab = context.new_page()
        tab.goto(address)
        tab.wait_for_selector("h1:has-text('Inbox')")
        assert "/enter/" not in tab.url
        other = chromium.new_context().new_page()
        other.goto(address)
        other.wait_for_selector("text=is good once")
        other.context.close()
        context.close()
        process.terminate()
        assert process.wait(20) == 0 and not file.exists()


def test_no_hostile_text_runs_or_loads_anything(chromium: "Browser", tmp_path: Path) -> None:
    with Memory(tmp_path / "notes", agent="coder", session="s-1") as memory:
        for number, text in enumerate([*HOSTILE, *MARKDOWN]):
            line = " ".join(text.replace("\x01", "").split())
            memory.remember(f"{number} {line}", line, text, tags=[line])
        memory.write_overview("\n\n".join([*HOSTILE, *MARKDOWN]))
    with session_at(tmp_path / "notes", Actor(is_person=True)) as session, site_of(session) as site:
        paths = [entry.path for entry in facts.entries(session)]
        with window(chromium, site) as context:
            tab = context.new_page()
            whole = ["/", "/facts", "/timeline", "/prompt", "/figures", "/recall?q=script+alert+evil"]
            for address in [*whole, "/fact?path=memory/MEMORY.md", *(f"/fact?path={quote(path)}" for path in paths)]:
                tab.goto(site.at(address))
                for summary in tab.query_selector_all("summary"):
                    summary.click()
            assert tab.title()


def test_two_tabs_do_not_overwrite_each_other(chromium: "Browser", site: Site, person: Session) -> None:
    with window(chromium, site) as context:
        one, other = context.new_page(), context.new_page()
        for tab in (one, other):
            tab.goto(site.at(f"/fact?path={KEY}&view=edit"))
        one.fill("#text", "---\nname: Deploy key\ndescription: where\n---\n\nThe first tab.\n")
        one.click("text=Save as yours")
        one.wait_for_selector("#outcome >> text=edit: Deploy key")
        other.fill("#text", "---\nname: Deploy key\ndescription: where\n---\n\nThe second tab.\n")
        other.click("text=Save as yours")
        other.wait_for_selector("[role=alert] >> text=changed since")
        assert "The second tab." in other.input_value("#text") and "The first tab." in str(person.read(KEY))
        other.wait_for_selector(".problem:focus")
        other.click("text=Save as yours")  # having seen it
        other.wait_for_selector("#outcome >> text=edit: Deploy key")
        assert "The second tab." in str(person.read(KEY))
        other.click("button:has-text('Undo')")
        other.wait_for_selector("#outcome >> text=revert")
        assert "The first tab." in str(person.read(KEY))


@pytest.fixture
def waiting(story: Path, person: Session) -> None:
    """Three texts that wait."""
    (story / "crabmem.toml").write_text('person = "Ann"\nsoul = "propose"\n')
    with Memory(story, agent="coder", session="s-9") as memory:
        text = files.identity(memory).text
        for number in range(3):
            proposals.write_identity(memory, f"{text}\nRule {number}.\n", reason=f"Reason {number}.")


def test_the_inbox_is_gone_through_by_keyboard_alone(tab: Any, person: Session, waiting: None) -> None:
    tab.reload()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "main"
    for key in ("j", "x", "j", "k", "j", "j", "j"):
        tab.keyboard.press(key)
    assert tab.evaluate("document.querySelectorAll('input[name=which]:checked').length") == 1
    tab.keyboard.press("Enter")
    tab.wait_for_selector("h2:has-text('What it would change')")
    while tab.evaluate("document.activeElement.value") != "reject":
        tab.keyboard.press("Tab")
    outline = tab.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert outline == "3px"
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#outcome >> text=rejected")
    tab.wait_for_selector("#outcome:focus")
    assert len(proposals.proposals(person)) == 2
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.dataset.key") == "u"
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#outcome >> text=waits again")
    assert len(proposals.proposals(person)) == 3


def test_one_tick_is_for_all_of_a_session(tab: Any, waiting: None) -> None:
    tab.reload()
    tab.check("input[data-all]")
    assert tab.evaluate("document.querySelectorAll('input[name=which]:checked').length") == 3
    tab.uncheck("input[name=which] >> nth=1")
    assert not tab.is_checked("input[data-all]")


def test_twenty_texts_are_decided_on_by_keyboard_within_a_minute(tab: Any, story: Path, person: Session) -> None:
    """By who reads each for a second and a half, where a page takes one beside other work: Enter opens the first, and
    one key decides on each."""
    (story / "crabmem.toml").write_text('person = "Ann"\n[review]\nwait = ["entries"]\n')
    with Memory(story, agent="coder", session="s-9") as memory:
        for number in range(20):
            memory.remember(f"Walk {number}", "what is decided on", f"Text {number}.")
    tab.reload()
    begin, pressed = time.monotonic(), 0

    def press(key: str) -> None:
        nonlocal pressed
        pressed += 1
        tab.keyboard.press(key)

    with tab.expect_navigation():
        press("Enter")
    applied, seen = set[str](), list[str]()
    for number in range(20):
        seen.append(tab.inner_text("h1").removeprefix("remember: "))
        if is_applied := number % 4 < 3:
            applied.add(seen[-1])
        tab.wait_for_timeout(500)  # a key before that does nothing
        with tab.expect_navigation():
            press("a" if is_applied else "r")
    tab.wait_for_selector("text=Nothing waits for you")
    reading = 20 * 1.5 - 20 * 0.5
    assert pressed == 21 and time.monotonic() - begin + reading < 60
    assert len({*seen}) == 20
    assert {each.name for each in facts.entries(person) if each.name.startswith("Walk")} == applied
    tab.wait_for_timeout(500)
    tab.keyboard.press("u")
    tab.wait_for_selector(f"h1:has-text('{seen[-1]}')")  # which waits again


def test_a_key_that_is_held_decides_on_one_text_alone(tab: Any, person: Session, waiting: None) -> None:
    tab.reload()
    for key in ("j", "Enter"):
        tab.keyboard.press(key)
    tab.wait_for_selector("h2:has-text('What it would change')")
    for _ in range(12):
        tab.keyboard.down("r")  # again and again without `up`, as a keyboard repeats
        tab.wait_for_timeout(60)
    tab.keyboard.up("r")
    held = len(proposals.proposals(person))
    assert held in (2, 3)  # the first comes while keys rest, or after that on a machine that is slow
    tab.wait_for_timeout(500)
    with tab.expect_navigation():
        tab.keyboard.press("r")
    assert len(proposals.proposals(person)) == held - 1


def test_keys_of_one_letter_can_be_switched_off_and_are_no_keys_in_a_field(tab: Any, site: Site) -> None:
    tab.goto(site.at("/facts"))
    tab.keyboard.press("/")
    tab.keyboard.type("jk")
    assert tab.input_value("#q") == "jk" and not tab.query_selector(".here")
    tab.uncheck("#keys")
    tab.goto(site.at("/facts"))
    tab.keyboard.press("j")
    assert not tab.is_checked("#keys") and not tab.query_selector(".here")
    tab.check("#keys")
    tab.keyboard.press("j")
    assert tab.query_selector(".here")


def test_facts_narrow_as_one_types(tab: Any, site: Site, person: Session) -> None:
    """With the page, and the field, as they were; the list can be gone through, and the address leads there again."""
    facts.remember(person, "Birthday", "what to bake", "A chocolate cake.")
    tab.goto(site.at("/facts"))
    tab.evaluate("window.same = true")
    tab.click("#q")
    tab.keyboard.type("choco", delay=60)
    tab.keyboard.type("late", delay=200)
    tab.wait_for_url("**/facts?q=chocolate")
    assert tab.evaluate("document.querySelectorAll('[data-item]').length") == 1
    assert tab.evaluate("window.same && document.activeElement.value") == "chocolate"
    assert tab.inner_text("#count").startswith("1 fact of") and tab.get_attribute("#found", "aria-busy") == "false"
    tab.fill("#q", "nothing-such")
    tab.wait_for_selector("text=No fact has that")
    tab.wait_for_selector(".rests:has-text('move')")
    tab.fill("#q", "")
    tab.wait_for_selector("[data-item]:nth-child(10)")
    tab.focus("main")
    tab.keyboard.press("j")
    assert tab.query_selector(".here")
    tab.route("**/facts?*", lambda route: route.fulfill(status=404))
    with tab.expect_console_message():  # that it failed
        tab.fill("#q", "deploy")
    tab.wait_for_selector("#count:has-text('no answer')")
    tab.unroute("**/facts?*")
    tab.press("#q", "Enter")
    tab.wait_for_selector(".item >> text=Deploy key")


def test_keys_that_do_nothing_on_a_page_are_shown_to_rest(tab: Any, site: Site, waiting: None) -> None:
    def working() -> str:
        tab.wait_for_load_state()
        return " ".join(each.get_attribute("data-keys") for each in tab.query_selector_all(".keys li:not(.rests)"))

    tab.add_init_script("addEventListener('DOMContentLoaded', () => { window.atFirst = document.body.className; })")
    tab.reload()
    assert tab.evaluate("atFirst") == "soon" and working() == "j k Enter x a r /"
    tab.wait_for_selector("body:not(.soon)")
    tab.click(".item a")
    tab.wait_for_selector("h2:has-text('What it would change')")
    assert working() == "a r e n /"
    tab.goto(site.at(f"/fact?path={KEY}"))
    assert working() == "/" and "not on this page" in tab.inner_text("[data-keys=u]")


def test_the_menu_of_a_phone_is_one_row(chromium: "Browser", site: Site) -> None:
    with window(chromium, site, viewport={"width": 360, "height": 740}) as context:
        tab = context.new_page()
        for path in ("/", "/workspaces"):
            tab.goto(site.at(path))
            box = "e => e.getBoundingClientRect()"
            rows = {tab.evaluate(box, each)["top"] for each in tab.query_selector_all("nav[aria-label=Parts] li")}
            assert len(rows) == 1 and tab.eval_on_selector("h1", box)["top"] < 120
            here = tab.eval_on_selector(".side [aria-current]", box)
            assert here["left"] >= 0 and here["right"] <= 360


def test_the_slider_shows_a_fact_as_it_was(tab: Any, site: Site) -> None:
    tab.goto(site.at("/fact?path=memory/entries/release-day.md&view=history"))
    tab.focus("#step")
    tab.keyboard.press("Home")
    tab.wait_for_selector(".then >> text=Tuesdays")
    tab.wait_for_selector("#step:focus")
    tab.keyboard.press("ArrowRight")
    tab.wait_for_selector(".then >> text=Wednesdays")


def test_all_of_it_works_without_scripts(chromium: "Browser", site: Site, person: Session) -> None:
    before = person.read(KEY)
    with window(chromium, site, java_script_enabled=False) as context:
        context.clear_cookies()
        tab = context.new_page()
        tab.goto(site.at(f"/enter/{site.entrance.ticket()}"))
        tab.wait_for_selector("h1:has-text('Inbox')")
        tab.click("nav >> text=Facts")
        tab.fill("#q", "deploy")
        tab.click("text=Find")
        tab.click(".item >> text=Deploy key")
        tab.click("summary >> text=Forget")
        tab.click("button:has-text('Forget')")
        tab.wait_for_selector("#outcome >> text=forget: Deploy key")
        assert person.read(KEY) is None
        tab.click("nav >> text=Forgotten")
        tab.click("button:has-text('Restore') >> nth=0")
        tab.wait_for_selector("#outcome >> text=rollback")
        assert person.read(KEY) == before
        tab.click("nav >> text=History")
        tab.fill("#step", "0")
        tab.click("text=Show >> nth=0")
        tab.wait_for_selector("h2:has-text('What became of it')")
        tab.click("nav >> text=Timeline")
        tab.click("text=take back >> nth=0")
        tab.wait_for_selector("h1:has-text('Take back')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 360])
def test_axe_finds_nothing(chromium: "Browser", site: Site, waiting: None, scheme: str, width: int) -> None:
    """By the rules of WCAG 2.2 A and AA that a program can check."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
    waits = site.get("/").text.partition("/proposal?id=")[2][:40]
    found = {}
    with window(
        chromium, site, color_scheme=scheme, viewport={"width": width, "height": 800}, bypass_csp=True
    ) as context:
        tab = context.new_page()
        for address in [*PAGES, f"/proposal?id={waits}", f"/fact?path={KEY}&done={history_head(site)}"]:
            tab.goto(site.at(address))
            if wrong := axe.run(tab, options=rules).response["violations"]:
                found[address] = [(each["id"], [node["html"] for node in each["nodes"]]) for each in wrong]
            assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
    assert found == {}


def history_head(site: Site) -> str:
    return site.get("/timeline").text.partition("/commit?id=")[2][:40]


@pytest.mark.parametrize("zoom", [4])
def test_at_four_times_the_size_nothing_is_cut_off(chromium: "Browser", site: Site, zoom: int) -> None:
    """Which is what a browser makes of a fourth of the width."""
    with window(chromium, site, viewport={"width": 1280 // zoom, "height": 1024 // zoom}) as context:
        tab = context.new_page()
        for address in PAGES:
            tab.goto(site.at(address))
            assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), address


def test_a_text_from_right_to_left_stays_in_its_place(chromium: "Browser", tmp_path: Path) -> None:
    with Memory(tmp_path / "notes", agent="coder", session="s-1") as memory:
        memory.remember("مواعيد", "متى نزور الطبيب", "كل يوم ثلاثاء (10:00) في Porto.", tags=["صحة"])
        memory.remember("歯医者", "次の予約", "十一月二十四日、午後三時。")
    edge = (
        "(e => { const r = document.createRange(); r.selectNodeContents(e); return r.getBoundingClientRect().right })"
    )
    with (
        session_at(tmp_path / "notes", Actor(is_person=True)) as session,
        site_of(session) as site,
        window(chromium, site) as context,
    ):
        tab = context.new_page()
        tab.goto(site.at("/facts"))
        tab.click("text=مواعيد")
        tab.wait_for_load_state()
        assert tab.evaluate("getComputedStyle(document.querySelector('article')).unicodeBidi") == "plaintext"
        text, crumb = (tab.evaluate(f"{edge}(document.querySelector('{each}'))") for each in ("article p", ".crumb"))
        assert text > crumb
