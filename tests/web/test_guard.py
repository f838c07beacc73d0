"""Who is answered: the browser of the person, at the page's own address, and nobody else."""

import itertools
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest
from starlette.datastructures import Headers

from crabmem.loopback import guard as guards
from crabmem.loopback.guard import own_hosts, refusal
from crabmem.operations import history
from crabmem.session.session import Session
from crabmem.web import app
from crabmem.web.entrance import COOKIE, LIFE, PATH, Entrance
from tests.web.browsing import FORM, Site, site_of

FORGET = {"do": "forget", "version": ""}
FACT = "/fact?path=memory/entries/wifi.md"


def head(person: Session) -> str | None:
    return history.newest(person)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_name_that_is_not_the_pages_own_is_not_answered(site: Site, method: str) -> None:
    """As of a page elsewhere whose name leads to this machine now."""
    for host in (
        "evil.test", "evil.test:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{port}.evil.test", "127.0.0.2:{port}",
        "localhost", "[::1]:{port}", "0.0.0.0:{port}", "", "127.0.0.1:{port}:1", "user@127.0.0.1:{port}",
    ):  # fmt: skip
        said = host.format(port=site.port)
        answer = site.ask(method, "/", {"Host": said, "Origin": f"http://{said}" if method == "POST" else None})
        assert answer.status in (421, 400) and "Inbox" not in answer.text


def test_a_request_with_two_hosts_is_not_answered() -> None:
    twice = Headers(raw=[(b"host", b"127.0.0.1:9"), (b"host", b"evil.test")])
    found = refusal("GET", twice, own_hosts(9))
    assert found and found.status == 421


def test_no_page_is_told_what_it_may_ask_elsewhere() -> None:
    """A browser asks that by OPTIONS, before it lets a page of another address send what no form can."""
    own = Headers({"Host": "127.0.0.1:9", "Origin": "http://127.0.0.1:9"})
    found = refusal("OPTIONS", own, own_hosts(9))
    assert found and found.status == 403 and refusal("POST", own, own_hosts(9)) is None


def test_both_names_of_this_machine_are_the_pages_own(site: Site) -> None:
    assert site.get("/facts").status == 200
    named = {"Host": f"localhost:{site.port}"}
    assert site.get("/facts", named).status == 200
    assert site.post("/", {"do": "apply"}, {**named, "Origin": f"http://localhost:{site.port}"}).status == 409
    assert site.post("/", {"do": "apply"}, named).status == 403  # another name is another origin


def test_a_browser_leaves_out_the_usual_port() -> None:
    assert own_hosts(80) == {"127.0.0.1", "localhost"} and own_hosts(81) == {"127.0.0.1:81", "localhost:81"}


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.test"}, {"Origin": "null"}, {"Origin": None}, {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://127.0.0.1"}, {"Origin": "https://127.0.0.1:{port}"}, {"Origin": ""},
        {"Origin": "http://127.0.0.1:{port}.evil.test"},
        {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "none"},
    ],
)  # fmt: skip
def test_a_form_of_another_page_changes_nothing(site: Site, person: Session, headers: dict[str, str | None]) -> None:
    """Not even with the cookie, which a browser sends along to every port of the same name."""
    before = head(person)
    said = {name: value and value.format(port=site.port) for name, value in headers.items()}
    fact = "/fact?path=memory/entries/deploy-key.md"
    fields = {"do": "forget", "version": site.get(fact).hidden("version")}
    assert site.post(fact, fields, said).status == 403
    assert head(person) == before
    assert site.post(fact, fields, {"Sec-Fetch-Site": None}).status == 303  # a browser that does not send it
    assert head(person) != before


def test_another_page_can_load_nothing_of_this_one(site: Site) -> None:
    for where in ("cross-site", "same-site"):
        for dest in ("document", "iframe", "image", "script", "empty"):
            for path in ("/facts", "/page.css", "/page.js"):
                assert site.get(path, {"Sec-Fetch-Site": where, "Sec-Fetch-Dest": dest}).status == 403


