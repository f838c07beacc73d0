"""What the person does on the page: commits of theirs, of what they saw, and with a way back."""

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest

from crabmem import Memory
from crabmem.operations import facts, files, history, proposals
from crabmem.session.session import Session
from crabmem.write.actor import Actor
from tests.conftest import assert_clean
from tests.web.browsing import Answer, Site

KEY = "memory/entries/deploy-key.md"
FACT = f"/fact?path={KEY}"
#: Settings with which facts of agents wait.
REVIEWED = 'person = "Ann"\n[review]\nwait = ["entries"]\n'


def newest(person: Session) -> str:
    commit = history.log(person, 1)[0]
    assert commit.is_person and commit.author == "Ann" and commit.agent is None
    return commit.subject


def version(site: Site, path: str) -> str:
    return site.get(path).hidden("version")


def undone(site: Site, answer: Answer) -> Answer:
    """The page after the button that every action offers."""
    page = site.follow(answer)
    fields = dict(re.findall(r'<input type="hidden" name="(commit|rejected|applied)" value="(\w+)"', page.text))
    assert 'action="./undo"' in page.text and fields
    return site.follow(site.post("/undo", fields))


@pytest.fixture
def agent(person: Session) -> Session:
    """An agent at work in the same memory."""
    return person.for_actor("coder", "s-9")


def text_of(person: Session, path: str = KEY) -> str:
    return (person.read(path) or b"").decode()


def test_an_edit_is_a_commit_of_the_person_and_can_be_undone(site: Site, person: Session) -> None:
    before = text_of(person)
    text = before.replace("vault", "safe").replace("\n", "\r\n")  # as a browser sends it
    answer = site.post(FACT, {"do": "save", "version": version(site, f"{FACT}&view=edit"), "text": text})
    assert text_of(person) == before.replace("vault", "safe") and newest(person) == "edit: Deploy key"
    assert "Done: <bdi>edit: Deploy key</bdi>" in site.follow(answer).text
    undone(site, answer)
    assert text_of(person) == before


def test_an_edit_that_began_before_a_newer_text_is_refused_and_kept_in_view(
    site: Site, person: Session, agent: Session
) -> None:
    """Two tabs, or an agent that was quicker."""
    seen = version(site, f"{FACT}&view=edit")
    facts.remember(agent, "Deploy key", "where it is", "On the new server.")
    head = history.newest(person)
    mine = text_of(person).replace("On the new server.", "My own words.")
    answer = site.post(FACT, {"do": "save", "version": seen, "text": mine})
    assert answer.status == 409 and history.newest(person) == head
    words = re.sub("<[^>]+>", "", answer.text)
    assert "changed since this page was made" in words and "What was changed meanwhile" in words
    assert "My own words." in answer.text.partition("<textarea")[2] and "On the new server." in words
    again = site.post(FACT, {"do": "save", "version": answer.hidden("version"), "text": mine})
    assert again.status == 303 and "My own words." in text_of(person)


@pytest.mark.parametrize("do", ["forget", "rename", "restore", "save"])
@pytest.mark.parametrize("said", ["", "0000", "ffffffffffff", "x"])
def test_nothing_is_done_to_a_version_that_nobody_saw(site: Site, person: Session, do: str, said: str) -> None:
    head = history.newest(person)
    fields = {"do": do, "version": said, "new": "Other", "commit": "HEAD~20", "text": "x"}
    answer = site.post(FACT, fields)
    assert answer.status == 409 and history.newest(person) == head


def test_a_forgotten_fact_can_be_restored_from_the_list_and_by_undo(site: Site, person: Session) -> None:
    before = text_of(person)
    for _ in range(2):
        answer = site.post(FACT, {"do": "forget", "version": version(site, FACT)})
        assert newest(person) == "forget: Deploy key" and not person.read(KEY)
        assert "not in memory any more" in site.get(FACT).text
        undone(site, answer)
        assert text_of(person) == before
    site.post(FACT, {"do": "forget", "version": version(site, FACT)})
    page = site.get("/forgotten")
    first = page.text.partition("data-item")[2]
    assert "Deploy key" in first.partition("</li>")[0] and "Old importer" in first
    answer = site.post(FACT, {"do": "restore", "version": page.hidden("version"), "commit": page.hidden("commit")})
    assert "Deploy key" in site.follow(answer).text and text_of(person) == before
    assert "Deploy key" not in site.get("/forgotten").text.partition("<h1")[2].partition("data-item")[2]


