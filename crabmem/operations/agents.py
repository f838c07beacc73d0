"""Named agents: each has its own workspace, with its own history, inside the workspace of all."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

from ..disk import fs
from ..errors import AlreadyThere, CrabmemError, InvalidArguments, NotFound, Unwritable
from ..git.commits import Note, identity, one_line
from ..results import CREATOR, Agent, Begun, Purge
from ..session import rules
from ..session.engine import Engine, Options
from ..session.init import init, init_with, seeds
from ..session.locate import agent_folders
from ..session.session import Session
from ..text.entry import MAX_NAME, check_text
from ..text.hashes import short
from ..text.patterns import matches
from ..text.values import replace
from ..workspace.layout import AGENTS, Layout
from ..workspace.workspace import ALL, PROJECTS, Workspace, agent_folder
from .adoption import adopt
from .history import log
from .maintenance import stats
from .purge import purge

T = TypeVar("T")


def agents(session: Session) -> list[Agent]:
    """The agents that have a workspace of their own here, by name."""
    return [_agent(session, folder) for folder in agent_folders(session.engine.workspace)]


def new_agent(session: Session, name: str, description: str = "") -> Begun:
    """Make an agent's own workspace, with the files that the profile has it begin with; the rest is this workspace's.

    Files that lie in the agent's folder already stay as they are.

    Raises:
        AlreadyThere: an agent has the folder of that name.
        InvalidArguments: the name is empty, or the profile keeps no description.
    """
    from ..prompt.seeding import mentions  # late: profiles are

    root = _agent_root(session, name)
    check_text("name", name, MAX_NAME)
    check_text("description", description)
    if description and not mentions(session.profile, "description"):
        raise InvalidArguments(
            f"the profile {session.engine.profile_name} keeps no description of an agent; leave it out"
        )
    with _opened(session, root) as agent:
        if _is_made(agent):
            raise AlreadyThere(f"there is an agent in {root} already; `crabmem agents` lists them")
        init(session)
        note = Note(f"init: the agent {one_line(name)}", identity(CREATOR))
        return init_with(agent, lambda scan: seeds(agent, scan, name, description), note)


def clone_agent(session: Session, source: str, target: str) -> Begun:
    """Copy files of the agent `source` to the agent `target`, in one commit there; the key `clone` of the profile says
    which.

    `source` of "." is the workspace of all. An agent `target` that is not there is made; files that it has stay as they
    are. Outside edits of `source` are recorded first.

    Raises:
        NotFound: there is no agent `source`.
        InvalidArguments: both names mean the same workspace, or a name is empty.
    """
    root = _agent_root(session, target)
    if target == ALL or (source != ALL and _agent_root(session, source) == root):
        raise InvalidArguments(f"{target} cannot be a copy of {source}; name another agent")
    init(session)
    with ExitStack() as stack:
        origin = session if source == ALL else stack.enter_context(_opened(session, _existing(session, source)))
        adopt(origin)
        head = short(origin.timeline.head() or "")
        agent = stack.enter_context(_opened(session, root))
        files = _cloned(origin, agent.layout)
        return init_with(agent, lambda scan: files, rules.note(agent, "clone", f"from {one_line(source)} at {head}"))


def purge_everywhere(
    session: Session,
    name: str | None = None,
    *,
    text: str | None = None,
    pattern: str | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> dict[str, Purge]:
    """Purge in each workspace of agents and projects, and then here, one after the other, each under its own lock.

    Return what was done, by the folder of each workspace that held it; "." is this one. An error in one workspace
    leaves those after it as they were: remove its cause, and purge again.

    Raises: as `purge`, NotFound only when no workspace holds it.
    """
    erase = partial(purge, name=name, text=text, pattern=pattern, force=force, dry_run=dry_run)
    found, nothing = dict[str, Purge](), NotFound("there is nothing to purge")
    for place, folder in nested(session.engine.workspace):
        with suppress(NotFound), _opened(session, folder) as own:
            found[place] = erase(own)
    try:
        found[ALL] = erase(session)
    except NotFound as error:
        nothing = error
    if not found:
        raise nothing
    purged = str(session.root)  # a project sees this memory, and counted its files before they were purged
    for place, each in found.items():
        others = {folder: count for folder, count in each.beside.items() if folder != purged}
        found[place] = replace(each, beside=others)
    return found


def in_each(session: Session, operation: Callable[[Session], T]) -> Iterator[tuple[str, T | CrabmemError]]:
    """Do an `operation` in this workspace, and in that of each agent and project in it.

    Yields the place of each ("." for this one) and its result, as soon as it is done. An error is yielded as a result,
    and does not stop the others.
    """
    for place, folder in chain([(ALL, None)], nested(session.engine.workspace)):
        done: T | CrabmemError
        try:
            with _opened(session, folder) if folder else nullcontext(session) as own:
                done = operation(own)
        except CrabmemError as error:  # of the operation, or of a workspace that cannot be opened
            done = error
        yield place, done


def nested(workspace: Workspace) -> Iterator[tuple[str, Path]]:
    """Yield the place, as `agents/mia`, and the folder of each agent's and project's workspace, the innermost first."""
    for home in (AGENTS, PROJECTS):
        for folder in agent_folders(workspace, home):
            place = f"{home}/{folder.name}"
            yield from ((f"{place}/{below}", each) for below, each in nested(Workspace(folder)))
            yield place, folder


def _is_made(session: Session) -> bool:
    """Whether the workspace is complete: the process that made it may have been killed before the first commit."""
    is_there = fs.is_own_folder(session.engine.workspace.private)
    return is_there and bool(session.timeline.head() or not seeds(session, session.engine.store.scan()))


def _cloned(session: Session, layout: Layout) -> dict[str, bytes]:
    """The bytes of the files to copy to another agent, by path; the overview by its path in that agent's `layout`."""
    patterns = [session.layout.named(pattern) for pattern in session.profile.clone]
    renamed = {session.layout.overview: layout.overview}
    return session.look(
        lambda now: {
            renamed.get(path, path): now.read(path) or b"" for path in sorted(now.files) if matches(path, patterns)
        }
    )


def _agent(session: Session, folder: Path) -> Agent:
    with _opened(session, folder) as agent:
        newest = next(iter(log(agent, limit=1)), None)
        return Agent(folder.name, str(folder), stats(agent).entries, newest.time if newest else None)


def _existing(session: Session, name: str) -> Path:
    root = _agent_root(session, name)
    there = [folder.name for folder in agent_folders(session.engine.workspace)]
    if root.name not in there:
        raise NotFound(f"no agent named: {name} (there are: {', '.join(there) or 'none'})")
    return root


def _agent_root(session: Session, name: str) -> Path:
    """The folder of the agent called `name`, whether or not it is there.

    Raises:
        Unwritable: the folder, or the one of all agents, is a symbolic link: it may lead out of the workspace.
    """
    root = session.root / AGENTS / agent_folder(name)
    for way in (root.parent, root):
        if way.is_symlink():
            raise Unwritable(f"{way} is a link, which crabmem does not follow; move the folder there")
    return root


def _opened(session: Session, root: Path) -> Session:
    """A session of the same actor and kind on the workspace at `root`, opened with the same options."""
    own = session.engine
    options = Options(soul_editable=own.options.soul_editable, profile=own.options.profile, project=own.options.project)
    return Session(Engine(root, own.clock, own.environment, options), session.actor, session.kind)
