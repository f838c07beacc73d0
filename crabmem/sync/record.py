"""What is remembered of syncing between processes: when it worked last, and since when it does not, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path

from ..disk import fs
from ..disk import state as names
from ..errors import CrabmemError, PurgeWaits
from ..results import SyncState
from ..session.engine import Engine

# A forge counts how often it is pushed to: so often within so long is as much as one asks for.
_MOST_PUSHES, _WITHIN = 6, timedelta(minutes=1)
# What the next success keeps of what was remembered.
_LASTING = ("proposals", "purged", "pushes", "rejected")
# Decisions kept in case another machine decides otherwise: the newest.
_MAX_REJECTED = 100


class Record:
    """The file of one workspace. It is of one machine, and of nobody's history; without it nothing is known."""

    def __init__(self, engine: Engine) -> None:
        self._file, self._clock = engine.workspace.private / names.SYNC, engine.clock

    @contextmanager
    def kept(self, remote: str) -> Iterator[None]:
        """Note how the sync in the block ended: its success, or its failure and why. An OSError becomes Unwritable."""
        try:
            yield
        except CrabmemError as error:
            self._note_failure(remote, error)
            raise
        except OSError as error:
            from ..write.writer import unwritable  # late: hooks ask when the last sync was

            refused = unwritable(error)
            self._note_failure(remote, refused)
            raise refused from error
        with suppress(OSError):
            lasting = {key: said for key, said in self._read().items() if key in _LASTING}
            self._write({"remote": remote, "succeeded": self._now(), **lasting})

    def _note_failure(self, remote: str, error: CrabmemError) -> None:
        said = self._read()
        failed, failures = self._now(), str(int(said.get("failures") or 0) + 1)
        news = {"remote": remote, "failed": failed, "failures": failures, "error": error.problem}
        news |= {"purge_waits": "yes" if isinstance(error, PurgeWaits) else ""}
        with suppress(OSError):
            self._write({"failing_since": failed, **said, **news})

    def proposals(self) -> frozenset[str]:
        """Return the proposals that both this machine and the remote had after the last sync."""
        return frozenset(self._read().get("proposals", "").split())

    def purged(self) -> str:
        """Return the commit of the record of purges at the last sync; "" for none."""
        return self._read().get("purged", "")

    def rejected(self) -> frozenset[str]:
        """Return the proposals that were decided on here by keeping what was there."""
        return frozenset(self._read().get("rejected", "").split())

    def note_shared(self, proposals: Set[str], purged: str | None, rejected: Set[str] = frozenset()) -> None:
        """Remember the proposals that both have now, the commit of the record of purges, and what was `rejected`."""
        said = self._read()
        before = said.get("rejected", "").split()
        news = {
            "proposals": " ".join(sorted(proposals)),
            **({"purged": purged} if purged else {}),
            "rejected": " ".join([*before, *sorted(set(rejected).difference(before))][-_MAX_REJECTED:]),
        }
        if any(said.get(key, "") != value for key, value in news.items()):
            self._write({**said, **news})

    def given_up(self) -> frozenset[str]:
        """Return the files whose changes went with a purge and that no answer of a sync has named yet."""
        return frozenset(filter(None, self._read().get("given_up", "").split("\n")))

    def note_given_up(self, paths: Set[str]) -> None:
        """Remember files whose changes went with a purge until a sync succeeds and its answer names them."""
        if paths:
            self._write({**self._read(), "given_up": "\n".join(sorted(paths | self.given_up()))})

    def note_push(self) -> None:
        """Remember that something is pushed now."""
        said = self._read()
        self._write({**said, "pushes": " ".join([*said.get("pushes", "").split(), self._now()][-_MOST_PUSHES:])})

    def state(self, remote: str | None, ahead: int, behind: int) -> SyncState:
        """Return what is remembered of syncing with `remote`."""
        said = self._read()
        if remote is None or said.get("remote") != remote:
            said = {}  # it is of another one
        succeeded, failed, since = (_time(said.get(key)) for key in ("succeeded", "failed", "failing_since"))
        error, waits = said.get("error") or "", bool(said.get("purge_waits"))
        return SyncState(remote, ahead, behind, succeeded, failed, since, error, purge_waits=waits)

    def _now(self) -> str:
        return self._clock().isoformat()

    def _read(self) -> dict[str, str]:
        return _said_in(self._file)

    def _write(self, said: dict[str, str]) -> None:
        if fs.is_own_folder(self._file.parent):
            fs.swap_in(self._file, json.dumps(said, indent=2).encode() + b"\n")


def last_try(file: Path) -> tuple[datetime | None, int]:
    """Return when a workspace was synced last, or that failed, and how often it failed since it worked."""
    said = _said_in(file)
    times = [time for key in ("succeeded", "failed") if (time := _time(said.get(key)))]
    failures = said.get("failures", "")
    return max(times, default=None), int(failures) if failures.isdecimal() else 0


def room_for_pushes(file: Path, now: datetime) -> int:
    """Return how often a workspace may push now, so that it does not do so more than six times in a minute."""
    times = map(_time, _said_in(file).get("pushes", "").split())
    return _MOST_PUSHES - sum(time is not None and timedelta(0) <= now - time < _WITHIN for time in times)


def _said_in(file: Path) -> dict[str, str]:
    try:
        said = json.loads(fs.read(file)[0])
        return {key: value for key, value in said.items() if isinstance(value, str)}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _time(said: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(said).astimezone() if said else None
    except ValueError:
        return None
