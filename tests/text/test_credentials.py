"""What looks like a credential does not get into memory by way of an agent, and ordinary text does."""

import string
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from crabmem import Busy, Fact, HoldsSecret, Key, Memory
from crabmem.cli.app import cli
from crabmem.disk.lock import WriterLock
from crabmem.operations import files as files_operations
from crabmem.operations import keyvalue, notes, proposals
from crabmem.text import credentials
from crabmem.text.credentials import credentials_in
from crabmem.text.learnings import Lesson
from tests.conftest import FIXTURES, git
from tests.pace import costing_less_than
from tests.secrets import HEX, ORDINARY, SECRETS, some

# Put together here, so that no scanner takes this file for a leak.
SHAPES = {
    "AWS access key": "AK" + "IA" + some(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "GitHub token": "gh" + "p_" + some(36),
    "GitHub fine-grained token": "github" + "_pat_" + some(22) + "_" + some(59),
    "GitLab token": "gl" + "pat-" + some(20),
    "Slack token": "xo" + "xb-" + some(11, string.digits) + "-" + some(24),
    "Slack webhook": "https://hooks.sl" + "ack.com/services/T" + some(9) + "/B" + some(9) + "/" + some(24),
    "Stripe key": "sk" + "_live_" + some(24),
    "OpenAI key": "sk" + "-proj-" + some(60) + "T3Blbk" + "FJ" + some(40),
    "Anthropic key": "sk" + "-ant-api03-" + some(93),
    "Google API key": "AI" + "za" + some(35),
    "Hugging Face token": "h" + "f_" + some(34, string.ascii_letters),
    "Groq key": "gs" + "k_" + some(52),
    "npm token": "np" + "m_" + some(36),
    "PyPI token": "py" + "pi-AgEIcHlwaS5vcmc" + some(60),
    "SendGrid key": "S" + "G." + some(22) + "." + some(43),
    "Telegram bot token": some(9, "123456789") + ":A" + "A" + some(33),
    "DigitalOcean token": "do" + "p_v1_" + some(64, HEX),
    "Databricks token": "da" + "pi" + some(32, HEX),
    "Azure storage key": "Account" + "Key=" + some(86) + "==",
    "age key": "AGE-SECRET" + "-KEY-1" + some(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "JSON Web Token": "ey" + "J" + some(30) + ".ey" + "J" + some(40) + "." + some(43),
    "private key": "-----BEGIN OPENSSH" + " PRIVATE KEY-----\n" + some(70) + "\n-----END",
    "password in an address": "postgres://app:" + some(14) + "@db.internal:5432/shop",
}
TOKEN = SHAPES["GitHub token"]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path / "memory", agent="coder")
    memory.remember("Luna", "dog", "Thursday")
    return memory


@pytest.mark.parametrize("around", ["{}", "the key is `{}`.", "KEY={}\n", '{{"key": "{}"}}', "({})"])
def test_known_shape_is_found_wherever_it_stands(around: str) -> None:
    for kind, shape in SHAPES.items():
        found = credentials_in(around.format(shape))
        assert [each.text[:12] in shape for each in found] == [True], kind
        assert len(found[0].masked.rpartition("(")[2]) < 8, kind


@pytest.mark.parametrize("around", ["{}", "Kept for later.\n\n{}\n\nThat is all.\n", "- {}\n"])
def test_secret_as_people_write_it_is_found_and_told_without_it(around: str) -> None:
    for what, secret in SECRETS.items():
        found = credentials_in(around.format(secret))
        assert len(found) == 1, what
        shown = found[0].masked.rpartition("(")[2].removesuffix("…)")
        assert len(shown) <= 4 and len(found[0].text) >= 8 and found[0].text not in found[0].masked, what


@pytest.mark.parametrize(
    "text",
    ["the password is {}", "The Wi-Fi password for guests is: {}!", "Das Passwort vom Router lautet {}.",
     "Kennwort ist {}", "My passphrase is `{}`"],
)  # fmt: skip
def test_a_password_that_a_sentence_says_is_one(text: str) -> None:
    drawn = "Sommer" + "2024"
    assert [found.text for found in credentials_in(text.format(drawn))] == [drawn]


@pytest.mark.parametrize(
    "text",
    ["the password is case-sensitive", "the password is in the vault, under ops/deploy2",
     "the password length is 12chars-x",
     "The password policy is NIST-800-63b", "a password is 12-characters long", "the password is: 1Password-2",
     "the password is changed. 2024-Q3abc", "Mein Passwort ist auf dem Zettel3"],
)  # fmt: skip
def test_a_sentence_about_a_password_says_none(text: str) -> None:
    assert credentials_in(text) == []


def test_ordinary_text_and_placeholders_are_none() -> None:
    assert {text: found for text in ORDINARY if (found := credentials_in(text))} == {}


def test_many_secrets_are_told_of_in_few_words_and_may_stay(memory: Memory) -> None:
    lines = "\n".join(f"DB_{number}_PASS" + f"WORD=aB3xY-{number:05}" for number in range(3_000))
    with pytest.raises(HoldsSecret, match=r"and 2980 more. Say where") as refused:
        memory.write_overview(lines)
    assert "aB3" not in str(refused.value)
    (memory.root / "memory/MEMORY.md").write_text(lines)
    assert memory.write_overview(lines + "\nmore").commit
    with pytest.raises(HoldsSecret):
        memory.write_overview(lines + "\nNEW_PASS" + "WORD=aB3xY-new-one")


def test_no_sample_memory_is_taken_for_a_secret() -> None:
    files = list(FIXTURES.rglob("*.md"))
    assert len(files) > 30
    assert [file for file in files if credentials_in(file.read_text("utf-8", "replace"))] == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("remember", {"name": "Key", "description": "what", "content": TOKEN}),
        ("remember", {"name": "Key", "description": f"what: {TOKEN}", "content": "x"}),
        ("remember", {"name": TOKEN, "description": "what", "content": "x"}),
        ("remember", {"name": "Key", "description": "what", "content": "x", "aliases": [TOKEN]}),
        ("remember", {"name": "Luna", "description": "dog", "content": f"Thursday {TOKEN}"}),
        ("memory", {"content": f"# Overview\n{TOKEN}"}),
    ],
)
def test_secret_is_refused_masked_and_nowhere_on_the_disk(memory: Memory, tool: str, arguments: dict[str, str]) -> None:
    head = git(memory.root, "rev-parse", "HEAD")
    result = memory.call(tool, arguments)
    assert result.is_error and "GitHub token (ghp_…)" in result.text and 'secrets = "warn"' in result.text
    assert TOKEN not in result.text + str(result.data)
    assert git(memory.root, "rev-parse", "HEAD") == head
    files = [file for file in memory.root.rglob("*") if file.is_file()]
    assert [file for file in files if TOKEN.encode() in file.read_bytes()] == []


