"""The index in PostgreSQL: a table of our terms, one statement for a question, which is all that a reader may call.

A function on the server computes BM25 over the memories that the logged-in role may see. So scores equal those of a
local index of just these memories, and reveal nothing about others.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import class_row

from ..errors import AlreadyThere, Busy, CrabmemError, Disabled, Inapplicable, InvalidArguments, NotFound, Unreachable
from ..prompt.profile import Kind
from ..search.scoring import K1, B
from ..text.quoting import one_line
from ..text.words import counted, shortened
from .protocol import BITS, Asked, Contents, Followed, Found, Row, Space

SCHEMA, NEXT = "crabmem", "crabmem_next"
#: The channel that a follower listens to.
CHANNEL = "crabmem"
#: Seconds to wait for a connection, and for an answer.
PATIENCE = 2
_MAX_SMALLINT = 32_767
_MAX_PATH_BYTES = 1_000  # longer paths do not fit into a row of PostgreSQL's unique index, so they are left out
# The functions that a reader may call.
_CALLED = "followed(smallint), ask(bigint[], int[], int[], smallint, int), pushed(text)"
_FORM = "a database is named as postgresql://USER@HOST/DATABASE, a sign such as @ in a password as %40"
_NO_INDEX = "there is no index in this database, or none for this role: `crabmem fleet init` makes one"

_SPACES = """
    select space.id, name, address, language, commit, rules, settings, purges, error, about.id || '-' || space.id mirror
    from space, about"""
_HELD = "select path, id, blob from fact where space = %s"
_IDS = "select nextval(pg_get_serial_sequence('fact', 'id')) from generate_series(1, %s)"
_AMOUNTS = """
    insert into amount select %(space)s, kind, count(*), sum(parts), sum(words)
    from fact, unnest(%(bits)s::smallint[]) kind where space = %(space)s and kinds & kind <> 0 group by kind"""
_SAID = """
    update space set commit = %s, language = %s, rules = %s, settings = %s, purges = %s
    where id = %s"""
_RENEWED = """
    update fact set commit = u.commit, since = u.since
    from unnest(%s::text[], %s::text[], %s::timestamptz[]) u (path, commit, since)
    where fact.space = %s and fact.path = u.path"""
# Turns reported places into memories. A place is a memory's name, or the path of its address; the follower and the
# machine that pushed may know different lengths of that path, so either may be the end of the other.
_DRAIN = """
    with pushed as (delete from wanted returning place, at)
    insert into push select id, at from pushed join space on name = place
        or right('/' || stem, length(place) + 1) = '/' || place
        or right('/' || place, length(stem) + 1) = '/' || stem"""
_DUE = """
    select id from space left join (select space, max(at) at from push group by space) p on p.space = id
    where tried_at is null or at > tried_at
        or tried_at < now() - make_interval(secs => least(3600, %s * 2 ^ least(failures, 10)))
    order by at > tried_at desc nulls last, tried_at nulls first"""
_TAKE_OVER = f"""
    lock table {SCHEMA}.space, {SCHEMA}.granted, {SCHEMA}.reader in exclusive mode;
    delete from space where name not in (select name from {SCHEMA}.space);
    insert into space (name, address, stem) select name, address, stem from {SCHEMA}.space
        on conflict (name) do update set address = excluded.address, stem = excluded.stem;
    insert into wanted select place, at from {SCHEMA}.wanted;
    insert into granted select * from {SCHEMA}.granted where role in (select rolname from pg_roles);
    insert into reader select role, new.id, kind from {SCHEMA}.reader
        join {SCHEMA}.space old on old.id = space join space new using (name) where role in (select role from granted);
    drop schema {SCHEMA} cascade"""
# Transactions that would keep bytes of removed rows alive in new files.
_HOLDERS = """
    select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
    and (backend_xmin is not null or backend_xid is not null)"""


class Postgres:
    """A `FleetIndex`, with the methods for its owner. Readers connect with a role of their own.

    Raises:
        Unreachable: by every method, when the database does not answer.
        Disabled: by every method, when the database does not permit this role to do that.
        NotFound: by every method, when there is no index.
    """

    def __init__(self, url: str, schema: str = SCHEMA, patience: int = 0) -> None:
        """Connect. `patience` limits the connection and each statement to so many seconds; 0 is no limit.

        Raises:
            InvalidArguments: `url` is no address of a database.
        """
        _check(url)
        self.url, self._schema = url, sql.Identifier(schema)
        with _own_errors():
            # A plan of one's own for each question: one that fits all is slower for most.
            self.connection = psycopg.connect(
                url, autocommit=True, prepare_threshold=None, client_encoding="utf8", connect_timeout=patience or None
            )
        self._run(sql.SQL("set search_path = {}, pg_temp").format(self._schema))
        self._run(sql.SQL("set statement_timeout = {}").format(patience * 1_000))
        self._run("set idle_in_transaction_session_timeout = 0")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self.connection.close()

    def is_alive(self) -> bool:
        """Whether the server still answers; if not, close the connection."""
        try:
            self._run("select 1")
        except CrabmemError:
            self.close()
        return not self.connection.closed

    # The four calls of an index

    def put(self, space: Space, contents: Contents) -> int:
        """Make the rows of `space` equal `contents`, all or nothing; return how many facts were written or removed.

        Rows are compared by path and blob alone, not by what happened since. So a first fill, a purge, a forced push
        and the repair after a crash need no cases of their own. New rules for words or new settings replace all rows. A
        rewritten history renews commit and time of the rows that stay.
        """
        is_same = (space.rules, space.settings) == (contents.rules, contents.settings)
        blobs = {path: blob for path, blob in contents.blobs.items() if len(path.encode()) <= _MAX_PATH_BYTES}
        with self.changing() as cursor:
            cursor.execute("select from space where id = %s for update", (space.id,))
            held = {path: (id, blob) for path, id, blob in cursor.execute(_HELD, (space.id,))}
            kept = {path for path, (_, blob) in held.items() if is_same and blobs.get(path) == blob}
            gone = [id for path, (id, _) in held.items() if path not in kept]
            cursor.execute("delete from fact where id = any(%s)", (gone,))
            rows = list(contents.read(blobs.keys() - kept))
            self._copy_rows(cursor, space.id, rows, contents.rules)
            if contents.is_rewritten:
                renewed = list(contents.read(kept))
                columns = zip(*((row.path, row.commit, row.since) for row in renewed), strict=True)
                cursor.execute(_RENEWED, (*(map(list, columns) if renewed else ([], [], [])), space.id))
            if gone or rows:
                cursor.execute("delete from amount where space = %s", (space.id,))
                cursor.execute(_AMOUNTS, {"space": space.id, "bits": list(BITS.values())})
            said = contents.commit, contents.language, contents.rules, contents.settings, contents.purges
            cursor.execute(_SAID, (*said, space.id))
        return len(gone) + len(rows)

    @staticmethod
    def _copy_rows(cursor: psycopg.Cursor[Any], space: int, rows: Sequence[Row], rules: bytes) -> None:
        """Insert facts, and into `post` a row for each word of each passage. Values are in the column order of
        schema.sql. `rules` are those by which texts were split into words, see `term_id`."""
        ids = [id for (id,) in cursor.execute(_IDS, (len(rows),))]
        with cursor.copy("copy fact from stdin") as copy:
            for id, row in zip(ids, rows, strict=True):
                words = sum(passage.length for passage in row.passages)
                copy.write_row(
                    (id, space, row.path, row.blob, row.kinds, row.is_note, row.said.replace("\0", "\ufffd"),
                     row.commit, row.since, len(row.passages), words)
                )  # fmt: skip
        with cursor.copy("copy post from stdin") as copy:
            for id, row in zip(ids, rows, strict=True):
                for part, passage in enumerate(row.passages[: _MAX_SMALLINT + 1]):  # parts count from 0
                    for word, count in passage.counts.items():
                        tf, length = min(count, _MAX_SMALLINT), min(passage.length, _MAX_SMALLINT)
                        copy.write_row((term_id(word, rules), space, id, part, tf, length, row.kinds))

    def search(self, asked: Sequence[Asked], scope: Collection[int] | None, kind: Kind, limit: int) -> list[Found]:
        """The facts that answer best, of the memories with these ids (None: of all), for sessions of that kind."""
        terms = [[term_id(word, each.rules) for word in group] for each in asked for group in each.terms]
        words = [term for group in terms for term in group]
        groups = [at for at, group in enumerate(terms) for _ in group]
        within = None if scope is None else list(scope)
        query = "select * from ask(%s::bigint[], %s::int[], %s::int[], %s::smallint, %s::int)"
        return self._all(Found, query, (words, groups, within, BITS[kind], limit)) if words else []

    def followed(self, kind: Kind = "main") -> list[Followed]:
        """The memories that may be asked in sessions of that kind, by name."""
        return self._all(Followed, "select * from followed(%s::smallint)", (BITS[kind],))

    def drop(self) -> None:
        """Remove the whole index."""
        self._run(sql.SQL("drop schema if exists {} cascade").format(self._schema))

    # The owner's side

    def create(self) -> None:
        """Make the tables and functions.

        Raises:
            AlreadyThere: the database has an index already.
            Inapplicable: the database is not in UTF-8.
        """
        encoding = next(self._run("show server_encoding"))[0]
        if encoding != "UTF8":
            raise Inapplicable(f"the database is in {encoding}; make one: createdb -E UTF8 -T template0")
        with self.changing() as cursor:
            try:
                cursor.execute(sql.SQL("create schema {}").format(self._schema))
            except psycopg.errors.DuplicateSchema:
                raise AlreadyThere(
                    "there is an index in this database; `crabmem fleet rebuild` makes it anew"
                ) from None
            tables = (Path(__file__).parent / "schema.sql").read_text("utf-8")
            cursor.execute(tables.replace(":k1", repr(K1)).replace(":b ", f"{B!r} ").encode())
            self._bind(self._schema)

    def _bind(self, schema: sql.Identifier) -> None:
        """Set the search path of `ask` to that schema: it executes a query built as text, so names are found late."""
        query = "alter function ask(bigint[], int[], int[], smallint, int) set search_path = {}, pg_temp"
        self._run(sql.SQL(query).format(schema))

    def is_owner(self) -> bool:
        """Whether this role owns the index."""
        query = "select pg_has_role(relowner, 'member') from pg_class where oid = to_regclass('space')"
        found = self._run(query).fetchone()
        if found is None:
            raise NotFound(_NO_INDEX)
        return bool(found[0])

    def add(self, name: str, address: str, stem: str) -> None:
        """Follow one more memory; a memory of that name gets the new address, and is due at once."""
        query = """
            insert into space (name, address, stem) values (%s, %s, %s) on conflict (name) do update
            set address = excluded.address, stem = excluded.stem, tried_at = null"""
        self._run(query, (name, address, stem))

    def remove(self, name: str) -> None:
        """Follow a memory no more.

        Raises:
            NotFound: no memory of that name is followed.
        """
        if not self._run("delete from space where name = %s", (name,)).rowcount:
            raise NotFound(f"no memory called {name} is followed; `crabmem fleet status` lists them")

    def spaces(self) -> list[Space]:
        """The memories that are followed, by name."""
        return self._all(Space, f"{_SPACES} order by name")

    @contextmanager
    def alone(self, space: int) -> Iterator[Space | None]:
        """Lock a memory for the block, and yield it; None if another follower has it, or it is no longer followed.

        The block is one transaction with a row lock, which the server drops if this process dies. `take_over` waits for
        it, so the index is not replaced meanwhile.
        """
        with self.changing():
            found = self._all(Space, f"{_SPACES} where space.id = %s for update of space skip locked", (space,))
            yield found[0] if found else None

    def due(self, every: float) -> list[int]:
        """The ids of memories that were pushed to, or not looked at for `every` seconds; longer after failures.

        Reported pushes are matched to memories first.
        """
        self._run(_DRAIN)
        return [id for (id,) in self._run(_DUE, (every,))]

    def looked(self, space: int, why: str = "") -> None:
        """Note the result of a look: with "" for `why` the rows are up to date, otherwise `why` it failed.

        Call it in the transaction of the look: `now()` is its beginning, and only pushes before that count as done.
        """
        query = """
            update space set tried_at = now(), error = %(why)s,
            failures = case %(why)s when '' then 0 else failures + 1 end,
            seen_at = case %(why)s when '' then now() else seen_at end where id = %(space)s"""
        self._run(query, {"why": why, "space": space})
        self._run("delete from push where space = %s and at < now()", (space,))

    def pushed(self, place: str) -> None:
        """Report a push to the memory with that name, or whose address has that path."""
        self._run("select pushed(%s)", (place,))

    def wait(self, seconds: float) -> None:
        """Wait at most `seconds` for a push to be reported."""
        with _own_errors():
            self._run(f"listen {CHANNEL}")
            for _ in self.connection.notifies(timeout=seconds, stop_after=1):
                pass

    # Rights

    def granted(self) -> list[tuple[str, str, int]]:
        """Every role with each of its patterns, and the bit of the kind it asks as."""
        return list(self._run("select role, pattern, kind from granted order by 1, 2"))

    def lock_rights(self) -> None:
        """Lock the rights against other changes until the transaction ends."""
        self._run("lock table granted in share row exclusive mode")

    def grant(self, role: str, pattern: str, kind: Kind) -> bool:
        """Let a role ask for the memories that a pattern names; create the role if it is new, and return whether."""
        is_new = not self._run("select from pg_roles where rolname = %s", (role,)).rowcount
        if is_new:
            self._run(sql.SQL("create role {} login").format(sql.Identifier(role)))
        self._let(role)
        query = "insert into granted values (%s, %s, %s) on conflict (role, pattern) do update set kind = excluded.kind"
        self._run(query, (role, pattern, BITS[kind]))
        return is_new

    def _let(self, role: str, does: str = "grant {} to {}") -> None:
        """Let a role call the functions for readers, and nothing else; or with `does` take that back."""
        for right in (sql.SQL("usage on schema {}").format(self._schema), sql.SQL(f"execute on function {_CALLED}")):
            self._run(sql.SQL(does).format(right, sql.Identifier(role)))

    def revoke(self, role: str, pattern: str | None) -> None:
        """Take back a pattern that was granted; None for all of a role.

        Raises:
            NotFound: the pattern, or with None any pattern, was not granted to the role.
        """
        query = "delete from granted where role = %s and pattern = coalesce(%s, pattern)"
        if not self._run(query, (role, pattern)).rowcount:
            raise NotFound(f"that was not granted to {role}; `crabmem fleet status` lists what was")
        has_more = self._run("select from granted where role = %s", (role,)).rowcount
        if not has_more and self._run("select from pg_roles where rolname = %s", (role,)).rowcount:
            self._let(role, "revoke {} from {}")

    def set_readers(self, readers: Iterable[tuple[str, int, int]]) -> None:
        """Replace all rights to see memories: by role, id of the memory and bit of the kind."""
        with self.changing() as cursor:
            cursor.execute("delete from reader")
            with cursor.copy("copy reader from stdin") as copy:
                for reader in readers:
                    copy.write_row(reader)

    # Making it anew

    def copy_to(self, other: "Postgres") -> None:
        """Have another index follow the same memories."""
        for space in self._run("select name, address, stem from space order by id"):
            other.add(*space)

    def take_over(self) -> None:
        """Replace the old index by this rebuilt one, in one transaction.

        Memories added or removed, and rights granted or revoked while it was rebuilt, are taken over from the old one.
        """
        with self.changing() as cursor:
            cursor.execute(_TAKE_OVER)
            for (role,) in cursor.execute("select distinct role from granted").fetchall():
                self._let(role)
            self._bind(sql.Identifier(SCHEMA))
            cursor.execute(sql.SQL("alter schema {} rename to {}").format(self._schema, sql.Identifier(SCHEMA)))

    def rewrite_files(self) -> None:
        """Rewrite the tables (`vacuum full`), so that no bytes of removed rows stay on disk. Questions wait meanwhile.

        Raises:
            Disabled: this role is not the owner.
            Busy: transactions of others would keep old rows alive, or hold a lock on the tables.
        """
        if not self.is_owner():
            raise Disabled("only the owner of the index writes its tables anew")
        self._run("set lock_timeout = '10s'")
        for table in ("fact", "post"):
            if holders := next(self._run(_HOLDERS))[0]:
                raise Busy(
                    f"{counted(holders, 'transaction')} of others in this database would keep the old bytes alive: "
                    "end them (pg_stat_activity lists them; `crabmem fleet follow` too), and try again"
                )
            self._run(f"vacuum full {table}")

    @contextmanager
    def changing(self) -> Iterator[psycopg.Cursor[Any]]:
        """Run the block in a transaction: all of its changes are made, or none. Nested blocks are savepoints."""
        with _own_errors(), self.connection.transaction(), self.connection.cursor() as cursor:
            yield cursor

    def _run(self, query: Any, values: Any = None) -> psycopg.Cursor[Any]:
        with _own_errors():
            return self.connection.execute(query, values)

    def _all(self, kind: type[Any], query: Any, values: Any = None) -> list[Any]:
        with _own_errors(), self.connection.cursor(row_factory=class_row(kind)) as cursor:
            return cursor.execute(query, values).fetchall()


def term_id(word: str, rules: bytes) -> int:
    """The number that stands for a word in the index, where words are made by these `rules`."""
    return int.from_bytes(blake2b(word.encode(), digest_size=8, key=rules).digest(), "big", signed=True)


def _check(url: str) -> None:
    """Refuse what is no address of a database. The message must not quote it: it may hold a password."""
    try:
        host = conninfo_to_dict(url).get("host")
    except (psycopg.Error, UnicodeError):
        raise InvalidArguments(f"that is no address of a database: {_FORM}") from None
    if not url.isprintable() or "@" in str(host or ""):
        raise InvalidArguments(f"that is no address of a database: {_FORM}")


@contextmanager
def _own_errors() -> Iterator[None]:
    """Turn errors of psycopg into ours. The order matters: specific classes come before their base classes."""
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise Disabled(f"the database does not let this role do that: {_in_short(error)}") from error
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName) as error:
        raise NotFound(_NO_INDEX) from error
    except psycopg.errors.LockNotAvailable as error:
        raise Busy("somebody reads the tables just now: try again") from error
    except psycopg.errors.ReservedName as error:
        raise InvalidArguments(f"the database has that name for itself: {_in_short(error)}") from error
    except UnicodeError as error:
        raise InvalidArguments("what is no text cannot go into a database") from error
    except (psycopg.errors.ProgramLimitExceeded, psycopg.DataError) as error:
        raise CrabmemError(f"the database cannot hold that: {_in_short(error)}") from error
    except psycopg.OperationalError as error:
        raise Unreachable(f"the database does not answer: {_in_short(error)}") from error
    except psycopg.Error as error:
        raise CrabmemError(f"the database failed: {_in_short(error)}") from error


def _in_short(error: psycopg.Error) -> str:
    return shortened(one_line(str(error)), 200)