def test_a_rename_leads_links_along_and_can_be_undone(site: Site, person: Session, agent: Session) -> None:
    facts.remember(agent, "Release list", "what to do", "Take the [[Deploy key]].")
    answer = site.post(FACT, {"do": "rename", "version": version(site, FACT), "new": "Signing key"})
    assert '<h1 dir="auto">Signing key</h1>' in site.follow(answer).text
    assert "[[Signing key]]" in text_of(person, "memory/entries/release-list.md")
    assert newest(person) == "rename: Deploy key to Signing key"
    assert "Deploy key" not in site.get("/forgotten").text.partition("<h1")[2]  # it was moved, and is not gone
    undone(site, answer)
    assert "[[Deploy key]]" in text_of(person, "memory/entries/release-list.md")
    refused = site.post(FACT, {"do": "rename", "version": version(site, FACT), "new": "Release day"})
    assert refused.status == 409 and "answers to already" in refused.text


def test_tags_are_edited_and_all_else_of_the_file_stays(site: Site, person: Session, agent: Session) -> None:
    raw = "---\r\nname: Deploy key\r\n# who to ask\r\ntags: [ops, 'a, b']\r\nother: 1\r\n---\r\nAsk Ann.  \r\n"
    (person.root / KEY).write_bytes(raw.encode())
    page = site.get(FACT)
    assert ">\nops\na, b</textarea>" in page.text
    fields = {"do": "tags", "version": page.hidden("version"), "tags": "a, b\r\n #safe , ops\r\n\r\nops"}
    answer = site.post(FACT, fields)
    assert (
        text_of(person) == raw.replace("[ops, 'a, b']", "['a, b', safe, ops]") and newest(person) == "edit: Deploy key"
    )
    undone(site, answer)
    assert text_of(person) == raw
    none = site.post(FACT, {**fields, "tags": " \r\n"})
    assert "tags: []" in text_of(person) and site.follow(none).status == 200

    facts.remember(agent, "Deploy key", "where it is", "In a safe.")
    stale = site.post(FACT, {**fields, "tags": "mine"})
    assert stale.status == 409 and "changed since" in stale.text and "In a safe." in stale.text
    assert ">\nmine</textarea>" in stale.text and "mine" not in text_of(person)
    wrong = site.post(FACT, {**fields, "version": stale.hidden("version"), "tags": "x" * 600})
    assert wrong.status == 409 and "tags" in wrong.text and '<details class="card" open>' in wrong.text


def test_an_older_text_is_brought_back(site: Site, person: Session) -> None:
    page = site.get("/fact?path=memory/entries/release-day.md&view=history&step=0")
    fields = {"do": "restore", "version": page.hidden("version"), "commit": page.hidden("commit")}
    site.follow(site.post("/fact?path=memory/entries/release-day.md", fields))
    assert "Tuesdays, before noon." in text_of(person, "memory/entries/release-day.md")
    assert newest(person).startswith("rollback: ")


def test_the_overview_is_edited_as_a_file(site: Site, person: Session) -> None:
    path = "/fact?path=memory/MEMORY.md"
    site.follow(site.post(path, {"do": "save", "version": version(site, f"{path}&view=edit"), "text": "# All new"}))
    assert text_of(person, "memory/MEMORY.md") == "# All new\n" and newest(person) == "edit: MEMORY.md"


def test_a_credential_is_refused_where_the_person_wrote_it(site: Site, person: Session) -> None:
    head = history.newest(person)
    secret = "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\nAKIAIOSFODNN7EXAMPLE"
    answer = site.post(FACT, {"do": "save", "version": version(site, f"{FACT}&view=edit"), "text": secret})
    assert history.newest(person) == head or answer.status == 303
    if answer.status == 409:
        assert "AKIAIOSFODNN7EXAMPLE" in answer.text.partition("<textarea")[2]


