"""Looking after a workspace: what is wrong with it, what can be mended, packing, indexing, counting."""

from collections.abc import Callable

from ..disk import fs
from ..errors import CrabmemError
from ..git.packing import Packed
from ..recall.auto_recall import stats_of
from ..recall.catalog import Progress
from ..results import Finding, Reindexed, Stats
from ..session import rules as rules_of
from ..session.session import Session
from ..text.values import replace


def doctor(session: Session, progress: Callable[[int], None] | None = None) -> list[Finding]:
    """What is wrong or odd about the workspace, errors first; nothing is changed.

    Reads the whole history, as `git fsck` does: `progress` is called with how many objects it has seen.
    """
    from .doctor.examine import examined
    from .doctor.patient import Patient

    session.view.check_whole()
    engine = session.engine
    try:
        scan = engine.store.scan()
    except CrabmemError as error:
        return [Finding("error", "", str(error), "files")]
    told = progress or (lambda count: None)
    return examined(Patient(session, scan, engine.clock(), told))


def mend(session: Session) -> list[str]:
    """Mend what can be mended without a decision; return what was done, a line each.

    Finishes an interrupted write, stores again what the history lost and the disk has, brings Git's index in step, and
    takes away the right of other users of the machine to read the folder.
    """

    from .doctor.machine import open_to_others

    session.view.check_whole()
    engine = session.engine
    if not engine.history.ownership.holds_memory():
        return []
    rules_of.check_may_write(session)
    done = engine.writer.repair()
    if open_to_others(session.root) and not session.layout.is_guest:
        fs.chmod(session.root, fs.PRIVATE_FOLDER)
        done.append(f"{session.root} was made private")
    return done


def compact(session: Session, progress: Callable[[int], None] | None = None) -> Packed | None:
    """Pack the loose objects of the history, as happens by itself now and then; None when nothing was to be packed.

    Others may read and write meanwhile. `progress` is called with how many objects are packed. A packing that this
    process has started in the background is waited for.
    """
    session.engine.upkeep.close()
    return session.engine.history.compact(progress, whole=True)


def reindex(session: Session, progress: Progress | None = None) -> Reindexed:
    """Read every entry, and every file that is searched, anew, and make the missing vectors, if meaning is wanted.

    Optional: recall does the same as it needs it. `progress(done, total)` counts entries that have vectors. A model
    that the settings name is downloaded if it is not on this machine; nothing else ever downloads one.

    Raises:
        EmbedderFailed: vectors cannot be made; words are found all the same.
    """
    from ..recall.file_search import Sections, Way

    engine, search, rules = session.engine, session.profile.search, session.settings
    engine.catalog.begin_anew()
    listing = session.look(lambda now: now.whole.listing)
    engine.catalog.save(least=1)
    sections: Sections | None = None
    if search.files or rules.extra_paths or rules.transcripts:
        engine.searcher.begin_anew()
        sections = session.look(lambda now: now.whole.sections(Way(search, now.settings.language)))
        engine.searcher.save(least=1)
    if not engine.is_meaning_wanted(rules):
        return Reindexed(len(listing.paths), sections=len(sections.index) if sections else 0)
    done = replace(engine.meaning.embed(listing, rules.vectors, progress), entries=len(listing.paths))
    if sections is None:
        return done
    more = engine.meaning_of_sections.embed(sections, rules.vectors, progress)
    return replace(done, made=done.made + more.made, sections=more.entries)


def stats(session: Session) -> Stats:
    """How much there is that this session may see, and how often memory spoke before turns, in any session."""
    entries, unreadable = session.look(lambda now: (len(now.entries.paths), len(now.entries.unreadable)))
    return stats_of(entries, unreadable, session.engine.turns.all())
