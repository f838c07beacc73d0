"""A person's Git settings, hooks, filters and environment do nothing to an agent's write, and see nothing of it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from .attacks import folder
from .repository import complaints, git

BYTES = "Every  \tbyte\r\nas given: é e\u0301 \u2028 $Id$ \n\n  "
HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-checkout", "post-commit", "post-index-change",
    "post-rewrite", "pre-auto-gc", "pre-commit", "prepare-commit-msg", "reference-transaction", "update",
)  # fmt: skip

# Runs apart, so that the environment, the home folder and what the process starts are its own.
_WRITER = """
import json, sys
seen = []
STARTS = (
    "subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.system", "os.spawn", "pty.spawn",
)
def audit(event, given):
    if event in STARTS:
        seen.append(event)
    if event == "open" and isinstance(given[0], (str, bytes)) and "gitconfig" in str(given[0]):
        seen.append(str(given[0]))
sys.addaudithook(audit)
from crabmem import Memory
root, text = sys.argv[1], json.loads(sys.argv[2])
with Memory(root, agent="agent", session="s-1", soul_editable=True) as memory:
    memory.init(claim=True)
    commits = [
        memory.remember("Luna", "the dog", text, aliases=["dog"]).commit,
        memory.write_overview("# Overview").commit,
        memory.write_identity("# A crab").commit,
    ]
    with open(memory.file("memory/entries/luna.md"), "a", newline="") as file:
        file.write("by hand\\r\\n")
    memory.adopt()
    commits.append(memory.remember("Luna", "the dog", text).commit)
    memory.remember("Other", "gone soon", "x")
    memory.forget("Other")
    memory.undo()
    memory.rollback("HEAD~1")
    memory.recall("dog"), memory.prompt(), memory.before_turn("dog")
    memory.doctor(), memory.log(), memory.diff("HEAD~2")
    print(json.dumps({"seen": seen, "commits": commits, "content": memory.get("Luna").content}))
"""
_CONFIGS = {
    "excludesFile": "[core]\n\texcludesFile = {home}/ignore\n",
    "autocrlf": "[core]\n\tautocrlf = true\n\teol = crlf\n\tsafecrlf = true\n",
    "signing": "[commit]\n\tgpgsign = true\n[user]\n\tsigningkey = X\n[gpg]\n\tprogram = {mark}\n\tformat = openpgp\n",
    "signing with ssh": '[commit]\n\tgpgsign = true\n[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tprogram = {mark}\n',
    "hooksPath": "[core]\n\thooksPath = {home}/hooks\n",
    "filter": '[filter "x"]\n\tclean = {mark}\n\tsmudge = {mark}\n\tprocess = {mark}\n\trequired = true\n'
    "[core]\n\tattributesFile = {home}/attributes\n",
    "fsmonitor": "[core]\n\tfsmonitor = {mark}\n\tuntrackedCache = true\n",
    "programs": "[core]\n\tpager = {mark}\n\teditor = {mark}\n\taskPass = {mark}\n\tgitProxy = {mark}\n"
    "[sequence]\n\teditor = {mark}\n[diff]\n\texternal = {mark}\n[credential]\n\thelper = {mark}\n[gc]\n\tauto = 1\n",
    "aliases": "[alias]\n\tcommit = !{mark}\n\tstatus = !{mark}\n\tadd = !{mark}\n",
    "templateDir": "[init]\n\ttemplateDir = {home}/template\n\tdefaultBranch = elsewhere\n",
    "include": "[include]\n\tpath = {home}/included\n[includeIf \"gitdir:/**\"]\n\tpath = {home}/included\n",
    "identity": "[user]\n\tname = Somebody Else\n\temail = x@y\n\tuseConfigOnly = true\n"
    "[i18n]\n\tcommitEncoding = latin1\n",
}  # fmt: skip
_ODD = {
    "worktree": "[core]\n\tworktree = {home}\n\tbare = true\n",
    "broken": "[core\n\tthis is = no \x00 config [[[\n",
}
_ALL = "all of them"
each_setting = pytest.mark.parametrize(
    "name", [_ALL, *(pytest.param(name, marks=pytest.mark.long) for name in _CONFIGS)]
)


class Home:
    """A person's home folder full of settings, whose programs all leave a mark when run."""

    def __init__(self, place: Path) -> None:
        self.place, self.root = place / "home", place / "workspace"
        self.marker, self.mark = place / "marker", place / "mark"
        self.mark.write_text(f"#!/bin/sh\necho ran >> {self.marker}\nexit 1\n")
        self.mark.chmod(0o755)
        for name in ("hooks", "template/hooks"):
            (self.place / name).mkdir(parents=True)
            self.add_hooks(self.place / name)
        (self.place / "ignore").write_text("*\n*.md\n")
        (self.place / "attributes").write_text("* filter=x text=auto eol=crlf ident working-tree-encoding=UTF-16\n")
        (self.place / "included").write_text(_CONFIGS["signing"].format(mark=self.mark))

    def add_hooks(self, place: Path) -> None:
        """Hooks of every kind that leave the mark."""
        place.mkdir(exist_ok=True)
        for hook in HOOKS:
            shutil.copy(self.mark, place / hook)

    def config(self, name: str) -> str:
        """One of the settings, with this home's programs."""
        wanted = _CONFIGS.values() if name == _ALL else [_CONFIGS[name]]
        return "".join(wanted).format(home=self.place, mark=self.mark)

    def write(self, **environment: str) -> dict[str, object]:
        """Let an agent write, recall and go back in a process with this home; what it saw."""
        usual = {"PATH": os.environ["PATH"], "HOME": str(self.place), "PYTHONPATH": os.pathsep.join(sys.path)}
        usual["XDG_STATE_HOME"] = str(self.place.parent / "state")  # what crabmem keeps there is no setting
        command = [sys.executable, "-c", _WRITER, str(self.root), json.dumps(BYTES)]
        done = subprocess.run(command, capture_output=True, text=True, env={**usual, **environment}, cwd=self.place)
        assert done.returncode == 0, done.stderr[-2_000:]
        told: dict[str, object] = json.loads(done.stdout)
        return told

    def assert_written(self, told: Mapping[str, object]) -> None:
        """The writes are in the workspace's own branch, byte for byte, and nothing else has run."""
        assert told["seen"] == [], "P17: a program was started, or somebody's settings were read"
        assert told["content"] == BYTES
        assert not self.marker.exists(), "P17: a program of the person ran"
        assert all(told["commits"]) if isinstance(told["commits"], list) else False
        assert_bytes_in_head(self.root)