def test_a_new_fact_is_remembered_under_a_name_of_its_own(site: Site, person: Session) -> None:
    fields = {"name": " Luna's vet ", "description": "who looks after the dog", "tags": "dog, , pets"}
    answer = site.post("/new", {**fields, "content": "Dr. Moreno.\r\nEvery [[Release day]]."})
    made = facts.get(person, "Luna's vet")
    assert made.content == "Dr. Moreno.\nEvery [[Release day]]." and set(made.labels) == {"dog", "pets"}
    assert newest(person) == "remember: Luna's vet" and "Luna&#39;s vet" in site.follow(answer).text
    refused = site.post("/new", {**fields, "content": "Dr. Haas, since May."})
    assert refused.status == 409 and "is called that already" in refused.text and "Dr. Haas, since May." in refused.text
    unnamed = site.post("/new", {"name": " ", "content": "My words."})
    assert unnamed.status == 409 and "the name is empty" in unnamed.text and "My words." in unnamed.text
    assert facts.get(person, "Luna's vet") == made
    undone(site, answer)
    assert not person.read(made.path)


# What waits


@pytest.fixture
def waiting(story: Path, person: Session) -> list[str]:
    """Two texts that an agent proposes for the identity."""
    (story / "crabmem.toml").write_text('person = "Ann"\nsoul = "propose"\n')
    with Memory(story, agent="coder", session="s-9") as memory:
        text = files.identity(memory).text
        proposals.write_identity(memory, f"{text}\nShort answers.\n", reason="She asked twice.")
        proposals.write_identity(memory, text.replace("assistant", "helper", 1), reason="It sounds nicer.")
    found = {each.reason: each.id for each in proposals.proposals(person)}
    return [found["She asked twice."], found["It sounds nicer."]]


def test_a_proposal_is_shown_word_by_word_and_applied(site: Site, person: Session, waiting: list[str]) -> None:
    inbox = site.get("/").text
    assert "2 texts wait for you" in inbox and "She asked twice." in inbox and '<span class="count">' in inbox
    address = f"/proposal?id={waiting[1]}"
    page = site.get(address)
    assert "<mark>helper</mark>" in page.text and "<mark>assistant</mark>" in page.text
    answer = site.post(address, {"do": "apply", "which": page.hidden("which")})
    assert "helper" in text_of(person, "Crab.md") and newest(person).startswith("apply: ")
    assert "She asked twice." in site.follow(answer).text  # the next one
    assert "1 text waits for you" in site.get("/").text
    assert "It sounds nicer." in undone(site, answer).text  # it waits again
    assert "helper" not in text_of(person, "Crab.md") and len(proposals.proposals(person)) == 2


def test_the_inbox_is_by_session_and_shows_those_of_an_agent_a_session_or_a_tag(site: Site, story: Path) -> None:
    (story / "crabmem.toml").write_text(REVIEWED)
    for agent, session, tags in (("coder", "s-1", ["ops"]), ("scribe", "s-2", []), ("coder", "s-1", [])):
        with Memory(story, agent=agent, session=session) as memory:
            memory.remember(f"From {agent} {len(tags)}", "d", "Text.", tags=tags)
    inbox = site.get("/").text
    heads = re.findall(r"<legend>.*?</legend>", inbox)
    assert len(heads) == 2 and "coder" in heads[0] and "2 texts" in heads[0] and "s-2" in heads[1]
    assert [site.get(f"/?{asked}").text.count("data-item") for asked in ("by=coder", "in=s-2", "tag=ops")] == [2, 1, 1]
    assert "Nothing waits for you of what you chose" in site.get("/?by=nobody").text


@pytest.mark.parametrize("settings", ["", '[review]\nwait = ["everything"]\n'])
def test_a_page_says_by_whose_wish_a_text_waits(site: Site, story: Path, settings: str) -> None:
    (story / "crabmem.toml").write_text(settings)
    with Memory(story, agent="bot") as memory:
        memory.actor = Actor("bot", "s-9", proposes=True)
        made = memory.remember("Tea", "which tea", "Assam.").proposal
    assert made
    page = site.get(f"/proposal?id={made.id}").text
    by_setting = "by your setting <code>review</code>: everything" in page
    by_session = "because its session proposes all that it writes, as <code>--propose</code> asks" in page
    assert (by_setting, by_session) == (bool(settings), not settings)