def test_a_link_elsewhere_may_lead_to_the_entrance_and_nothing_else_loads_it(site: Site) -> None:
    from_elsewhere = {"Sec-Fetch-Site": "cross-site", "Cookie": None}
    loaded = {**from_elsewhere, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
    way = PATH + site.entrance.ticket()
    assert site.get(way, loaded).status == 403
    assert site.get(way, {**from_elsewhere, "Sec-Fetch-Dest": "iframe"}).status == 403
    assert site.get(way, from_elsewhere).status == 200


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "PATCH", "HEAD", "TRACE"])
def test_no_other_method_does_anything(site: Site, person: Session, method: str) -> None:
    before = head(person)
    for path in ("/", "/fact", "/undo", "/page.css"):
        asked: dict[str, str | None] = {"Origin": site.own, "Access-Control-Request-Method": "POST"}
        answer = site.ask(method, path, asked)
        assert answer.status in ((200, 404, 405) if method == "HEAD" else (403, 405))
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert head(person) == before


def test_looking_changes_nothing(site: Site, person: Session) -> None:
    """Whatever an address says: what a form sends counts in a form alone."""
    before = head(person)
    for path in app.VIEWS:
        for query in (
            "do=forget&version=&path=memory/entries/deploy-key.md&which=1&id=1&commit=HEAD&text=x&session=s-2",
            "",
        ):
            site.get(f"{path}?{query}")
    for path in app.ACTIONS.keys() - app.VIEWS.keys():
        assert site.get(path).status in (404, 405)
    assert head(person) == before


def test_without_the_cookie_nothing_of_memory_is_shown(site: Site) -> None:
    secret, folder = site.entrance.secret, site.entrance.folder.strip("/")
    wrong = ("", f"{COOKIE}=", f"{COOKIE}=wrong", f"{COOKIE}0={secret}", f"{COOKIE}={folder}")
    paths = [*app.VIEWS, "/nowhere", "/enter", "/page.css/../facts", "/page.cssx", "/enter/a/b", "//facts"]
    for cookie, path in itertools.product((None, *wrong), paths):
        answer = site.get(path, {"Cookie": cookie})
        assert answer.status == 403, (path, cookie)
        assert not [word for word in ("Deploy", "notes", "waiting", "Inbox") if word in answer.text]
        assert site.post(path, FORGET, {"Cookie": cookie}).status in (403, 405)


@pytest.mark.parametrize("folder", ["/", "/x/", "/{folder}0/", "/{folder}/facts/x/", "//{folder}/", "/é/"])
def test_outside_of_the_folder_of_the_pages_nothing_of_memory_is_shown(site: Site, folder: str) -> None:
    """Not even with the cookie, which no browser sends there."""
    site.folder = quote(folder.format(folder=site.folder.strip("/")))
    for path in [*app.VIEWS, "/facts/..", "/%2e%2e/facts"]:
        answer = site.get(path)
        assert answer.status == 403 and site.entrance.folder not in answer.text
        assert not [word for word in ("Deploy", "notes", "waiting", "Inbox") if word in answer.text]
        assert site.post(path, FORGET).status == 403


def test_a_ticket_lets_in_one_browser_and_is_nowhere_afterwards(site: Site) -> None:
    way = PATH + site.entrance.ticket()
    answer = site.get(way, {"Cookie": None, "Sec-Fetch-Site": "none"})
    cookie = answer.headers["set-cookie"]
    assert answer.status == 200 and not answer.place
    assert way not in answer.text and way not in str(answer.headers)
    assert {"HttpOnly", "SameSite=strict", f"Path={site.entrance.folder}"} <= set(cookie.split("; "))
    assert "Domain" not in cookie and len(site.entrance.folder) > 40
    assert site.get("/", {"Cookie": cookie.partition(";")[0]}).status == 200
    again = site.get(way, {"Cookie": None})
    assert again.status == 403 and "set-cookie" not in again.headers


def test_a_ticket_is_good_for_a_minute(site: Site) -> None:
    early, late = site.entrance.ticket(), site.entrance.ticket()
    site.clock[0] += LIFE - 1
    assert site.get(PATH + early, {"Cookie": None}).status == 200
    site.clock[0] += 2
    assert site.get(PATH + late, {"Cookie": None}).status == 403


def test_a_wrong_ticket_lets_nobody_in(site: Site) -> None:
    site.entrance.ticket()
    wrong = ("", "x", "%00", "é", "a" * 5_000, "../facts", "%0Ax", "%0D")
    with ThreadPoolExecutor(len(wrong)) as browsers:  # each waits for half a second
        answers = browsers.map(lambda each: site.get(PATH + quote(each, safe="%/."), {"Cookie": None}), wrong)
    for answer, ticket in zip(answers, wrong, strict=True):
        assert answer.status == 403 and "set-cookie" not in answer.headers, ticket
        assert not [word for word in ("Deploy", "notes", "waiting", "Inbox") if word in answer.text]


