"""A history is rewritten by a rule, whatever the rule is about: the rewrite knows Git, and nothing of memory."""

from pathlib import Path

import pytest

from crabmem.git.history import History
from crabmem.git.repository import remotes
from crabmem.workspace.workspace import Workspace
from tests.conftest import assert_clean, git

WORD = "walrus"


class WithoutWord:
    """A rule and a search: one file goes, another is moved, and a word becomes another wherever it stands."""

    is_anywhere = True

    def new_path(self, path: str, oid: str) -> str | None:
        return None if path == "gone.md" else path.replace("old", "new")

    def new_file(self, path: str, data: bytes) -> bytes:
        return data.replace(WORD.encode(), b"seal")

    def new_message(self, text: str) -> str:
        return text.replace(WORD, "seal")

    new_label = new_name = new_message

    def is_in_blob(self, oid: str, data: bytes) -> bool:
        return self.is_in_file(data)

    def is_in_file(self, data: bytes) -> bool:
        return WORD.encode() in data

    def is_in_message(self, text: str) -> bool:
        return WORD in text

    is_in_name = is_in_message


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository that says the word in files, messages, a tag and a branch, and who wrote it."""
    History(Workspace(tmp_path)).ownership.prepare()

    def commit(message: str) -> str:
        git(tmp_path, "add", "-A")
        git(tmp_path, "-c", f"user.name=A {WORD}", "-c", "user.email=a@example.org", "commit", "-qm", message)
        return git(tmp_path, "rev-parse", "HEAD").strip()

    (tmp_path / "old").mkdir()
    (tmp_path / "old/a.md").write_text(f"a {WORD}\n")
    (tmp_path / "gone.md").write_text("goes\n")
    first = commit(f"one {WORD}")
    (tmp_path / "old/a.md").write_text(f"a {WORD}\nand more\n")
    second = commit(f"two, after {first} and {first[:8]}")
    for words in (
        ("tag", "-a", "-m", f"the {WORD} of {second[:9]}", f"v1-{WORD}"),
        ("branch", f"about-{WORD}", first),
    ):
        git(tmp_path, "-c", "user.name=A", "-c", "user.email=a@example.org", *words)
    return tmp_path


def test_a_history_becomes_what_a_rule_says(root: Path) -> None:
    history, rule = History(Workspace(root)), WithoutWord()
    rewrite = history.rewrite()
    assert len([look for look in rewrite.inspect_objects(rule) if look.place]) == 5
    with rewrite.alone():
        new = rewrite.new_history(rewrite.survey(), rule, packs=True)
        assert new.changes_anything and new.rewriter.versions == 2 and new.rewriter.messages == 1
        rewrite.put_in_place(new, [], [], lambda files: None)
    assert [look.place for look in rewrite.inspect_objects(rule) if look.place] == []
    second, first = git(root, "rev-list", "HEAD").split()
    assert git(root, "log", "--format=%s %an") == f"two, after {first} and {first[:8]} A seal\none seal A seal\n"
    assert git(root, "ls-tree", "-r", "--name-only", "HEAD") == "new/a.md\n"
    assert git(root, "tag", "-l", "-n1") == f"v1-seal         the seal of {second[:9]}\n"
    assert git(root, "for-each-ref", "--format=%(refname:short)", "refs/heads") == "about-seal\nmain\n"
    git(root, "checkout", "-q", "--force", "HEAD", "--", ".")
    (root / "gone.md").unlink()
    (root / "old/a.md").unlink()
    history.close()
    assert_clean(root)


def test_a_rule_that_changes_nothing_leaves_every_id(root: Path) -> None:
    class Nothing(WithoutWord):
        def new_path(self, path: str, oid: str) -> str | None:
            return path

        def new_file(self, path: str, data: bytes) -> bytes:
            return data

        def new_message(self, text: str) -> str:
            return text

        new_label = new_name = new_message

    history = History(Workspace(root))
    rewrite = history.rewrite()
    new = rewrite.new_history(rewrite.survey(), Nothing(), packs=False)
    assert not new.changes_anything
    assert all(old == each for old, each in new.rewriter.ids.items())
    history.close()


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ('[remote "origin"]\n\turl = one\n[remote "b c"]\n\tfetch = x\n[remote "origin"]\n\turl = two\n',
         {"origin": "two", "b c": ""}),
        ("[remote]\n\tpushDefault = origin\n", {}),
        ("[include]\n\tpath = elsewhere\n", {}),
        ('[remote "origin', {}),
        ("", {}),
    ],
)  # fmt: skip
def test_remotes_are_those_that_the_configuration_names(tmp_path: Path, config: str, expected: dict[str, str]) -> None:
    (tmp_path / "elsewhere").write_text('[remote "hidden"]\n\turl = three\n')
    (tmp_path / "config").write_text(config)
    assert remotes(tmp_path) == expected
