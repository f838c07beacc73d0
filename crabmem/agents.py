"""Named agents: each has a workspace of its own inside that of all, with its own history."""

import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from .disk import fs
from .errors import AlreadyThere, CrabmemError, InvalidArguments, NotFound, Unwritable
from .git import Note, identity
from .git.commit import one_line
from .memory import Memory
from .results import CREATOR, Agent, Begun, Purge
from .text.entry import MAX_NAME, check_text
from .text.hashes import short
from .text.patterns import matches
from .workspace.layout import AGENTS, Layout
from .workspace.workspace import agent_folder

#: What the workspace of all is called among its agents.
ALL = "."


class Agents(Memory):
    """A memory that agents may have their own in."""

    def agents(self) -> list[Agent]:
        """The agents that have a workspace of their own here, by name."""
        return [self._told(folder) for folder in self._agent_folders()]

    @property
    def is_begun(self) -> bool:
        """Whether there is a memory in this folder: a history of ours, or files that would be kept in one."""
        try:
            return fs.is_own_folder(self._workspace.private) or bool(self._steadily(self._store.scan).files)
        except (CrabmemError, OSError):  # something is there, and whoever needs it says what is wrong with it
            return True

    @property
    def neighbours(self) -> list[str]:
        """The names of the agents that have a workspace beside this one; none where this is no agent's own."""
        if self._workspace.around is None:
            return []
        return [each.name for each in _folders(self.root.parent) if each.name != self.root.name]

    def new_agent(self, name: str, description: str = "") -> Begun:
        """Make an agent's own workspace, with what the profile has it begin with; what it lacks, it shows of this one.

        Files that lie in its folder already stay as they are.

        Raises:
            AlreadyThere: there is one in the folder of that name.
            InvalidArguments: the name is empty, or the profile keeps no description.
        """
        from .operations.seeding import tells  # late: profiles are

        root = self._agent_root(name)
        check_text("name", name, MAX_NAME)
        check_text("description", description)
        if description and not tells(self.profile, "description"):
            raise InvalidArguments(f"the profile {self.profile_name} keeps no description of an agent; leave it out")
        with self._opened(root) as agent:
            if agent._is_made():
                raise AlreadyThere(f"there is an agent in {root} already; `crabmem agents` lists them")
            self.init()
            note = Note(f"init: the agent {one_line(name)}", identity(CREATOR))
            return agent._begin(lambda scan: agent._seeds(scan, name, description), note)

    def clone_agent(self, source: str, target: str) -> Begun:
        """Give the agent `target` what the profile says is the memory of the agent `source`, in one commit there.

        `source` may be ".", this workspace; `target` may be new. What is there already stays as it is.

        Raises:
            NotFound: there is no agent `source`.
            InvalidArguments: both are the same, or a name is empty.
        """
        root = self._agent_root(target)
        if target == ALL or (source != ALL and self._agent_root(source) == root):
            raise InvalidArguments(f"{target} cannot be a copy of {source}; name another agent")
        self.init()
        with ExitStack() as stack:
            origin = self if source == ALL else stack.enter_context(self._opened(self._existing(source)))
            origin.adopt()
            head = short(origin._timeline.head() or "")
            agent = stack.enter_context(self._opened(root))
            files = origin._cloned(agent.layout)
            return agent._begin(lambda scan: files, agent._note("clone", f"from {one_line(source)} at {head}"))

    def purge_plans(
        self, name: str | None = None, *, text: str | None = None, pattern: str | None = None
    ) -> dict[str, Purge]:
        """What `purge_everywhere` would do, by the workspaces that have it; nothing is changed.

        Raises: as `purge_plan`, NotFound only when none has it.
        """
        return self._in_each(lambda memory: memory.purge_plan(name, text=text, pattern=pattern))

    def purge_everywhere(
        self, name: str | None = None, *, text: str | None = None, pattern: str | None = None, force: bool = False
    ) -> dict[str, Purge]:
        """Purge here and in the workspaces of agents, one after the other, each under its own lock: theirs first.

        What was done by the folder of each that had it, "." for this one. What one refuses leaves those after it as
        they were; once that is mended, do it again.

        Raises: as `purge`, NotFound only when none has it.
        """
        return self._in_each(lambda memory: memory.purge(name, text=text, pattern=pattern, force=force))

    def _in_each(self, work: Callable[["Agents"], Purge]) -> dict[str, Purge]:
        """What `work` did in each workspace of an agent, and at last in this one, where there was something to do."""
        found, nothing = dict[str, Purge](), NotFound("there is nothing to purge")
        for folder in self._agent_folders():
            with suppress(NotFound), self._opened(folder) as agent:
                theirs = agent._in_each(work)
                found |= {f"{AGENTS}/{folder.name}/{place}".removesuffix(f"/{ALL}"): theirs[place] for place in theirs}
        try:
            found[ALL] = work(self)
        except NotFound as error:
            nothing = error
        if not found:
            raise nothing
        return found

    def _is_made(self) -> bool:
        """Whether there is this workspace, whole: who made it may have been killed before the first commit."""
        is_begun = fs.is_own_folder(self._workspace.private)
        return is_begun and bool(self._timeline.head() or not self._seeds(self._store.scan()))

    def _cloned(self, layout: Layout) -> dict[str, bytes]:
        """The files that another agent is given a copy of; the overview goes by its name in that agent's `layout`."""
        patterns = [self.layout.named(pattern) for pattern in self.profile.clone]
        scan, renamed = self._store.scan(), {self.layout.overview: layout.overview}
        chosen = (path for path in sorted(scan.files) if matches(path, patterns) and self._sees(path))
        return {renamed.get(path, path): scan.data(path) or b"" for path in chosen}

    def _told(self, folder: Path) -> Agent:
        with self._opened(folder) as agent:
            newest = next(iter(agent.log(limit=1)), None)
            return Agent(folder.name, str(folder), agent.stats().entries, newest.time if newest else None)

    def _agent_folders(self) -> list[Path]:
        """The folders of agents, and none that only links lead to."""
        return _folders(self.root / AGENTS)

    def _existing(self, name: str) -> Path:
        root, there = self._agent_root(name), {folder.name: folder for folder in self._agent_folders()}
        if root.name not in there:
            raise NotFound(f"no agent named: {name} (there are: {', '.join(there) or 'none'})")
        return root

    def _agent_root(self, name: str) -> Path:
        root = self.root / AGENTS / agent_folder(name)
        for way in (root.parent, root):
            if way.is_symlink():
                raise Unwritable(f"{way} is a link, which crabmem does not follow; move the folder there")
        return root

    def _opened(self, root: Path) -> "Agents":
        """The memory of an agent, spoken by whoever speaks here."""
        given = (self._soul_editable, None, None, self._environment, self._given_profile, self.kind)
        return Agents(root, self._voice, self._clock, *given)


def _folders(home: Path) -> list[Path]:
    """The folders in `home`, by name; none that only links lead to."""
    if os.path.islink(home) or not os.path.isdir(home):
        return []
    seen = (each for each in home.iterdir() if each.name[0] != "." and not each.is_symlink())
    return sorted(each for each in seen if each.is_dir())