def test_two_pages_are_told_apart() -> None:
    one, other = (Entrance(8001, lambda: 0.0) for _ in range(2))
    assert one.folder != other.folder and one.secret != other.secret
    assert one.page(one.folder, [f"{COOKIE}={one.secret}"]) == ("", "/")
    assert one.page(f"{one.folder}me/facts", [f"{COOKIE}={one.secret}"]) == ("me", "/facts")
    assert one.page(f"{one.folder}me/facts/x", [f"{COOKIE}={one.secret}"]) is None
    assert one.page(one.folder, [f"{COOKIE}={other.secret}"]) is None
    assert one.page(other.folder, [f"{COOKIE}={one.secret}"]) is None


def test_a_cookie_of_the_same_name_from_another_port_locks_nobody_out(site: Site) -> None:
    ours = f"{COOKIE}={site.entrance.secret}"
    for said in (f"{ours}; {COOKIE}=x", f"{COOKIE}=x; {ours}", f"a=b; {COOKIE}=; {ours};{COOKIE}=y"):
        assert site.get("/", {"Cookie": said}).status == 200, said


def test_every_answer_says_what_a_browser_may_do_with_it(site: Site) -> None:
    ways: list[dict[str, str | None]] = [{}, {"Cookie": None}, {"Host": "evil.test"}]
    paths = [*app.VIEWS, "/page.css", "/page.js", "/page.svg", "/enter/x", "/nowhere"]
    for path, headers in ((path, headers) for path in paths for headers in ways):
        said = site.get(path, headers).headers
        policy = dict(part.strip().split(" ", 1) for part in said["content-security-policy"].split(";"))
        assert policy.pop("default-src") == "'none'" and policy.pop("frame-ancestors") == "'none'"
        assert policy.pop("base-uri") == "'none'" and set(policy.values()) == {"'self'"}
        assert said["x-content-type-options"] == "nosniff" and said["cache-control"] == "no-store"
        assert said["referrer-policy"] == "same-origin"
        assert said["cross-origin-opener-policy"] == said["cross-origin-resource-policy"] == "same-origin"
        assert not [name for name in said if name.startswith("access-control") or name == "server"]


def test_a_form_that_is_too_large_or_none_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "LARGEST", 1_000)
    fact = "/fact?path=memory/entries/deploy-key.md"
    version = site.get(fact).hidden("version")
    assert site.post(fact, {"do": "save", "version": version, "text": "x" * 2_000}).status == 413
    assert site.post(fact, {"do": "save"}, {"Content-Type": "text/plain"}).status == 415
    assert site.post(fact, {"do": "save"}, {"Content-Type": "multipart/form-data; boundary=x"}).status == 415
    assert site.ask("POST", fact, {}, b"a=%ff").status == 400
    assert site.ask("POST", fact, {}, b"a=1&" * 2_500).status in (400, 413)
    assert site.get(f"/facts?{'a=1&' * 2_500}").status == 200
    assert (
        site.post(fact, {"do": "forget", "version": version}, {"Content-Type": f"{FORM}; charset=utf-8"}).status == 303
    )


def test_the_page_listens_on_the_loopback_alone(site: Site) -> None:
    own = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for address in [*own, "127.0.0.2"]:
        with socket.socket() as other:
            other.settimeout(2)
            assert other.connect_ex((str(address), site.port)) != 0


#: What keeps each of these attacks out, and what it looks like where that is missing.
ATTACKS: dict[str, Callable[[Site], int]] = {
    "Host": lambda site: site.get("/facts", {"Host": "evil.test"}).status,
    "Origin": lambda site: (
        site.post("/", {"do": "apply"}, {"Origin": "http://evil.test", "Sec-Fetch-Site": None}).status
    ),
    "Sec-Fetch-Site": lambda site: site.get("/facts", {"Sec-Fetch-Site": "cross-site"}).status,
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_each_attack_gets_through_where_nothing_guards(
    person: Session, monkeypatch: pytest.MonkeyPatch, attack: str
) -> None:
    """So that what the tests above see is the guard, and not something else that refuses."""
    with site_of(person) as site:
        assert ATTACKS[attack](site) in (403, 421)
        monkeypatch.setattr(guards, "refusal", lambda *given: None)
        assert ATTACKS[attack](site) in (200, 409)