def assert_bytes_in_head(root: Path) -> None:
    """Every file of memory is in HEAD exactly as on the disk, and Git's own check finds nothing."""
    (root / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
    head = git(root, "ls-tree", "-rz", "HEAD").split("\0")[:-1]
    blobs = {line.partition("\t")[2]: line.split()[2] for line in head}
    files = [root / "Crab.md", *(root / "memory").rglob("*.md")]
    for file in files:
        path = file.relative_to(root).as_posix()
        assert git(root, "hash-object", "--no-filters", path).strip() == blobs.get(path), f"P17: {path} is not in HEAD"
    assert set(blobs) == {file.relative_to(root).as_posix() for file in files} | {
        ".gitattributes",
        "crabmem.toml",
    } & set(blobs)
    assert complaints(root) == []


@pytest.fixture
def home() -> Iterator[Home]:
    with folder() as place:
        yield Home(place)


def test_the_traps_catch_git_itself(home: Home) -> None:
    git(home.place.parent, "init", "-q", str(home.root))
    (home.place / ".gitconfig").write_text(home.config(_ALL))
    (home.root / "x.txt").write_text("x\n")
    environment = {"PATH": os.environ["PATH"], "HOME": str(home.place)}
    for words in (["add", "-f", "x.txt"], ["commit", "-qm", "x"]):
        subprocess.run(["git", "-C", str(home.root), *words], env=environment, capture_output=True)
    assert home.marker.exists()


@each_setting
def test_no_setting_of_the_person_touches_an_agents_write(home: Home, name: str) -> None:
    (home.place / ".gitconfig").write_text(home.config(name))
    told = home.write(GIT_CONFIG_GLOBAL=str(home.place / ".gitconfig"), XDG_CONFIG_HOME=str(home.place))
    home.assert_written(told)


@each_setting
def test_no_setting_of_the_repository_touches_an_agents_write(home: Home, name: str) -> None:
    git(home.place.parent, "init", "-q", "-b", "main", str(home.root))
    home.add_hooks(home.root / ".git" / "hooks")
    with (home.root / ".git" / "config").open("a") as config:
        config.write(home.config(name))
    (home.root / ".gitattributes").write_text((home.place / "attributes").read_text())
    home.assert_written(home.write())


@pytest.mark.parametrize("where", ["the person's", "the repository's"])
@pytest.mark.parametrize("name", _ODD)
def test_settings_that_point_elsewhere_or_are_broken_change_no_place(home: Home, name: str, where: str) -> None:
    git(home.place.parent, "init", "-q", "-b", "main", str(home.root))
    file = home.place / ".gitconfig" if where == "the person's" else home.root / ".git" / "config"
    file.write_text(_ODD[name].format(home=home.place))
    before = sorted(home.place.rglob("*"))
    home.assert_written(home.write())
    assert sorted(home.place.rglob("*")) == before


@pytest.mark.parametrize("ignored", [".gitignore", "memory/.gitignore", ".git/info/exclude"])
def test_what_git_is_told_to_ignore_is_recorded_all_the_same(home: Home, ignored: str) -> None:
    home.write()
    (home.root / ignored).write_text("*\n!.gitignore\n*.md\nmemory/\nCrab.md\n")
    told = home.write()
    assert told["seen"] == [] and git(home.root, "show", "HEAD:memory/entries/luna.md").endswith("  \n")
    (home.root / ignored).unlink()
    assert_bytes_in_head(home.root)


_ELSEWHERE = {
    "GIT_DIR": "{other}/.git", "GIT_WORK_TREE": "{other}", "GIT_INDEX_FILE": "{other}/index",
    "GIT_OBJECT_DIRECTORY": "{other}/.git/objects", "GIT_ALTERNATE_OBJECT_DIRECTORIES": "{other}/.git/objects",
    "GIT_COMMON_DIR": "{other}/.git", "GIT_NAMESPACE": "other", "GIT_CEILING_DIRECTORIES": "/",
    "GIT_AUTHOR_NAME": "Somebody Else", "GIT_AUTHOR_EMAIL": "x@y", "GIT_AUTHOR_DATE": "@1 +0000",
    "GIT_COMMITTER_NAME": "Somebody Else", "GIT_COMMITTER_DATE": "@1 +0000", "GIT_EDITOR": "{mark}",
    "GIT_PAGER": "{mark}",
    "GIT_EXTERNAL_DIFF": "{mark}", "GIT_SSH_COMMAND": "{mark}", "GIT_ASKPASS": "{mark}",
    "GIT_TEMPLATE_DIR": "{home}/template",
    "GIT_CONFIG_GLOBAL": "{home}/included", "GIT_CONFIG_SYSTEM": "{home}/included", "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": "{home}/hooks", "GIT_DEFAULT_HASH": "sha256",
    "EDITOR": "{mark}", "VISUAL": "{mark}", "PAGER": "{mark}", "GNUPGHOME": "{other}", "PREFIX": "{other}",
}  # fmt: skip


@pytest.mark.parametrize("all_at_once", [True, False])
def test_an_environment_that_points_elsewhere_moves_no_write(home: Home, all_at_once: bool) -> None:
    other = home.place.parent / "other"
    git(home.place.parent, "init", "-q", str(other))
    git(other, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "theirs")
    before = _all_in(other)
    environment = {key: value.format(other=other, mark=home.mark, home=home.place) for key, value in _ELSEWHERE.items()}
    some = ("GIT_DIR", "GIT_INDEX_FILE")
    home.assert_written(home.write(**(environment if all_at_once else {key: environment[key] for key in some})))
    assert _all_in(other) == before
    assert set(git(home.root, "log", "--format=%an").split()) <= {"agent", "person", "crabmem"}


@pytest.mark.parametrize("place", ["unreadable", "missing", "a file", "/dev/null", ""])
def test_a_home_that_cannot_be_read_is_not_needed(home: Home, place: str) -> None:
    odd = home.place.parent / "odd"
    if place == "unreadable":
        odd.mkdir(mode=0o000)
    if place == "a file":
        odd.write_text("no folder")
    home.assert_written(home.write(HOME=str(odd) if place[:1] not in ("/", "") or place == "a file" else place))


@pytest.mark.parametrize("dirty", [True, False])
def test_a_repository_around_the_workspace_is_never_touched(home: Home, dirty: bool) -> None:
    around = home.place.parent / "project"
    git(home.place.parent, "init", "-q", str(around))
    (around / "code.txt").write_text("theirs\n")
    git(around, "add", "-A")
    git(around, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "theirs")
    if dirty:
        (around / "code.txt").write_text("changed\n")
        (around / "staged.txt").write_text("staged\n")
        git(around, "add", "staged.txt")
    home.root = around / "docs" / "memory"
    home.root.parent.mkdir()
    before = _all_in(around / ".git"), git(around, "status", "--porcelain", "--", "code.txt", "staged.txt")
    home.assert_written(home.write())
    after = _all_in(around / ".git"), git(around, "status", "--porcelain", "--", "code.txt", "staged.txt")
    assert {key: value for key, value in after[0].items() if key != "index"} == {
        key: value for key, value in before[0].items() if key != "index"
    }
    assert after[1] == before[1]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_is_read_and_written_without_running_anything(home: Home) -> None:
    home.write()
    home.add_hooks(home.root / ".git" / "hooks")
    for item in (home.root, *home.root.rglob("*")):
        os.chown(item, 12_345, 12_345)
    told = home.write()
    assert told["seen"] == [] and not home.marker.exists()
    owners = {item.stat().st_uid for item in (home.root / "memory").rglob("*")}
    assert owners <= {0, 12_345}


def _all_in(place: Path) -> dict[str, bytes]:
    """Every file below `place`."""
    files = (file for file in sorted(place.rglob("*")) if file.is_file())
    return {file.relative_to(place).as_posix(): file.read_bytes() for file in files}
