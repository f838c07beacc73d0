"""The sources of facts in the project that a session works in: noted when a fact is saved, judged when it is told."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ..disk import state
from ..disk.project import Project, project_of
from ..errors import InvalidArguments
from ..git.work_tree import Unread, WorkTree
from ..results import NOT_COMPARED, SourceState
from ..text.entry import Entry
from ..text.sources import MAX_SOURCES, SOURCES, SOURCES_OF, Source, seen_source, source_in, sources_in, standing
from ..text.values import replace
from ..workspace.layout import PROJECT
from ..workspace.workspace import PROJECTS, Workspace

_NO_PROJECT = "this session is in no Git repository; go into one, name it with --project, or leave them out"


class Sources:
    """The sources of facts of one memory, in the project around a folder."""

    def __init__(self, workspace: Workspace, folder: str) -> None:
        """`folder` is where the session works, "" for nowhere. A memory in a project's repository always takes that.

        Another memory's repository is no project: a file of it could be hidden from this session.
        """
        is_guest, project = workspace.layout is PROJECT, None
        with suppress(OSError):  # the folder where this process works may be gone
            project = project_of(workspace.folder if is_guest else folder) if is_guest or folder else None
        private = os.path.join(project.place, "crabmem") if project and not is_guest else ""
        if os.path.isdir(private) and not os.path.lexists(os.path.join(private, state.PROJECT)):
            project = None  # a memory, of which a session may not see everything
        self._is_own = is_guest or (project is not None and workspace.root.name == project.name)
        #: The project's name as `sources_of` of a fact has it, in a memory of several projects.
        self._called = project.name.rpartition("-")[0] if project else ""
        is_of_project = workspace.root.parent.name == PROJECTS
        self._is_others = not self._is_own and is_of_project
        #: The name of the one project that this memory belongs to, wherever the session works; "" if of several.
        self.own = workspace.root.name.rpartition("-")[0] if is_of_project else self._called if is_guest else ""
        self._trouble = (project.problem and f"{project.place}: {project.problem}") if project else _NO_PROJECT
        top = project or Project("")
        self._tree = WorkTree(top.top, top.place, workspace.layout.is_kept if is_guest else lambda path: False)

    def of(self, entry: Entry, is_beside: bool) -> tuple[SourceState, ...]:
        """The state of the sources that can be compared: those noted with a version, of the project at hand.

        An entry belongs to that project if its `sources_of` names it. Without that key it does unless it comes from a
        memory beside this one (`is_beside`) or this memory is another project's. Else the answer is empty.
        """
        of, is_others = entry.keys.get(SOURCES_OF), is_beside or self._is_others
        is_ours = not is_others if of is None else of == self._called
        return tuple(self._judged(entry)) if is_ours and not self._trouble else ()

    def _judged(self, entry: Entry) -> Iterator[SourceState]:
        for source in (each for each in sources_in(entry.keys) if each.blob):
            try:
                data = self._tree.read(source.path)
            except Unread as error:
                if error.is_file:
                    yield SourceState(source.place, NOT_COMPARED, why=error.reason)
                    continue
                data = None  # a folder or a link in its place is not the file that was noted
            told, line = standing(source, data)
            yield SourceState(source.place, told, replace(source, line=line).place if told == "moved" else "")

    def noted(self, given: Sequence[str]) -> dict[str, list[str] | str | None]:
        """The header keys for a fact with these sources: each is read now and noted with version and checksums.

        An empty list, or empty texts, give None for both keys, which removes them.

        Raises:
            InvalidArguments: a source cannot be read, the session is in no project, or there are too many sources.
        """
        if isinstance(given, str) or len(given) > MAX_SOURCES:
            raise InvalidArguments(f"sources: give a list of at most {MAX_SOURCES}, such as ['src/a.py:40']")
        if not any(given):
            return {SOURCES: None, SOURCES_OF: None}
        if self._trouble:
            raise InvalidArguments(f"sources: {self._trouble}")
        return {SOURCES: [*dict.fromkeys(map(self._seen, given))], SOURCES_OF: None if self._is_own else self._called}

    def _seen(self, text: str) -> str:
        source = source_in(text.strip()) or Source("")
        data = self._tree.read(source.path)
        seen = None if data is None else seen_source(source.path, source.line, data)
        if data is None and self._is_file_before_colon(source.path):
            raise InvalidArguments(f"sources: {text!r}: a source is FILE or FILE:LINE, with lines counted from 1")
        if seen is None:
            what = "such file" if data is None else "text on that line"
            raise InvalidArguments(f"sources: {text!r}: there is no {what}; give one from the top, such as src/a.py:40")
        return seen.text

    def _is_file_before_colon(self, path: str) -> bool:
        """Whether what stands before the first or the last colon is there: then the rest was meant for its line."""
        ends = {path.partition(":")[0], path.rpartition(":")[0]} - {"", path}
        try:
            return any(self._tree.read(end) is not None for end in ends)
        except Unread:  # it is there
            return True