def test_a_new_fact_that_is_proposed_is_shown_as_fields_and_whole(site: Site, story: Path) -> None:
    (story / "crabmem.toml").write_text(REVIEWED)
    with Memory(story, agent="coder") as memory:
        memory.remember("Tomás", "who mends bikes", "Call <him> first.", aliases=["the mechanic"], tags=["person"])
    id = re.findall("proposal.id=(.{40})", site.get("/").text)[0]
    page = site.get(f"/proposal?id={id}").text
    fields = page.partition('<dl class="fields">')[2].partition("</dl>")[0]
    for said in ("Tomás", "who mends bikes", "the mechanic", "person", "Call &lt;him&gt; first."):
        assert said in fields
    assert "description: who mends bikes" in page.partition("The whole file")[2]


@pytest.mark.parametrize(
    "path",
    ["crab.md", "memory\\entries\\x.md", "memory/entries/Deploy-Key.md", "memory/entries/a\nb.md", "memory/n.md"],
)
def test_saving_makes_no_file_that_was_not_shown(site: Site, person: Session, path: str) -> None:
    head = history.newest(person)
    answer = site.post(f"/fact?{urlencode({'path': path})}", {"do": "save", "version": "", "text": "x\n"})
    assert answer.status in (404, 409) and history.newest(person) == head and not (person.root / path).exists()


def test_of_very_long_proposals_the_first_lines_are_compared_and_shown(site: Site, story: Path) -> None:
    (story / "crabmem.toml").write_text(REVIEWED)
    with Memory(story, agent="coder") as memory:
        for number in range(5):
            memory.remember(f"Long {number}", "d", "x\n" * 130_000)
    inbox = site.get("/").text
    assert inbox.count("data-item") == 5
    assert inbox.count("+130006</span>") == 2 and inbox.count("open it to see what it would change") == 3
    page = site.get(f"/proposal?id={re.findall('proposal.id=(.{40})', inbox)[0]}")
    assert page.text.count('<li class="come">') == 2_000
    assert "… 128,006 more lines: <code>crabmem review show" in page.text


def test_a_proposal_whose_file_was_changed_is_refused_with_the_new_difference(
    site: Site, person: Session, waiting: list[str]
) -> None:
    address = f"/proposal?id={waiting[0]}"
    seen = site.get(address).hidden("which")
    proposals.write_identity(person, "# Somebody else\n\nShort.\n")
    head = history.newest(person)
    for do in ("apply", "reject", "edit"):
        text = {"path": "Crab.md", "text": "mine, all mine"} if do == "edit" else {}
        answer = site.post(address, {"do": do, "which": seen, **text})
        assert answer.status == 409 and "decide again" in answer.text and answer.hidden("which") != seen
        assert ("mine, all mine" in answer.text) == (do == "edit")
    assert history.newest(person) == head and len(proposals.proposals(person)) == 2


def test_a_proposal_is_edited_and_then_written(site: Site, person: Session, waiting: list[str]) -> None:
    address = f"/proposal?id={waiting[0]}"
    fields = {"do": "edit", "which": site.get(address).hidden("which")}
    answer = site.post(address, {**fields, "path": "Crab.md", "text": "# I\r\n\r\nIn my words.\r\n"})
    assert answer.status == 303 and text_of(person, "Crab.md") == "# I\n\nIn my words.\n"
    assert "reworded" in newest(person) and [each.id for each in proposals.proposals(person)] == waiting[1:]
    undone(site, answer)
    assert "In my words." not in text_of(person, "Crab.md") and len(proposals.proposals(person)) == 2
    assert site.post(address, fields).status == 404  # no text was sent


def test_what_was_rejected_can_be_brought_back(site: Site, person: Session, waiting: list[str]) -> None:
    address = f"/proposal?id={waiting[0]}"
    answer = site.post(address, {"do": "reject", "which": site.get(address).hidden("which")})
    assert [each.id for each in proposals.proposals(person)] == waiting[1:]
    assert (
        "rejected: Crab.md" in site.follow(answer).text and "rejected:" not in site.get(f"/?rejected={'0' * 40}").text
    )
    assert "waits again: Crab.md" in undone(site, answer).text
    assert {each.id for each in proposals.proposals(person)} == set(waiting)


