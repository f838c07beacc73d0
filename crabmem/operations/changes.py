"""Shared by operations that write: replacing a whole file, and the value that says what a write did."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from ..errors import CrabmemError, Disabled
from ..git.commits import Note
from ..recall.duplicates import near_duplicate
from ..recall.entries import Entries
from ..results import Changed, Commit, Proposal, Proposed, Saved
from ..session import rules
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.credentials import Screen, warnings
from ..text.edit import grown, in_style_of, lenient_text, unified_diff
from ..text.entry import Entry, check_text, parse_entry
from ..text.hashes import version_of
from ..text.limits import MAX_REASON
from ..text.quoting import visible
from ..text.values import replace
from ..write.draft import Draft, Written

T = TypeVar("T")
#: Warning for a person whose next `git commit` would take back what was written.
FOREIGN_INDEX = (
    "Git's index is in a form that crabmem does not write, so your next `git commit` would take this back: "
    "`git sparse-checkout disable`, or `git update-index --no-split-index`, makes it a plain one"
)


def write_file(
    session: Session,
    path: str,
    content: str,
    tool: str,
    if_version: str | None,
    reason: str = "",
    called: str = "",
) -> Changed:
    """Replace the file at `path`, or make it. The subject of the commit says `called`, else the name of the file.

    Raises:
        InvalidArguments: no file of memory may hold the content.
        Stale: the file is not at `if_version` any more.
        HoldsSecret: there is a credential in it, and the settings refuse that.
        Disabled: this session may not see the file, or its profile lets tools only add to it, and a line would change.
    """
    check_text("content", content, session.profile.largest)
    session.view.check_writable(path)
    note, screen = note_with_reason(session, tool, called or path, reason), rules.screen(session, content, reason)

    def decide(now: Snapshot) -> Draft[None]:
        return Draft({path: file_with(session, now, path, content, if_version, reason, screen)}, note, None)

    return changed(session, session.write(decide), path)


def file_with(
    session: Session, now: Snapshot, path: str, content: str, if_version: str | None, reason: str, screen: Screen
) -> bytes:
    """The bytes of the file at `path` with `content`, in the line endings and BOM of the file that is there.

    Raises:
        Stale: the file is not at `if_version` any more.
        HoldsSecret: `content` or `reason` holds a credential that is new, and `screen` refuses it.
        Disabled: the profile lets tools only add to the file, and a line would change.
    """
    session.timeline.check_version(path, now.scan.files.get(path), if_version, now.view.allows)
    before = now.text(path) or ""
    for text in (content, reason):
        screen.refuse_new(text, before)
    data = in_style_of(content, before).encode()
    return files_that_grow(session, now, {path: data}).get(path) or data


def files_with(
    session: Session, now: Snapshot, changes: Mapping[str, str | None], screen: Screen, may_shrink: bool = False
) -> dict[str, bytes | None]:
    """The bytes to write, by path in the workspace, for `changes` of texts by path below `memory/`; see `drafted`.

    With `may_shrink`, files that only grow may be changed, too.
    """
    from ..write.tree import drafted  # late: few write whole trees

    files = drafted(now.tree(), changes, screen, session.profile.largest)
    return files if may_shrink else files | files_that_grow(session, now, files)


def files_that_grow(session: Session, now: Snapshot, files: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
    """Those of `files` to which the profile lets tools only add, with the present text unchanged before what is added.

    Raises:
        Disabled: a part of the present text would be gone.
    """
    profile = session.profile
    paths = [path for path in files if path in now.files and profile.only_grows(path)]
    texts = {path: grown(now.shown(path), lenient_text(files[path]) or "") for path in paths}
    if lost := next((path for path, text in texts.items() if text is None), None):
        raise Disabled(
            f"{lost} only grows, and something in it would change; read it again and add to its end, "
            "or use the tool note"
        )
    return {path: (text or "").encode() for path, text in texts.items()}


def note_with_reason(session: Session, tool: str, path: str, reason: str) -> Note:
    """The message of a commit about a whole file: `TOOL: FILE`, and `reason` as its body."""
    check_text("reason", reason, MAX_REASON)
    note = rules.note(session, tool, path.rpartition("/")[2])
    return replace(note, body=visible(reason).strip())


def changed(session: Session, done: Written[T], path: str) -> Changed:
    """The effect of a write on the file at `path`; a `Proposed` if nothing was written, as all of it waits.

    A part may wait while the rest is written: then it is a `Changed` that has the proposal.
    """
    before, after = done.before[path], done.after[path]
    commit = None if before == after else done.commit
    proposal = done.waits.get(path)
    held_back = proposal if before == after else None  # else a part may wait, and the rest is written
    diff = unified_diff(lenient_text(before), lenient_text(_proposed(held_back, path) if held_back else after), path)
    is_created = before is None and not proposal
    notices, origin = notices_of(done, [path]), origin_of(session, path, commit)
    parts = path, version_of(after or b""), commit, is_created, diff, notices, origin
    return Proposed(*parts, held_back) if held_back else Changed(*parts, proposal)


def _proposed(proposal: Proposal, path: str) -> bytes | None:
    """The bytes that a proposal has for the file at `path`; None to remove it."""
    return next(file.data for file in proposal.files if file.path == path)


def origin_of(session: Session, path: str, commit: str | None) -> Callable[[], Commit | None]:
    """A function that returns the commit whose text `commit` replaced at `path`: looked up on call, as that is slow."""
    return lambda: session.view.of_commit(session.timeline.origin(path, commit))


def saved(session: Session, done: Written[T], path: str, among: Entries | None = None) -> Saved:
    """The effect of a write on the entry at `path`. `like` is one of `among` (None: none) that says nearly the same."""
    change, waits = changed(session, done, path), done.waits.get(path)
    entry = parse_entry(path, (_proposed(waits, path) if waits else done.after[path]) or b"")
    return Saved(**vars(change), entry=entry, like=None if among is None else _like(session, entry, among))


def _like(session: Session, entry: Entry, among: Entries) -> Entry | None:
    try:
        return near_duplicate(entry, among, session.settings.language)
    except CrabmemError:  # a file changes at this moment: what was written is written, and a hint can be missed
        return None


def notices_of(done: Written[T], paths: Iterable[str]) -> tuple[str, ...]:
    """Warnings for the writer of `paths`: texts that look like credentials, losses on disk, a foreign Git index."""
    texts = ((lenient_text(done.after[path]) or "", lenient_text(done.before[path])) for path in paths)
    found = tuple(words for text, before in texts for words in warnings(text, before, done.secrets))
    if done.unrecorded:
        found = (*found, done.unrecorded.words)
    return (*found, FOREIGN_INDEX) if done.is_index_foreign else found


def diff_of(done: Written[T]) -> str:
    """What a write changed, as a unified diff."""
    return "".join(
        unified_diff(lenient_text(done.before[path]), lenient_text(data), path) for path, data in done.after.items()
    )
