"""The index in PostgreSQL: a table of our terms, one statement for a question, rights that the server enforces.

BM25 is reckoned in the statement, over the rows that row-level security leaves: so scores are those of a local index
of just these memories, and tell nothing of others.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import psycopg
from psycopg import sql
from psycopg.rows import class_row

from ..errors import AlreadyThere, CrabmemError, Disabled, InvalidArguments, NotFound, Unreachable
from ..prompt.profile import Kind
from ..search.scoring import K1, B
from ..text.quoting import one_line
from ..text.words import shortened
from .protocol import BITS, Asked, Contents, Followed, Found, Rights, Row, Space

SCHEMA, NEXT = "crabmem", "crabmem_next"
#: What a follower listens to.
CHANNEL = "crabmem"
#: Seconds that are waited for a connection, and for an answer.
PATIENCE = 2
# The first key of advisory locks: a memory's is its id.
_LOCK = 0x63726162
_MOST = 32_767  # what a smallint holds
# Of at most so many memories each is looked up in the index; of more, all postings of a word are read faster.
_FEW = 1_000
# What a role may read of each table.
_READ = {
    "space": "(id, name, language, commit, indexed_at, seen_at, wanted_at)",
    **dict.fromkeys(("fact", "post", "amount", "reader", "asks_as"), ""),
}

_SPACES = "select id, name, address, commit, rules, settings, seen_at, error from space"
_TAKE_OVER = f"""
    lock table {SCHEMA}.space, {SCHEMA}.granted, {SCHEMA}.asks_as, {SCHEMA}.reader in exclusive mode;
    delete from space where name not in (select name from {SCHEMA}.space);
    insert into space (name, address, stem) select name, address, stem from {SCHEMA}.space on conflict do nothing;
    insert into granted select * from {SCHEMA}.granted;
    insert into asks_as select * from {SCHEMA}.asks_as;
    insert into reader select role, new.id from {SCHEMA}.reader
        join {SCHEMA}.space old on old.id = space join space new using (name);
    drop schema {SCHEMA} cascade"""
_HELD = "select path, id, blob from fact where space = %s"
_IDS = "select nextval(pg_get_serial_sequence('fact', 'id')) from generate_series(1, %s)"
_AMOUNTS = """
    insert into amount select %(space)s, kind, count(*), sum(parts), sum(words)
    from fact, unnest(%(bits)s::smallint[]) kind where space = %(space)s and kinds & kind <> 0 group by kind"""
_SAID = """
    update space set commit = %s, language = %s, rules = %s, settings = %s, indexed_at = now(), seen_at = %s,
    failures = 0, error = '' where id = %s"""
_RENEWED = """
    update fact set commit = u.commit, since = u.since
    from unnest(%s::text[], %s::text[], %s::timestamptz[]) u (path, commit, since)
    where fact.space = %s and fact.path = u.path"""
# Equal scores are in the order of addresses; the last digits of a sum depend on its order, so they do not count.
_SEARCH = """
with p as materialized (select {found} from post {groups}
    where post.term = any(%(terms)s) and post.kinds & %(bit)s <> 0 {of_post}{grouped}),
s as (select sum(parts)::float8 n, sum(words)::float8 / greatest(sum(parts), 1) average
    from amount where kind = %(bit)s {of_amount}),
i as (select g, ln(1 + (s.n - count(*) + .5) / (count(*) + .5)) idf from p, s group by g, s.n),
y as (select fact, part, sum(i.idf * p.tf / (p.tf + {k1} * (1 - {b} + {b} * p.len / s.average))) score
    from p join i using (g), s group by fact, part),
best as (select fact, max(score) score from y group by fact
    order by round(max(score) * 1e8) desc fetch first %(limit)s rows with ties)
select best.score, f.space, space.name, f.path, f.blob, f.kinds, f.is_note, f.said, f.commit, f.since,
    extract(epoch from now() - space.seen_at)::float8 behind
