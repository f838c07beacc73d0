"""Every file below `.git/crabmem` by its name, and how many purges a workspace has seen.

A workspace may come from a stranger, `.git` included, so each name says who may believe what lies there, and whether it
may be deleted while no process of ours runs. All of it belongs to one clone of one user, and none of it is history.
Loads next to nothing, for processes that only ask.
"""

import os

#: Where all of this lies, below a workspace.
FOLDER = ".git/crabmem"

# Locks. The kernel holds them and frees them when a process dies, so nobody believes a file, and each may be deleted.

#: Held by the one process that writes, with `lock.d` and `lock.pid` beside it (see `disk/lock`).
LOCK = "lock"
#: Held by the one process that watches the files, with `.d` and `.pid` beside it.
WATCH = "watch"
#: Held by the one process that reads ahead for hooks, with `.d` and `.pid` beside it.
READING = "reading"
#: Held by the one process that syncs unasked, with `.d` and `.pid` beside it.
SYNCING = "syncing"
#: Held by the one process that compacts the history.
PACKING = "packing"

# Work under way, and texts that are nowhere else. To delete one of these while something is in it loses words, or
# leaves half a change.

#: The write under way. Finished unasked only under this user's seal; a person's word finishes another's.
JOURNAL = "journal"
#: Temporary files: what is staged for a write, what it displaced, locks on references, packs that are being fetched.
#: Only the journal and `displaced` say what one means; a text that nobody names is moved to `recovered`.
TEMPORARY = "tmp"
#: Which temporary file stood at which path before a write, for editors that have it open. Believed for our own paths.
DISPLACED = "displaced"
#: Writes of somebody else, which wait for a person's word. Never believed unasked.
ASIDE = "aside"
#: Texts of saves that nobody knew any more. The person's: only they delete them.
RECOVERED = "recovered"
#: Beside `.git`, for the moment of the exchange: the new one before it, the old one after it. Deleted by the next
#: command; where there is no `.git`, it is the new one, and gets its name.
BESIDE = ".git-purging"
#: The commits that were made in the middle of a person's rebase or merge. Checked against the history.
WAITING = "waiting"
#: The paths that Git's index does not say yet. Checked against the head; without it `git status` shows them as changed.
INDEX_BEHIND = "index-behind"
#: Digests of the paths whose loss a person was told of and has not confirmed. Without it they may be recorded as meant.
UNCONFIRMED = "unconfirmed"
#: Which agent wrote which file, as its host said: believed for a file that still is what was said of it. Without it
#: what an agent wrote with a tool of its host is recorded as the person's.
BYLINES = "bylines"
#: What the newest commits stored, and may not be on the disk yet. Each object is checked by its id, and a branch moved
#: only on to such a commit.
REDO = "redo"
#: Which pack is ours and how it is chained. Believed where its checks hold; without it compaction packs anew.
PACK = "pack"
#: The same for a pack that is being put in place.
PACK_COMING = "pack.coming"

# Files to tell the person, to count, or made anew. Each may be deleted: something is said, counted or done again.

#: The new `.git` that a purge prepares. Nothing reads it before the exchange.
PURGING = "purging"
#: The old `.git`, in the new one, while it is removed. It holds what was purged: the next command deletes it.
PURGED = "purging.done"
#: The commits of a remote with what was purged, while they are put on the purged line; a folder for each process that
#: does so. Nobody's when that is over.
INCOMING = "incoming"
#: A line for each repair that a write had to make, for `doctor`. Believed by nobody: shown as text.
REPAIRS = "repairs.log"
#: A line for each time that a hook failed. Believed by nobody: shown as text.
HOOKS_LOG = "hooks.log"
#: When the workspace was synced last, and since when that fails, and why. Without it nothing is known of that.
SYNC = "sync.json"
#: Until when memory does not speak unasked, as a person said. Believed whoever wrote it: it only keeps memory
#: silent, and `status` says so. Without it memory speaks.
PAUSED = "paused"
#: Which versions of entries were injected before which turn. Holds no words. Without it memory repeats itself.
TURNS = "turns"
#: Which entries were used when, by digests of their paths. Without it none counts as used.
USES = "uses"
#: When items of stores that do not stay were last put or read. Without it they live from their last commit on.
READS = "reads"
#: Bytes and number of the loose objects. Without it they are counted.
LOOSE = "loose"
#: For each purge a line with device and inode of the `.git` that it replaced, by which a process that has that one open
#: knows the new one, and the ids of the purges in the record that were made here. Words that it holds in memory must
#: not be kept: see `Generation`.
PURGES = "purges"

#: That the repository is a project's, in which only our own folders are memory, on whatever branch it stands. Believed
#: whoever wrote it: it only keeps files from being recorded. Without it the branch's `crabmem.toml` says so.
PROJECT = "project"

# Derived files (see `disk/derived`): believed only in a folder that this user made on this machine, and each may be
# deleted at any time.

#: The folder of all derived files; in it, directly, the index of entries.
INDEX = "index"
#: The mark by which the folder is known to be this user's.
OWNER = f"{INDEX}/owner"
#: What lists say of entries: names, descriptions and tags.
HEADERS = f"{INDEX}/headers"
#: The index of the sections of files.
SECTIONS = f"{INDEX}/sections"
#: The indexes of entries at other times, a folder each.
PAST = f"{INDEX}/past"
#: The parents and times of commits, what each changed, and which of them are the line of first parents.
COMMITS = f"{INDEX}/commits"
#: The vectors of entries.
VECTORS = f"{INDEX}/vectors"
#: The vectors of the sections of files.
SECTION_VECTORS = f"{INDEX}/section-vectors"
#: The vectors of what a store of keys was asked for.
ITEM_VECTORS = f"{INDEX}/item-vectors"

#: Those that are folders, besides those of locks, `<lock>.d`; all others are files.
FOLDERS = frozenset([ASIDE, INCOMING, INDEX, PURGING, PURGED, RECOVERED, TEMPORARY])


class Generation:
    """How many purges a workspace had seen when its holder's data in memory was made.

    `private` is `.git/crabmem`. After a purge the data may have purged words: the holder must not write them to the
    disk again.
    """

    __slots__ = ("_file", "_last")

    def __init__(self, private: "str | os.PathLike[str]") -> None:
        self._file = os.path.join(private, PURGES)
        self._last = self._now()

    def is_over(self) -> bool:
        """Return whether a purge ran since, so that the holder's data may have purged words."""
        return self._now() != self._last

    def renew(self) -> bool:
        """Go on to the present generation; return whether a purge ran since: the holder has to drop its data then."""
        before, self._last = self._last, self._now()
        return self._last != before

    def _now(self) -> int:
        """Return the size of `purges`, which grows by a line with each purge; 0 without the file."""
        try:
            return os.lstat(self._file).st_size
        except OSError:
            return 0
