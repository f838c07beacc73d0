"""`crabmem fleet`: one question to many memories, through a PostgreSQL that a person runs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from ...disk.user_state import state_folder
from ...errors import InvalidArguments, NotFound
from ...prompt.profile import KINDS, Kind
from ...results import json_of
from ...text.words import counted
from ..app import verb
from ..options import NonEmptyPath, completing, global_options, json_option, yes_option
from ..output import Failure, confirm, plain, show, tell

if TYPE_CHECKING:
    from ...fleet.following import Looked
    from ...fleet.postgres import Postgres

_STRICTEST: Kind = "group"
_SOON = 60.0


@verb(after="watch", cls=click.Group)
def fleet() -> None:
    """Ask many memories at once, by an index of them in PostgreSQL that is fed from their Git remotes.

    $CRABMEM_FLEET names the database, and as whom you ask: postgresql://ann@fleet-db/crabmem (password: ~/.pgpass).
    Remotes stay the truth; the index can be dropped at any time, and is made anew from them.

    \b
    export CRABMEM_FLEET=postgresql://owner@fleet-db/crabmem
    crabmem fleet init                                    once: tables, and rules of who sees what
    crabmem fleet add team-a/coder git@forge:team-a/coder.git
    crabmem fleet add --from addresses.txt                a line each: name, blanks, address
    crabmem fleet follow                                  the one process that runs
    crabmem fleet grant ann 'team-a/*' --kind main        ann may ask for these

    \b
    export CRABMEM_FLEET=postgresql://ann@fleet-db/crabmem      on any machine
    crabmem recall --everywhere who looks after the otter
    """


@fleet.command
def init() -> None:
    """Make the tables in the database, as their owner.

    \b
    crabmem fleet init
    """
    with _index_of_person() as index:
        index.create()
    tell("made; next: crabmem fleet add NAME ADDRESS")


@fleet.command
@click.argument("name", required=False)
@click.argument("address", required=False)
@click.option("--from", "file", type=click.File(), metavar="FILE", shell_complete=completing("complete_files"),
              help="A list of them, a line each; - is stdin.")  # fmt: skip
@click.option("--remove", is_flag=True, help="Follow NAME no more; its facts go from the index.")
def add(name: str | None, address: str | None, file: "IO[str] | None", remove: bool) -> None:
    """Have the follower follow a memory: its NAME in answers, and the ADDRESS of its remote.

    \b
    crabmem fleet add ann/notes /srv/git/ann/notes.git
    crabmem fleet add ann/notes --remove
    """
    if remove:
        if not name or address or file:
            raise click.UsageError("--remove goes with a NAME alone")
        with _index_of_person() as index:
            index.remove(name)
        return tell(f"{name} is followed no more")
    named = _read_list(file) if file else [(name, address)] if name and address else []
    if not named or (file and name):
        raise click.UsageError("give a NAME and an ADDRESS, or --from FILE")
    from ...fleet import rights

    wanted = [rights.checked_memory(*each) for each in named]
    with _index_of_person() as index:
        before = {space.name: space.address for space in index.spaces()}
        rights.add(index, wanted)
    for moved, url, _ in wanted:
        if before.get(moved, url) != url:
            tell(plain(f"{moved} has another address than before, {before[moved]}"))
    tell(f"{counted(len(wanted), 'memory')} followed; `crabmem fleet follow` reads them")


@fleet.command
@click.argument("role")
@click.argument("pattern", default="")
@click.option("--kind", type=click.Choice(KINDS), default=_STRICTEST, show_default=True, help="What its sessions are.")
def grant(role: str, pattern: str, kind: Kind) -> None:
    """Let ROLE, a user of the database, ask for the memories whose names fit PATTERN, in which * is any signs.

    \b
    crabmem fleet grant ann 'team-a/*' --kind main
    crabmem fleet grant hook                          it sees none, and may run `crabmem fleet pushed`

    It sees of each what sessions of that kind see there, and is made if it is not there. The server enforces it, for
    whoever connects as that role, by crabmem or not. A memory that is added later is seen if it fits.
    """
    from ...fleet import rights

    with _index_of_person() as index:
        is_new = rights.grant(index, role, pattern, kind)
    tell(
        f"{role} asks for {pattern}, as sessions of the kind {kind}"
        if pattern
        else f"{role} may say what was pushed to"
    )
    if is_new:
        tell(f"the role {role} is new, and has no password yet: in psql, \\password does that")


@fleet.command
@click.argument("role")
@click.argument("pattern", required=False)
def revoke(role: str, pattern: str | None) -> None:
    """Take back what was granted to ROLE, without PATTERN all of it. At once.

    \b
    crabmem fleet revoke ann 'team-a/*'
    """
    from ...fleet import rights

    with _index_of_person() as index:
        rights.revoke(index, role, pattern)
    tell(f"{role} asks for {pattern or 'nothing'} {'no more' if pattern else 'any more'}")


@fleet.command
@click.option("--once", is_flag=True, help="Look at each memory once, and end: for cron. Exit status 1 if one failed.")
@click.option("--every", type=click.FloatRange(min=1), default=_SOON, show_default=True, metavar="SECONDS",
              help="Look at each at least so often; one that somebody pushed to at once.")  # fmt: skip
@click.option("--state", type=NonEmptyPath(file_okay=False, path_type=Path), metavar="DIR",
              help="Where mirrors are kept.  [default: ~/.local/state/crabmem/fleet]")  # fmt: skip
def follow(once: bool, every: float, state: Path | None) -> None:
    """Keep the index in step with the remotes: runs until it is stopped. Several may run.

    \b
    crabmem fleet follow
    crabmem fleet follow --once

    It says what changed, and which remotes fail. It reads remotes with this user's keys, and writes nothing to them.
    """
    with _index_of_person() as index:
        place = _place(state)
        from ...fleet import following

        if once:
            found = following.follow_once(index, following.mirror_of(index, place, os.environ), _tell_look)
            if not found:
                tell("no memory is followed: `crabmem fleet add` names some")
            if any(each.error for each in found):
                raise SystemExit(1)
            return
        url = index.url
    tell(f"following; mirrors are in {place}")
    following.follow(url, place, os.environ, every, _tell_look)


@fleet.command
@json_option
def status(json_wanted: bool) -> None:
    """Say how far the index is, of what you may see; to its owner also what was granted, and what fails.

    \b
    crabmem fleet status
    """
    with _index(is_brief=True) as index:
        followed, is_owner = index.followed(), index.is_owner()
        granted = index.granted() if is_owner else []
        spaces = index.spaces() if is_owner else []
    errors = {space.name: space.error for space in spaces if space.error}
    addresses = {space.name: space.address for space in spaces}
    from ...fleet.protocol import BITS

    kinds = {bit: kind for kind, bit in BITS.items()}
    data = {
        "memories": [
            {**json_of(each), "error": errors.get(each.name, ""), "address": addresses.get(each.name)}
            for each in followed
        ],
        "granted": [{"role": role, "pattern": pattern, "kind": kinds[bit]} for role, pattern, bit in granted],
    }
    lines = [_line(each.name, each.facts, each.behind, each.pushed, errors.get(each.name, "")) for each in followed]
    lines += [f"{role} asks for {pattern or 'none'}, as {kinds[bit]}" for role, pattern, bit in granted]
    show(json_wanted, data, lambda: plain("\n".join(lines)) if lines else "no memory is followed")


@fleet.command
@click.option("--state", type=NonEmptyPath(file_okay=False, path_type=Path), metavar="DIR", help="As of `follow`.")
@yes_option
def rebuild(state: Path | None, yes: bool) -> None:
    """Make the index anew from the remotes, while the old one serves; then it takes that one's place, at once.

    \b
    crabmem fleet rebuild --yes

    What fails to be read keeps the old index. A follower that runs goes on.
    """
    if not yes:
        confirm("Make the whole index anew?", "made")
    from ...fleet.following import rebuild

    with _index_of_person() as index:
        facts = rebuild(index, _place(state), os.environ, _tell_look)
    tell(f"made anew: {counted(facts, 'fact')}")


@fleet.command
@click.argument("place", required=False, shell_complete=completing("complete_folders"))
def pushed(place: str | None) -> None:
    """Say that somebody pushed to a memory, by its name or the path of its repository: for a hook of Git's.

    Without PLACE it is the repository of the current folder. In `hooks/post-receive` of a bare repository:

    \b
    #!/bin/sh
    exec crabmem fleet pushed
    """
    from ...fleet.rights import stem_of

    with _index(is_brief=True) as index:
        index.pushed(place if place and "." not in place and "/" not in place else stem_of(place or os.getcwd()))


@fleet.command
@click.option("--bytes", "is_whole", is_flag=True, help="Write the tables anew, so that no file of them holds it.")
@yes_option
def purge(is_whole: bool, yes: bool) -> None:
    """Have nothing in the database's own files hold what was removed: after a `crabmem purge` that was followed.

    \b
    crabmem fleet purge --bytes --yes

    Its rows are gone as soon as the purge is followed. Their bytes stay in the files of the tables until this writes
    them anew, which nobody may ask meanwhile; and beyond it in WAL, replicas and backups until these run out.
    """
    if not is_whole:
        raise click.UsageError("give --bytes; rows are gone already when the purge was followed")
    if not yes:
        confirm("Write all tables anew? Nobody is answered meanwhile.", "written")
    with _index_of_person() as index:
        index.rewrite_files()
    tell("written anew; WAL, replicas and backups keep old bytes until they run out")


@contextmanager
def _index(is_brief: bool = False) -> "Iterator[Postgres]":
    """Connect to the index that $CRABMEM_FLEET names; with `is_brief` wait for it at most `PATIENCE` seconds.

    Raises:
        Failure: the libraries of the extra `fleet` are missing.
    """
    try:
        from ...fleet.asking import address_in
        from ...fleet.postgres import PATIENCE, Postgres
    except ImportError:
        from ...text.extras import how_to_get

        raise Failure(f"`crabmem fleet` needs the libraries of the extra fleet: {how_to_get('fleet')}") from None
    with Postgres(address_in(os.environ), patience=PATIENCE if is_brief else 0) as index:
        yield index


@contextmanager
def _index_of_person() -> "Iterator[Postgres]":
    """Connect to the index for a verb that only the person may use.

    Raises:
        Failure: an agent is named, or the libraries are missing.
    """
    if global_options().agent:
        raise Failure(
            "which memories are followed, and who may ask, is for the person: leave out --agent (CRABMEM_AGENT)"
        )
    with _index() as index:
        yield index


def _place(state: Path | None) -> Path:
    """Return the folder of the mirrors, and make it if it is missing.

    Raises:
        Failure: no folder is named, and this user has no home.
    """
    own = state_folder(os.environ)
    if state is None and own is None:
        raise Failure("this user has no home: name a folder for mirrors by --state")
    place = (state or own / "fleet").absolute()  # type: ignore[operator]  # one of the two is there
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return place


def _read_list(file: "IO[str]") -> list[tuple[str, str]]:
    """Return the names and addresses in a list: one pair on a line, with blanks between them; `#` begins a comment.

    Raises:
        InvalidArguments: a line has not two words, or the list is not UTF-8.
        NotFound: the list is empty.
    """
    named = []
    try:
        for number, line in enumerate(file, 1):
            words = line.partition("#")[0].split()
            if words and len(words) != 2:
                raise InvalidArguments(f"line {number} is no name and address: {line.strip()[:80]}")
            named += [(words[0], words[1])] if words else []
    except UnicodeDecodeError:
        raise InvalidArguments("the list is no text in UTF-8") from None
    if not named:
        raise NotFound("the list names no memory")
    return named


def _tell_look(looked: "Looked") -> None:
    if looked.error:
        tell(plain(f"{looked.name or 'database'}: {looked.error}"))
    elif looked.changed:
        tell(plain(f"{looked.name}: {counted(looked.changed, 'row')} changed in {looked.seconds:.1f} s"))


def _line(name: str, facts: int, behind: float | None, is_pushed: bool, error: str) -> str:
    age = "never read" if behind is None else f"{behind:.0f} s behind at most"
    return f"{name}: {counted(facts, 'fact')}, {age}{', pushed to since' * is_pushed}{error and f': {error}'}"