from best join fact f on f.id = best.fact join space on space.id = f.space
order by round(best.score * 1e8) desc, space.name, f.path limit %(limit)s"""
_RIGHTS = """
    select row_security_active('space'), coalesce((select kind from asks_as where role = current_user), 0),
    array(select space from reader where role = current_user)"""
_FOLLOWED = """
    select id, name, language, commit, extract(epoch from now() - seen_at)::float8 behind,
    coalesce(wanted_at > seen_at, false) pushed, coalesce(facts, 0) facts
    from space left join amount on space = id and kind = %s order by name"""


class Postgres:
    """A `FleetIndex`, and what else its owner does with it. Readers ask with their own role.

    Raises:
        Unreachable: by every method, when the database does not answer.
        Disabled: by every method, when it does not let this role do that.
    """

    def __init__(self, url: str, schema: str = SCHEMA, patience: int = 0) -> None:
        """Connect; with `patience` nothing takes longer than so many seconds."""
        self.url, self._schema = url, sql.Identifier(schema)
        with _told():
            # A plan of one's own for each question: one that fits all is slower for most.
            self.connection = psycopg.connect(
                url, autocommit=True, prepare_threshold=None, connect_timeout=patience or None
            )
        self._run(sql.SQL("set search_path = {}, pg_temp").format(self._schema))
        self._run(sql.SQL("set statement_timeout = {}").format(patience * 1_000))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self.connection.close()

    def is_alive(self) -> bool:
        """Whether the server still answers."""
        try:
            self._run("select 1")
        except CrabmemError:
            self.close()
        return not self.connection.closed

    # What an index does

    def put(self, space: Space, contents: Contents, looked_at: datetime) -> int:
        """Have the rows of `space` say `contents`, all or nothing; return how many facts were written or removed.

        What is there and says the same stays, whatever happened between: so first and last time, a purge and a forced
        push, a crash and its repair are the same.
        """
        is_same = (space.rules, space.settings) == (contents.rules, contents.settings)
        with self._changing() as cursor:
            cursor.execute("select pg_advisory_xact_lock(%s, %s)", (_LOCK, space.id))
            held = {path: (id, blob) for path, id, blob in cursor.execute(_HELD, (space.id,))}
            kept = {path for path, (_, blob) in held.items() if is_same and contents.blobs.get(path) == blob}
            gone = [id for path, (id, _) in held.items() if path not in kept]
            cursor.execute("delete from fact where id = any(%s)", (gone,))
            rows = list(contents.read(contents.blobs.keys() - kept))
            self._copy(cursor, space.id, rows, contents.rules)
            if contents.is_rewritten:
                renewed = list(contents.read(kept))
                columns = zip(*((row.path, row.commit, row.since) for row in renewed), strict=True)
                cursor.execute(_RENEWED, (*(map(list, columns) if renewed else ([], [], [])), space.id))
            if gone or rows:
                cursor.execute("delete from amount where space = %s", (space.id,))
                cursor.execute(_AMOUNTS, {"space": space.id, "bits": list(BITS.values())})
            said = (contents.commit, contents.language, contents.rules, contents.settings, looked_at, space.id)
            cursor.execute(_SAID, said)
        return len(gone) + len(rows)

    @staticmethod
    def _copy(cursor: psycopg.Cursor[Any], space: int, rows: Sequence[Row], rules: bytes) -> None:
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
                for part, passage in enumerate(row.passages[: _MOST + 1]):
                    for word, count in passage.counts.items():
                        numbers = min(count, _MOST), min(passage.length, _MOST)
                        copy.write_row((_term(word, rules), space, id, part, *numbers, row.kinds))

    def search(self, asked: Sequence[Asked], scope: Collection[int] | None, kind: Kind, limit: int) -> list[Found]:
        """The facts that answer best, of the memories with these ids (None: of all), for sessions of that kind.

        Raises:
            Disabled: this role asks as sessions of another kind.
        """
        rights = self.rights()
        bit = rights.bit if kind == "main" else BITS[kind]
        if rights.bit not in (BITS["main"], bit):
            raise Disabled(f"sessions of the kind {kind} may not ask everywhere by this role, which asks as others")
        terms = [[_term(word, each.rules) for word in group] for each in asked for group in each.terms]
        if not terms:
            return []
        if scope is None and rights.spaces is not None and len(rights.spaces) <= _FEW:
            scope = rights.spaces
        statement = _statement(is_grouped=any(len(group) > 1 for group in terms), is_scoped=scope is not None)
        values = {
            "terms": [term for group in terms for term in group],
            "groups": [at for at, group in enumerate(terms) for _ in group],
            "bit": bit,
            "scope": list(scope or ()),
            "limit": limit,
        }
        return [each for each in self._all(Found, statement, values) if rights.allows(each)]

    def followed(self) -> list[Followed]:
        """How far the index is, by name, of what this role may see."""
        return self._all(Followed, _FOLLOWED, (self.rights().bit,))

    def drop(self) -> None:
        """Remove the whole index."""
        self._run(sql.SQL("drop schema if exists {} cascade").format(self._schema))

    def rights(self) -> Rights:
        """What the server lets this role see."""
        is_limited, bit, spaces = next(self._run(_RIGHTS))
        return Rights(frozenset(spaces), bit) if is_limited else Rights(None, BITS["main"])

    # What its owner does

    def create(self) -> None:
        """Make the tables.

        Raises:
            AlreadyThere: they are there.
        """
        with self._changing() as cursor:
            try:
                cursor.execute(sql.SQL("create schema {}").format(self._schema))
            except psycopg.errors.DuplicateSchema:
                raise AlreadyThere(
                    "there is an index in this database; `crabmem fleet rebuild` makes it anew"
                ) from None
            cursor.execute((Path(__file__).parent / "schema.sql").read_bytes())

    def identity(self) -> str:
        """What this index is told from others by, and from itself before it was made anew."""
        return str(next(self._run("select id from about"))[0])

    def add(self, name: str, address: str, stem: str) -> None:
        """Follow one more memory, or one by another address."""
        query = """
            insert into space (name, address, stem) values (%s, %s, %s) on conflict (name) do update
            set address = excluded.address, stem = excluded.stem, wanted_at = now()"""
        self._run(query, (name, address, stem))

    def remove(self, name: str) -> None:
        """Follow a memory no more.

        Raises:
            NotFound: none is called so.
        """
        if not self._run("delete from space where name = %s", (name,)).rowcount:
            raise NotFound(f"no memory called {name} is followed; `crabmem fleet status` lists them")

    def spaces(self) -> list[Space]:
        """The memories that are followed, by name."""
        return self._all(Space, f"{_SPACES} order by name")

    @contextmanager
    def held(self, space: int) -> Iterator[Space | None]:
        """Look after a memory alone, and as it is now; None where somebody else does, or it is followed no more.

        The database ends it for who dies.
        """
        is_ours = next(self._run("select pg_try_advisory_lock(%s, %s)", (~_LOCK, space)))[0]
        try:
            found = self._all(Space, f"{_SPACES} where id = %s", (space,)) if is_ours else []
            yield found[0] if found else None
        finally:
            if is_ours and not self.connection.closed:
                self._run("select pg_advisory_unlock(%s, %s)", (~_LOCK, space))

    def due(self, every: float) -> list[int]:
        """The memories that somebody pushed to, and those not looked at for so many seconds; later after failures."""
        query = """
            select id from space where wanted_at > tried_at or tried_at is null
            or tried_at < now() - make_interval(secs => least(3600, %s * 2 ^ least(failures, 10)))
            order by wanted_at > tried_at desc, tried_at nulls first"""
        return [id for (id,) in self._run(query, (every,))]

    def tried(self, space: int) -> datetime:
        """Note that a look begins; return when."""
        query = "update space set tried_at = now() where id = %s returning tried_at"
        at: datetime = next(self._run(query, (space,)))[0]
        return at

    def same(self, space: int, looked_at: datetime) -> None:
        """Note that the remote said the same then."""
        self._run("update space set seen_at = %s, failures = 0, error = '' where id = %s", (looked_at, space))

    def failed(self, space: int, why: str) -> None:
        """Note that a look failed."""
        self._run("update space set failures = failures + 1, error = %s where id = %s", (why, space))

    def pushed(self, place: str) -> None:
        """Tell the follower that somebody pushed to the memory of that name, or at that path."""
        self._run("select pushed(%s)", (place,))

    def wait(self, seconds: float) -> None:
        """Wait for a push, at most so long."""
        with _told():
            self._run(f"listen {CHANNEL}")
            for _ in self.connection.notifies(timeout=seconds, stop_after=1):
                pass

    # Rights

    def granted(self) -> list[tuple[str, str, int]]:
        """Every role with a pattern, and the bit of the kind it asks as."""
        return list(self._run("select role, pattern, kind from granted join asks_as using (role) order by 1, 2"))

    def grant(self, role: str, pattern: str, kind: Kind) -> bool:
        """Let a role ask for the memories that a pattern names; return whether the role was made for it."""
        as_kind = "insert into asks_as values (%s, %s) on conflict (role) do update set kind = excluded.kind"
        with self._changing() as cursor:
            is_new = not cursor.execute("select from pg_roles where rolname = %s", (role,)).rowcount
            if is_new:
                cursor.execute(sql.SQL("create role {} login").format(sql.Identifier(role)))
            self._let_in(role)
            cursor.execute("insert into granted values (%s, %s) on conflict do nothing", (role, pattern))
            cursor.execute(as_kind, (role, BITS[kind]))
        return is_new

    def _let_in(self, role: str) -> None:
        """Let a role read the tables: of their rows it is shown what policies say."""
        name = sql.Identifier(role)
        self._run(sql.SQL("grant usage on schema {} to {}").format(self._schema, name))
        for table, columns in _READ.items():
            self._run(sql.SQL("grant select {} on {} to {}").format(sql.SQL(columns), sql.Identifier(table), name))
        self._run(sql.SQL("grant execute on function pushed(text) to {}").format(name))

    def revoke(self, role: str, pattern: str | None) -> None:
        """Take back a pattern that was granted; None for all of a role.

        Raises:
            NotFound: it was not granted.
        """
        with self._changing() as cursor:
            query = "delete from granted where role = %s and pattern = coalesce(%s, pattern)"
            if not cursor.execute(query, (role, pattern)).rowcount:
                raise NotFound(f"that was not granted to {role}; `crabmem fleet status` lists what was")
            cursor.execute("delete from asks_as where role = %s and role not in (select role from granted)", (role,))

    def set_readers(self, pairs: Iterable[tuple[str, int]]) -> None:
        """Have just these roles see these memories."""
        with self._changing() as cursor:
            cursor.execute("delete from reader")
            with cursor.copy("copy reader from stdin") as copy:
                for pair in pairs:
                    copy.write_row(pair)

    # Making it anew

    def copy_to(self, other: "Postgres") -> None:
        """Have another index follow the same memories."""
        for space in self._run("select name, address, stem from space order by id"):
            other.add(*space)

    def take_over(self) -> None:
        """Have this index, which was made anew, stand in place of the old one: at once for all, with the rights of now.

        What was added, removed, granted or revoked meanwhile holds.
        """
        with self._changing() as cursor:
            cursor.execute(_TAKE_OVER)
            for (role,) in cursor.execute("select role from asks_as").fetchall():
                self._let_in(role)
            cursor.execute(sql.SQL("alter schema {} rename to {}").format(self._schema, sql.Identifier(SCHEMA)))

    def rewrite_files(self) -> None:
        """Write the tables anew, without the bytes of what was removed; nobody is answered meanwhile."""
        self._run("vacuum full fact")
        self._run("vacuum full post")

    @contextmanager
    def _changing(self) -> Iterator[psycopg.Cursor[Any]]:
        """All that is done within it is done, or nothing."""
        with _told(), self.connection.transaction(), self.connection.cursor() as cursor:
            yield cursor

    def _run(self, query: Any, values: Any = None) -> psycopg.Cursor[Any]:
        with _told():
            return self.connection.execute(query, values)

    def _all(self, kind: type[Any], query: Any, values: Any = None) -> list[Any]:
        with _told(), self.connection.cursor(row_factory=class_row(kind)) as cursor:
            return cursor.execute(query, values).fetchall()


def _term(word: str, rules: bytes) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=8, key=rules).digest(), "big", signed=True)


def _statement(is_grouped: bool, is_scoped: bool) -> sql.Composed:
    """The statement of a question; of groups of words only where one has several, as it takes half as long again."""
    parts = {
        "found": "g, fact, part, sum(tf) tf, min(len) len" if is_grouped else "post.term g, fact, part, tf, len",
        "groups": "join unnest(%(terms)s::bigint[], %(groups)s::int[]) q (term, g) using (term)" if is_grouped else "",
        "grouped": " group by g, fact, part" if is_grouped else "",
        "of_post": "and post.space = any(%(scope)s)" if is_scoped else "",
        "of_amount": "and space = any(%(scope)s)" if is_scoped else "",
        "k1": repr(K1),
        "b": repr(B),
    }
    return sql.SQL(_SEARCH).format(**{name: sql.SQL(part) for name, part in parts.items()})


@contextmanager
def _told() -> Iterator[None]:
    """What the database refuses, in our own words."""
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise Disabled(f"the database does not let this role do that: {_said(error)}") from error
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName) as error:
        raise NotFound(
            "there is no index in this database, or none for this role: `crabmem fleet init` makes one"
        ) from error
    except psycopg.ProgrammingError as error:
        raise InvalidArguments(f"that is no address of a database: {_said(error)}") from error
    except psycopg.OperationalError as error:
        raise Unreachable(f"the database does not answer: {_said(error)}") from error
    except psycopg.Error as error:
        raise CrabmemError(f"the database failed: {_said(error)}") from error


def _said(error: psycopg.Error) -> str:
    return shortened(one_line(str(error)), 200)
