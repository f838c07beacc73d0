"""What the pages show, whatever memory says."""

import re
import time
from html import unescape
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path
from urllib.parse import quote

import pytest

from crabmem import Fact, Memory
from crabmem.git.commits import Note
from crabmem.hosts.table import HOSTS
from crabmem.operations import facts as facts_operations
from crabmem.operations import history
from crabmem.operations.context import before_turn
from crabmem.session.opening import session_at
from crabmem.session.session import Session
from crabmem.web import app
from crabmem.web.app import VIEWS
from crabmem.web.markdown import rendered
from crabmem.web.plots import colour_of
from crabmem.write.actor import Actor
from tests.pace import costing_less_than
from tests.web.browsing import Site, site_of

#: Each would run, load or leave something where a page took it for HTML.
HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"><svg onload=alert(1)>", "' onfocus=alert(1) x='",
    "</textarea><script>alert(1)</script>", "</title><script>alert(1)</script>", "{{ 7 * 7 }}", "{% raw %}",
    "<iframe src=http://evil.test>", "<form action=http://evil.test><button>", "<base href=http://evil.test>",
    "<link rel=stylesheet href=http://evil.test>", "<style>*{display:none}</style>",
    "<meta http-equiv=refresh content=0>",
    "<a hx-get=/undo hx-trigger=load>", "javascript:alert(1)", "&lt;script&gt;", "<!--", "]]>", "<math><mtext><mglyph>",
]  # fmt: skip
MARKDOWN = [
    "[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](data:text/html,<script>alert(1)</script>)",
    "![a](http://evil.test/x.png)", "<http://evil.test/\"onclick=alert(1)>", "[a](vbscript:x)", "[a](file:///etc/passwd)",
    "[a]: javascript:alert(1)\n\n[a]", "`<script>`",
    "    <script>alert(1)</script>", "[[<img src=x onerror=alert(1)>]]",
    "[[a|<script>alert(1)</script>]]", "<div>\n\n*a*\n\n</div>", "| <script> |\n|---|\n| <img src=x> |",
    "[a](<javascript:alert(1)>)", "[a](\x01javascript:alert(1))", "[a](//evil.test)",
]  # fmt: skip