def test_what_was_ticked_alone_is_decided_on(site: Site, person: Session, waiting: list[str]) -> None:
    """And what was changed since its page was made is left, and told."""
    page = site.get("/")
    keys = re.findall(r'name="which" value="([^"]+)"', page.text)
    keys.sort(key=lambda key: waiting.index(key.partition("@")[0]))
    assert len(keys) == 2
    assert "nothing was ticked" in site.post("/", {"do": "apply"}).text
    site.follow(site.post("/", {"do": "reject", "which": keys[:1]}))
    assert [each.id for each in proposals.proposals(person)] == waiting[1:]
    proposals.write_identity(person, "# Somebody else\n\nShort.\n")
    refused = site.post("/", {"do": "apply", "which": keys[1:]})
    assert refused.status == 409 and "could not be done" in refused.text
    assert "was changed since this page was made" in refused.text and "version" not in refused.text
    assert [each.id for each in proposals.proposals(person)] == waiting[1:]


def test_several_for_one_file_are_applied_together(site: Site, person: Session, waiting: list[str]) -> None:
    """Each with what those before it changed; one undo takes back all of them."""
    before = text_of(person, "Crab.md")
    keys = re.findall(r'name="which" value="([^"]+)"', site.get("/").text)
    answer = site.post("/", {"do": "apply", "which": keys})
    assert "helper" in text_of(person, "Crab.md") and "Short answers." in text_of(person, "Crab.md")
    page = site.follow(answer)
    commits = re.findall(r'name="commit" value="(\w+)"', page.text)
    assert len(commits) == 2 and "Nothing waits for you" in page.text
    site.follow(site.post("/undo", {"commit": commits}))
    assert text_of(person, "Crab.md") == before


def test_a_proposal_that_is_gone_is_no_page(site: Site, waiting: list[str]) -> None:
    address = f"/proposal?id={waiting[0]}"
    fields = {"do": "reject", "which": site.get(address).hidden("which")}
    assert site.post(address, fields).status == 303
    assert site.post(address, fields).status == 404 and site.get(address).status == 404


def test_what_waits_of_several_files_is_decided_on_as_one(site: Site, person: Session, story: Path) -> None:
    """A rename, with the links that it leads along; and its undo."""
    (story / "crabmem.toml").write_text(REVIEWED)
    with Memory(story, agent="coder", session="s-9") as memory:
        facts.remember(person, "Release list", "what to do", "Take the [[Deploy key]].\n\nOne.\n\nTwo.")
        memory.rename("Deploy key", "Signing key")
    [waits] = proposals.proposals(person)
    page = site.get(f"/proposal?id={waits.id}")
    assert len(waits.files) == 3 and "[[Signing key]]" in page.text and "and 2 other files" in site.get("/").text
    assert "your setting <code>review</code>: entries" in page.text
    facts.remember(person, "Release list", "what to do", "Take the [[Deploy key]].\n\nOne.\n\nTwo.\n\nShip it.")
    stale = site.post(f"/proposal?id={waits.id}", {"do": "apply", "which": page.hidden("which")})
    assert stale.status == 409 and person.read(KEY)
    answer = site.post(f"/proposal?id={waits.id}", {"do": "apply", "which": stale.hidden("which")})
    assert answer.status == 303 and not person.read(KEY)
    assert text_of(person, "memory/entries/release-list.md").endswith("[[Signing key]].\n\nOne.\n\nTwo.\n\nShip it.\n")
    undone(site, answer)
    assert person.read(KEY) and [each.id for each in proposals.proposals(person)] == [waits.id]


def test_a_blank_text_is_no_wording(site: Site, person: Session, waiting: list[str]) -> None:
    address, head = f"/proposal?id={waiting[0]}", history.newest(person)
    fields = {"do": "edit", "which": site.get(address).hidden("which"), "path": "Crab.md", "text": " \r\n"}
    answer = site.post(address, fields)
    assert answer.status == 404 and "is blank" in answer.text and history.newest(person) == head
    assert site.post(address, {**fields, "do": "apply", "which": f"{waiting[0]}@"}).status in (404, 409)
    assert site.post(address, {**fields, "do": "apply", "which": f"{waiting[0]}@a@b"}).status == 404


# Taking back


def test_a_session_is_taken_back_as_its_preview_said(site: Site, person: Session) -> None:
    page = site.get("/revert?session=s-2&take=ours")
    assert "What would change now" in page.text and "Discount rule" in page.text
    fields = {"session": "s-2", "take": "ours", "seen": page.hidden("seen")}
    answer = site.post("/revert", {**fields, "is_meant": "1"})
    assert newest(person).startswith("revert: session s-2") and not person.read("memory/entries/discount-rule.md")
    undone(site, answer)
    assert person.read("memory/entries/discount-rule.md")


