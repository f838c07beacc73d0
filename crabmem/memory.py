"""Memory: the table of contents of everything crabmem can do.

Each operation is written once, as a function over a session, in a module of `operations`; here it has its name.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .operations import (
    adoption,
    bisect,
    context,
    digest,
    facts,
    files,
    history,
    links,
    maintenance,
    notes,
    occurrences,
    proposals,
    provenance,
    purge,
    recall,
    revert,
    setup,
    syncing,
)
from .session.engine import Options
from .session.opening import engine_at, recover
from .session.session import Session
from .text.arguments import naming_wrong_arguments
from .tools import guide
from .tools.result import Result
from .tools.tool import Tool
from .tools.toolbox import Toolbox
from .write.actor import Actor

if TYPE_CHECKING:
    from .embeddings.embedder import Embedder


@naming_wrong_arguments
class Memory(Session):
    """An agent's memory in the folder `root`: open it, and what it is asked for often is listed here.

    Facts            remember, remember_all, forget, rename, get, entries
    Recall           recall, before_turn
    Files            overview, write_overview, identity, write_identity, search, write_note
    History          log, diff, blame, when, digest, bisect
    The way back     undo, redo, rollback, revert, restore, purge
    The workspace    init, adopt, doctor
    Other machines   sync, sync_status
    For a model      prompt, context, tools, tools_named, call
    The session      for_actor, of_kind, close, root, file, agent, profile, settings, recovered

    All else is a function of `crabmem.operations` that takes the memory first: `proposals.proposals(memory)`.

    `root` of None is what the command line would take: $CRABMEM_DIR, else `~/.crabmem`, in it the project of
    $CRABMEM_PROJECT and agent $CRABMEM_WORKSPACE. `agent` and `session` say who writes, for the history; without an
    agent's name, `is_person` says that it is the person. `soul_editable` overrides the setting, and so does `embedder`:
    any object that makes vectors of texts. `progress` is called with how many entries of how many were read, when many
    have to be. `profile` overrides the setting: the name of a family, or a TOML file. `kind` is that of the session:
    who is there to read along. `is_parent_named`, for an agent's own workspace: the folder around it was named as the
    workspace, and gives what the agent lacks also before its first commit. `is_alone`: it sees no memory but its own.
    `project` is the folder whose repository the sources of facts are in; None for no project. The folder is made at the
    first write.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        agent: str | None = None,
        session: str | None = None,
        soul_editable: bool | None = None,
        is_person: bool = False,
        progress: Callable[[int, int], None] | None = None,
        embedder: "Embedder | None" = None,
        profile: str | None = None,
        kind: str = "main",
        is_parent_named: bool = False,
        is_alone: bool = False,
        project: str | os.PathLike[str] | None = None,
    ) -> None:
        worked_in = os.fspath(project or "")
        options = Options(soul_editable, progress, embedder, profile, is_parent_named, False, is_alone, worked_in)
        super().__init__(engine_at(root, options), Actor(agent, session, is_person), kind)
        recover(self)

    # Facts
    remember, remember_all = facts.remember, facts.remember_all
    forget, rename = facts.forget, links.rename
    get, entries = facts.get, facts.entries

    # Recall
    recall, before_turn = recall.recall, context.before_turn

    # Files
    overview, write_overview = files.overview, files.write_overview
    identity, write_identity = files.identity, proposals.write_identity
    search, write_note = files.search, notes.write_note

    # History
    log, diff, blame = history.log, history.diff, provenance.blame
    when, digest, bisect = occurrences.when, digest.digest, bisect.bisect

    # The way back
    undo, redo, restore = revert.undo, revert.redo, revert.restore
    rollback, revert = revert.rollback, revert.revert
    purge = purge.purge

    # The workspace
    init, adopt, doctor = setup.init, adoption.adopt, maintenance.doctor

    # Other machines
    sync, sync_status = syncing.sync, syncing.sync_status

    # For a model
    context, prompt = guide.context, guide.prompt

    @property
    def tools(self) -> list[Tool]:
        """The tools to offer to a model, as the settings now allow."""
        return Toolbox(self).offered

    def tools_named(self, names: Iterable[str]) -> list[Tool]:
        """Those of the tools called `names` that the settings now allow; among them some that are not in `tools`.

        Raises:
            NotFound: there is no such tool; the message names those there are.
        """
        return Toolbox(self).chosen(names)

    def call(self, name: str, arguments: Mapping[str, Any] | str, names: Iterable[str] | None = None) -> Result:
        """Call a tool as a host does, with arguments or with the JSON a model wrote; errors are results too.

        It runs what was offered: `tools`, or those called `names` for a host that offers `tools_named(names)`.
        """
        return Toolbox(self).call(name, arguments, names)