def test_secret_that_would_be_the_first_memory_makes_no_workspace(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory") as memory, pytest.raises(HoldsSecret):
        memory.remember("Key", "what", TOKEN)
    assert not (tmp_path / "memory").exists()


def test_secret_that_a_person_wrote_stays_and_is_warned_about(memory: Memory) -> None:
    with (memory.root / "memory/entries/luna.md").open("a") as file:
        file.write(f"{TOKEN}\n")
    commit = memory.adopt()
    assert commit and TOKEN in memory.get("luna").content
    assert [finding.path for finding in files_operations.secrets(memory, commit.paths)] == ["memory/entries/luna.md"]
    again = memory.remember("Luna", "dog", f"Friday. {TOKEN}")
    assert again.commit and again.warnings == ()


def test_no_text_is_looked_into_while_others_wait_for_the_lock(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    looked, look = list[bool](), credentials.credentials_in

    def watched(text: str) -> list[credentials.Credential]:
        try:
            with WriterLock(memory.root / ".git/crabmem/lock").held(0):
                looked.append(False)
        except Busy:
            looked.append(True)
        return look(text)

    monkeypatch.setattr(credentials, "credentials_in", watched)
    (memory.root / "crabmem.toml").write_text('soul = "propose"\n')
    writes: list[Callable[[], object]] = [
        lambda: memory.remember("Luna", "dog", "Friday"),
        lambda: memory.remember_all([Fact("Rex", "dog", "Monday"), Fact("Luna", "dog", "Sunday")], "a list"),
        lambda: keyvalue.keep(memory, {Key(("pets",), "ada"): Fact("Ada", "cat", "Tuesday")}),
        lambda: memory.rename("Rex", "Max"),
        lambda: memory.write_overview("# Overview\n"),
        lambda: files_operations.rewrite(memory, "more", lambda tree: {"MEMORY.md": tree.text("MEMORY.md") + "more\n"}),
        lambda: files_operations.rewrite_file(memory, "less", "MEMORY.md", lambda text: "less\n"),
        lambda: notes.save_fact(memory, "The boiler was mended in May."),
        lambda: memory.write_note("Called the vet."),
        lambda: notes.learn(memory, Lesson("errors", "look first")),
        lambda: proposals.propose_identity(memory, "# Who I am\n"),
    ]
    for write in writes:
        looked.clear()
        write()
        assert looked and not any(looked)


def test_secret_in_quotes_of_its_file_may_stay_there(memory: Memory) -> None:
    secret = SHAPES["private key"]
    (memory.root / "crabmem.toml").write_text('secrets = "off"\n')
    memory.remember("Key", secret, "x")
    (memory.root / "crabmem.toml").write_text("")
    assert memory.remember("Key", secret, "y").commit
    with pytest.raises(HoldsSecret):
        memory.remember("Other", secret, "y")


def test_setting_warns_or_is_silent(memory: Memory) -> None:
    (memory.root / "crabmem.toml").write_text('secrets = "warn"\n')
    result = memory.call("remember", {"name": "Key", "description": "what", "content": TOKEN})
    assert not result.is_error and "warning: it holds what looks like a secret: GitHub token (ghp_…)" in result.text
    assert len(result.data["warnings"]) == 1
    (memory.root / "crabmem.toml").write_text('secrets = "off"\n')
    saved = memory.remember("Other", "what", SHAPES["Stripe key"])
    assert saved.warnings == () and files_operations.secrets(memory, [saved.path]) == []


def test_command_line_refuses_and_warns_on_stderr(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    run = CliRunner().invoke
    words = ["--dir", str(memory.root), "remember", "Key", "-d", "what", "-c", TOKEN]
    refused = run(cli, words)
    assert (refused.exit_code, refused.stdout) == (1, "") and "ghp_…" in refused.stderr
    (memory.root / "crabmem.toml").write_text('secrets = "warn"\n')
    warned = run(cli, words)
    assert warned.exit_code == 0 and "warning: it holds what looks like a secret" in warned.stderr
    monkeypatch.setenv("EDITOR", f"{sys.executable} -c \"import sys; open(sys.argv[1], 'a').write('{TOKEN}')\"")
    edited = run(cli, ["--dir", str(memory.root), "edit", "luna"])
    assert "memory/entries/luna.md: it holds what looks like a secret" in edited.stderr


def test_many_blanks_at_the_end_of_a_line_part_no_key_and_take_no_time() -> None:
    key = SHAPES["GitHub token"]
    assert credentials_in(f"{key[:20]}{' ' * 100}\n{key[20:]}")
    with costing_less_than(0.2):
        assert not credentials_in("x" + " " * 262_000 + "y")