def test_a_session_whose_lines_were_changed_since_asks_which_side_counts(site: Site, person: Session) -> None:
    head = history.newest(person)
    page = site.get("/revert?session=s-2")
    assert page.status == 200 and "Keep what is there now" in page.text and "Take it back all the same" in page.text
    assert site.post("/revert", {"session": "s-2", "seen": "x"}).status == 409 and history.newest(person) == head


def test_a_preview_that_is_not_true_any_more_is_shown_anew(site: Site, person: Session, agent: Session) -> None:
    fields = {
        "session": "s-2",
        "take": "ours",
        "is_meant": "1",
        "seen": site.get("/revert?session=s-2&take=ours").hidden("seen"),
    }
    facts.forget(agent, "Discount rule")
    head = history.newest(person)
    answer = site.post("/revert", fields)
    assert answer.status == 409 and "decide again" in answer.text and history.newest(person) == head
    assert site.post("/revert", {**fields, "seen": answer.hidden("seen")}).status == 303


def test_many_facts_are_not_taken_away_without_a_word_that_it_is_meant(site: Site, person: Session) -> None:
    fields = {"agent": "coder", "take": "theirs", "seen": site.get("/revert?agent=coder&take=theirs").hidden("seen")}
    head = history.newest(person)
    answer = site.post("/revert", fields)
    assert answer.status == 409 and "I mean it" in answer.text and history.newest(person) == head
    assert site.post("/revert", {**fields, "is_meant": "1"}).status == 303


def test_an_undo_that_would_overwrite_others_asks_first(site: Site, person: Session, agent: Session) -> None:
    seen = version(site, f"{FACT}&view=edit")
    answer = site.post(FACT, {"do": "save", "version": seen, "text": text_of(person).replace("vault", "safe")})
    commit = site.follow(answer).hidden("commit")
    facts.remember(agent, "Deploy key", "where the deploy key lives", "In the box under the stairs.")
    head = history.newest(person)
    refused = site.post("/undo", {"commit": commit})
    assert refused.status == 409 and "Keep what is there now" in refused.text and history.newest(person) == head


def test_nonsense_in_a_form_is_told_and_changes_nothing(site: Site, person: Session) -> None:
    head = history.newest(person)
    for path, fields in [
        ("/undo", {"commit": "zzz"}), ("/undo", {"commit": "HEAD..HEAD"}), ("/undo", {"rejected": "0" * 40}),
        ("/undo", {"rejected": head or ""}), ("/", {"do": "burn", "which": "1@2"}),
        ("/fact?path=../../etc/passwd", {"do": "save"}),
        (FACT, {"do": "burn", "version": "x"}), (FACT, {}), ("/fact", {"do": "save"}), ("/proposal", {"do": "apply"}),
        ("/fact?path=.git/config", {"do": "save", "version": "", "text": "x"}), ("/revert", {}),
        ("/fact?path=crabmem.toml.md/../x", {"do": "save", "version": "", "text": "x"}),
    ]:  # fmt: skip
        answer = site.post(path, fields)
        assert answer.status in (404, 409, 500), (path, fields, answer)
        assert "Traceback" not in answer.text
    assert history.newest(person) == head


def test_settings_are_shown_and_not_changed(site: Site, person: Session, story: Path) -> None:
    (story / "crabmem.toml").write_text('person = "Ann"\nsecrets = "refuse"\n')
    page = site.get("/fact?path=crabmem.toml")
    assert "secrets = " in page.text and "view=edit" not in page.text
    fields = {
        "do": "save",
        "version": page.hidden("version") if "version" in page.text else "",
        "text": 'secrets = "off"',
    }
    assert site.post("/fact?path=crabmem.toml", fields).status == 404
    assert "refuse" in (story / "crabmem.toml").read_text()


def test_what_the_page_did_leaves_a_clean_history(site: Site, person: Session, story: Path) -> None:
    answer = site.post(FACT, {"do": "forget", "version": version(site, FACT)})
    undone(site, answer)
    assert_clean(story)