class Tags(HTMLParser):
    """The tags of a page, and what they say."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def assert_harmless(text: str) -> None:
    """That a page has the tags of our templates alone, and leads nowhere by itself."""
    for tag, attributes in Tags(text).tags:
        assert tag not in ("iframe", "object", "embed", "base", "style", "img", "math", "template"), tag
        assert not [name for name in attributes if name.startswith(("on", "hx-")) or name in ("style", "srcdoc")]
        if tag == "script":
            assert attributes == {"src": "/page.js", "defer": None}
        if tag in ("form", "link", "script"):
            where = attributes.get("action") or attributes.get("href") or attributes.get("src") or "./"
            assert where.startswith(("./", "/page."))
        if tag == "a":
            where = attributes.get("href") or ""
            assert where.startswith(("./", "#", "http://", "https://", "mailto:")), where
            assert where.startswith(("./", "#")) or attributes.get("rel") == "noopener noreferrer"


@pytest.mark.parametrize("path", VIEWS)
def test_every_page_is_there_and_asks_for_nothing_elsewhere(site: Site, path: str) -> None:
    query = {
        "/fact": "?name=Deploy+key", "/commit": "?id=HEAD", "/revert": "?session=s-1",
        "/recall": "?q=deploy&message=key",
        "/proposal": "?id=0000",
    }.get(path, "")  # fmt: skip
    answer = site.get(path + query)
    answer = site.follow(answer) if answer.status == 303 else answer
    assert answer.status == (404 if path == "/proposal" else 200), answer.text
    assert_harmless(answer.text)


def test_an_empty_memory_has_all_pages(tmp_path: Path) -> None:
    with session_at(tmp_path / "new", Actor(is_person=True)) as session, site_of(session) as site:
        for path in VIEWS.keys() - {"/fact", "/commit", "/revert", "/proposal"}:
            answer = site.get(path)
            assert answer.status == 200, answer.text
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_memory_is_taken_for_html(tmp_path: Path, text: str) -> None:
    """In a name, a description, a body, a tag, an alias, the name of an agent, of a session, a reason, a file name."""
    with Memory(tmp_path / "notes", agent=f"a {text}", session=f"s {text}") as memory:
        saved = memory.remember(
            f"N {text}", f"D {text}", f"C {text}\n\n{text}", tags=[f"t {text}"], aliases=[f"l {text}"]
        )
        memory.remember("Other", "d", f"[[N {text}]]")
        memory.write_overview(f"# {text}\n\n[[N {text}]]")
        path = quote(saved.entry.path)
    with session_at(tmp_path / "notes", Actor(is_person=True)) as session, site_of(session) as site:
        fact = f"/fact?path={path}"
        pages = [*VIEWS.keys() - {"/fact", "/commit", "/revert", "/proposal"}, "/commit?id=HEAD", "/commit?id=HEAD~1"]
        pages += [f"{fact}&view={view}" for view in ("read", "lines", "history", "links", "edit")]
        pages += [f"/recall?q={quote(text)}&message={quote(text)}", f"/facts?q={quote(text)}&tag={quote(text)}"]
        asked = "&".join(f"{name}={quote(text)}" for name in ("agent", "session", "author", "words"))
        pages += [f"/timeline?{asked}", f"/timeline?since={quote(text)}", f"/fact?path={quote(text)}"]
        pages += [f"/revert?session={quote('s ' + text)}", f"/revert?session={quote(text)}&take={quote(text)}"]
        for page in pages:
            answer = site.get(page)
            assert answer.status in (200, 404), (page, answer.text)
            assert_harmless(answer.text)
            assert "49" not in re.findall(r"<h1[^>]*>([^<]*)", answer.text)
        assert_harmless(site.post(fact, {"do": "save", "version": "0000", "text": text}).text)
        assert_harmless(site.post(fact, {"do": "rename", "version": "", "new": text}).text)


@pytest.mark.parametrize("text", [*HOSTILE, *MARKDOWN])
def test_markdown_of_memory_can_do_nothing(text: str) -> None:
    html = rendered(text)
    assert_harmless(html)
    assert "<script" not in html and "<img" not in html


def test_a_link_says_where_it_leads(site: Site) -> None:
    html = rendered("[your bank](https://evil.test/login) and <https://a.test> and [[Deploy key|the key]]")
    assert '>your bank</a> <span class="address">https://evil.test/login</span>' in html
    assert html.count("address") == 1 and 'href="./fact?name=Deploy%20key"' in html
    assert site.follow(site.get("/fact?name=Deploy%20key")).status == 200


@pytest.mark.parametrize("text", ["[[a]] " * 10_000, "!" * 60_000 + "\U0001f468", "[[" * 30_000])
def test_no_links_keep_a_reader_busy(text: str) -> None:
    with costing_less_than(3):
        rendered(text)


def test_a_very_long_text_is_shown_as_it_is() -> None:
    html = rendered("*a* <b>\u202e\n" * 7_000)
    assert "<em>" in html
    html = rendered("*a* <b>\u202e\n" * 8_000)
    assert "It has 72,000 characters" in html and "*a* &lt;b&gt;‹U+202E›\n*a*" in html and "<em>" not in html


def test_an_invisible_sign_is_shown_wherever_a_text_is(tmp_path: Path) -> None:
    with Memory(tmp_path / "notes", agent="coder", session="s-1") as memory:
        memory.remember("Bank", "d", "pay to \u202eannA\u202c here")
    with session_at(tmp_path / "notes", Actor(is_person=True)) as session, site_of(session) as site:
        fact = "/fact?path=memory/entries/bank.md"
        for page in (fact, f"{fact}&view=lines", f"{fact}&view=history", "/commit?id=HEAD", "/recall?q=bank"):
            assert "‹U+202E›annA" in site.get(page).text, page
        assert "2 characters in it are invisible" in site.get(fact).text
        assert "\u202eannA" in site.get(f"{fact}&view=edit").text  # where it can be taken out


def test_a_page_takes_less_than_a_quarter_of_a_second_among_ten_thousand_facts(tmp_path: Path) -> None:
    """Of the processor, and once what is read at first was read; a thousand texts wait."""
    with Memory(tmp_path / "notes", agent="coder", session="s-1") as memory:
        facts = (
            Fact(f"Fact {n}", f"about {n}", f"It is {n}. See [[Fact {n + 1}]].", tags=("t",)) for n in range(10_000)
        )
        memory.remember_all(facts, "elsewhere")
        for n in range(30):
            memory.remember(f"Fact {n}", f"about {n}", f"It is {n} now.")
        history = memory.engine.history
        for n in range(1_000):
            changes = {
                f"memory/entries/fact-{n}.md": history.recording.put(f"---\nname: Fact {n}\n---\n\n{n}!\n".encode())
            }
            history.aside.add(changes, Note(f"propose: remember: Fact {n}", "coder <>"), memory.engine.clock())
    with session_at(tmp_path / "notes", Actor(is_person=True)) as session, site_of(session) as site:
        fact = "/fact?path=memory/entries/fact-7.md"
        pages = [
            "/",
            "/facts",
            "/timeline",
            "/recall?q=fact+77&message=fact+77",
            "/prompt",
            "/forgotten",
            "/figures",
            "/sync",
        ]
        pages += [
            "/workspaces",
            "/facts?q=77",
            fact,
            *(f"{fact}&view={view}" for view in ("lines", "history", "links", "edit")),
        ]
        inbox = site.get("/?from=480").text
        assert "1000 texts wait" in inbox
        pages += ["/?from=480", "/proposal?id=" + inbox.partition("/proposal?id=")[2][:40]]
        for page in pages:
            assert site.get(page).status == 200
            taken = [_seconds(site, page)]
            while min(taken) > 0.25:  # once in four may be the machine's fault
                assert len(taken) < 4, (page, taken)
                taken.append(_seconds(site, page))


def test_a_commit_of_very_many_files_has_their_names(tmp_path: Path) -> None:
    with Memory(tmp_path / "notes", agent="coder", session="s-1") as memory:
        memory.remember_all((Fact(f"Fact {n}", "d", "c") for n in range(300)), "elsewhere")
    with session_at(tmp_path / "notes", Actor(is_person=True)) as session, site_of(session) as site:
        page = site.get("/commit?id=HEAD").text
        assert "300 files" in page and page.count("/fact?path=") == 200 and "<figure" not in page
        preview = site.get("/revert?commit=HEAD").text
        assert "and 100 more files" in preview and preview.count("<figure") == 200


def _seconds(site: Site, page: str) -> float:
    began = time.process_time()
    site.get(page)
    return time.process_time() - began


def test_a_fact_is_found_by_its_words_and_tags(site: Site, person: Session) -> None:
    found = site.get("/facts?q=DEPLOY").text
    assert "Deploy key" in found and "Release day" not in found
    assert "No fact has that" in site.get("/facts?q=nothing-such").text
    person.actor, by = Actor(is_person=True), "a chocolate cake"
    facts_operations.remember(person, "Birthday", "what to bake", f"Ann wants {by}.")
    facts_operations.remember(person, "Chocolate", "which one to buy", "The dark one.")
    texts = site.get("/facts?q=chocolate").text
    assert texts.index(">Chocolate<") < texts.index(">Birthday<")
    assert ">Birthday<" in site.get("/facts?q=choco").text  # as it is typed
    facts_operations.remember(person, "Oven", "how hot it gets", "250 degrees.", tags=["kitchen"])
    assert ">Oven<" in site.get("/facts?q=kitch").text


def test_history_is_searched_by_words_author_and_time(site: Site, person: Session) -> None:
    def found(asked: str) -> list[str]:
        return [
            unescape(each)
            for each in re.findall(r"/commit\?id=\w+\"><bdi>([^<]*)", site.get(f"/timeline?{asked}").text)
        ]

    assert {"remember: Deploy key", "edit: Deploy key"} <= {*found("words=KEY+deploy")} < {*found("")}
    for asked, operation in (
        ("words=deploy&author=ann", {"words": "deploy", "author": "ann"}),
        ("words=release&since=2026-01-20&until=2026-02-09",
         {"words": "release", "since": "2026-01-20", "until": "2026-02-09"}),
    ):  # fmt: skip
        commits = history.log(person, None, None, **operation)
        assert commits and found(asked) == [commit.subject for commit in commits]
    assert "Nothing was written that fits" in site.get("/timeline?words=nothing-such").text
    wrong = site.get("/timeline?since=whenever&words=key")
    assert wrong.status == 404 and "no revision named whenever" in wrong.text and 'value="whenever"' in wrong.text


def test_a_time_zone_that_cannot_be_leaves_times_as_they_are(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "<+99>-99")
    time.tzset()
    told = [site.get(page) for page in ("/timeline", "/", "/figures")]
    monkeypatch.undo()
    time.tzset()
    assert [answer.status for answer in told] == [200, 200, 200]


def test_an_author_has_one_colour_on_every_page(site: Site) -> None:
    lines = site.get("/fact?path=memory/entries/deploy-key.md&view=lines").text
    for page in (lines, site.get("/timeline").text):
        for name, is_person in (("coder", False), ("Ann", True)):
            written = set(re.findall(rf'class="writer ([\w-]+)"><span[^>]*>.</span> <bdi>{name}<', page))
            assert written == {colour_of(name, is_person)}
    drawn = re.findall(r'class="([\w-]+)"/></svg> <bdi>([^<]+)</bdi>', site.get("/figures").text)
    assert {(colour_of(name, name == "Ann"), name) for name in ("coder", "planner", "Ann")} == {*drawn}


def test_hosts_that_are_used_most_have_colours_of_their_own() -> None:
    names = [*(host.name for host in islice(HOSTS, 8)), "coder", "planner"]
    assert len({colour_of(name, is_person=False) for name in names}) == 10


def test_authors_can_be_read_in_the_light_and_in_the_dark() -> None:
    style = (Path(app.__file__).parent / "templates" / "page.css").read_text("utf-8")
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w+)", each)) for each in style.split("@media", 2)[:2])
    assert len({colour_of(str(number), is_person=False) for number in range(200)}) == 10
    for scheme in (light, dark):
        for ground in ("paper", "card", "room", "note", "come", "gone"):
            for ink in ("accent", "faint", *(f"a{number}" for number in range(10))):
                assert contrast(scheme[ink], scheme[ground]) >= 4.5, (ink, ground)


def contrast(one: str, other: str) -> float:
    """As WCAG 2 has it."""
    high, low = sorted(map(luminance, (one, other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = (int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_first_days_have_numbers_in_place_of_pictures(tmp_path: Path) -> None:
    with Memory(tmp_path / "notes", agent="coder") as memory:
        memory.remember("Luna", "our dog", "Afraid of thunder.")
        memory.remember("Wifi", "the password", "On the router.")
    with session_at(tmp_path / "notes", Actor(is_person=True)) as session, site_of(session) as site:
        for path in ("/timeline", "/figures"):
            page = site.get(path).text
            assert "<rect" not in page and "coder</bdi></dt><dd>2</dd>" in page
        assert "<dt>facts and notes</dt><dd>2</dd>" in page


def test_the_lines_of_a_fact_say_who_wrote_them(site: Site) -> None:
    page = site.get("/fact?path=memory/entries/deploy-key.md&view=lines").text
    assert "ask Ann." in page and "Ann" in page and "coder" in page and "(a person)" in page


def test_a_fact_is_shown_as_it_was_at_any_moment(site: Site) -> None:
    history = "/fact?path=memory/entries/release-day.md&view=history"
    first = re.sub("<[^>]+>", "", site.get(f"{history}&step=0").text)
    assert "Tuesdays, before noon." in first and "Fridays, after lunch." in first  # with what became of it
    assert "It says the same now" in site.get(f"{history}&step=99").text
    assert "Wednesdays, before noon." in site.get(f"{history}&day=2026-01-28").text
    assert site.get(f"{history}&day=nonsense").status == 404


def test_recall_says_which_share_each_word_has(site: Site) -> None:
    page = site.get("/recall?q=deploy+key").text
    shares = [
        int(share) for share in re.findall(r"</bdi> (\d+) %", page.partition("</ol>")[0].partition("data-item")[2])
    ]
    assert "Deploy key" in page and shares and 99 <= sum(shares[:2]) <= 101


def test_what_would_be_said_before_a_message_is_shown_and_does_not_count_as_said(site: Site, person: Session) -> None:
    for _ in range(2):
        assert "&lt;recall&gt;" in site.get("/recall?message=where+is+the+deploy+key").text
    assert "Memory would be silent" in site.get("/recall?message=zzz").text
    assert person.engine.turns.all() == []
    assert "<recall>" in before_turn(person, "where is the deploy key")


def test_the_prompt_shows_its_parts(site: Site) -> None:
    page = site.get("/prompt").text
    assert "Crab.md" in page and "memory/MEMORY.md" in page and "words around them" in page
    assert site.get("/prompt?kind=group").status == 200 and site.get("/prompt?kind=none").status == 200


def test_an_inbox_with_a_proposal_of_many_signs_is_there_at_once(tmp_path: Path) -> None:
    """The words of 2,400 characters were once compared for 13 s, at each look."""
    texts = ["".join(f"a {chr(first + number)}" for number in range(800)) for first in (0x4E00, 0x5E00)]
    (tmp_path / "crabmem.toml").write_text('soul = "propose"\n')
    (tmp_path / "Crab.md").write_text(texts[0])
    with Memory(tmp_path, agent="coder") as agent:
        agent.write_identity(texts[1])
    with session_at(tmp_path, Actor(is_person=True)) as person, site_of(person) as site:
        site.get("/facts")  # loads what a first page needs
        with costing_less_than(0.2):
            page = site.get("/").text
        assert "coder" in page
