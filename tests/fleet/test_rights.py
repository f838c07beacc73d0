"""Rights: the server enforces them, for whoever connects as a role, by crabmem or not."""

import os

import psycopg
import pytest

from crabmem.errors import Busy, Disabled, InvalidArguments, NotFound, Unreachable
from crabmem.fleet import rights
from crabmem.fleet.following import rebuild
from crabmem.fleet.postgres import Postgres, term_id
from crabmem.fleet.protocol import BITS
from crabmem.search import rules
from tests.fleet.conftest import Fleet
from tests.fleet.filled import fill
from tests.fleet.test_asking import MAIN, files_of

TABLES = ("about", "space", "fact", "post", "amount", "wanted", "push", "granted", "reader")
ALL = "ask(array[{}]::bigint[], array[0], null, {}::smallint, 100)"


@pytest.fixture
def filled(fleet: Fleet) -> Fleet:
    """A memory of each of two teams, of the first with a fact for main sessions alone."""
    shown, hidden = files_of([("Otter", "a", "shown")]), files_of([("Otter two", "a", "hidden")], MAIN, 1)
    with fleet.index() as index:
        fill(index, {"a/one": {**shown, **hidden}, "b/two": files_of([("Otter three", "a", "of others")])})
    return fleet


def all_seen(url: str) -> str:
    """All that a role reads with plain SQL, for each kind of session."""
    term = term_id("otter", rules("english"))
    with psycopg.connect(url, autocommit=True) as plain:
        plain.execute("set search_path = crabmem")
        said = [
            plain.execute(f"select * from {source}").fetchall()
            for kind in BITS.values()
            for source in (ALL.format(term, kind), f"followed({kind}::smallint)")
        ]
    return repr(said)


def test_by_plain_sql_a_reader_sees_what_was_granted_and_no_more(filled: Fleet) -> None:
    seen = all_seen(filled.grant("ann", "a/*", "group"))
    assert "shown" in seen and "a/one" in seen
    assert "hidden" not in seen and "of others" not in seen and "b/two" not in seen


def test_what_explain_tells_a_reader_is_nothing_of_what_was_not_granted(filled: Fleet) -> None:
    """Of a table of which one may read some rows it counts those that a condition leaves and rights take away."""
    with psycopg.connect(filled.grant("ann", "a/*", "group"), autocommit=True) as plain:
        plain.execute("set search_path = crabmem")
        for table in TABLES:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                plain.execute(f"explain analyze select from {table}")
        asked = ALL.format(term_id("otter", rules("english")), MAIN)
        plan = plain.execute(f"explain (analyze, verbose, costs off, timing off) select * from {asked}").fetchall()
    assert [line for (line,) in plan if "Scan" in line] == ["Function Scan on crabmem.ask (actual rows=1 loops=1)"]


def test_a_grant_of_another_kind_changes_no_other(filled: Fleet) -> None:
    url = filled.grant("ann", "a/*", "group")
    filled.grant("ann", "b/*", "main")
    assert [hit.entry.name for hit in filled.ask("otter", url)] == ["Otter", "Otter three"]
    filled.grant("ann", "*", "main")  # of two that fit, the one that sees most
    assert len(filled.ask("otter", url)) == 3


@pytest.mark.parametrize(
    "statement",
    [
        "delete from fact", "insert into reader values (current_user, 2, 1)", "update reader set kind = 1",
        "select address from space", "select * from granted", "truncate post", "drop table post",
        "select * from mine(1::smallint)",
        "create table crabmem.mine (x int)", "alter table fact disable row level security",
        "update space set tried_at = now()",
        "set row_security = off; select * from fact", "insert into wanted values (now())",

    ],
)  # fmt: skip
def test_a_reader_touches_no_table(filled: Fleet, statement: str) -> None:
    url = filled.grant("ann", "a/*")
    with psycopg.connect(url, autocommit=True) as plain:
        plain.execute("set search_path = crabmem")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            plain.execute(statement)


def test_a_reader_holds_up_neither_a_follower_nor_anybody_else(filled: Fleet) -> None:
    with psycopg.connect(filled.grant("ann", "a/*")) as plain, filled.index() as index:
        plain.execute("set search_path = crabmem")
        plain.execute("select pushed('b/two'), pg_advisory_lock(1)")
        plain.execute("select * from followed(1::smallint)")  # and its transaction stays open
        index.connection.execute("set statement_timeout = '5s'")
        for space in index.spaces():
            with index.alone(space.id) as held:
                assert held is not None
        assert len(index.due(60)) == 0


def test_saying_that_it_pushed_tells_a_reader_nothing(filled: Fleet) -> None:
    counted = (  # of the transaction of its own
        "select n_tup_ins, n_tup_upd from pg_stat_xact_user_tables"
        " where relname in ('space', 'wanted') order by relname"
    )
    seen = list[object]()
    for place in ("b/two", "srv/b/two", "nothing"):
        with psycopg.connect(filled.grant("ann", "a/*")) as plain:
            plain.execute("set search_path = crabmem")
            plain.execute("select pushed(%s)", (place,))
            seen.append(plain.execute(counted).fetchall())
            plain.rollback()
    assert seen[0] == seen[1] == seen[2]


def test_a_role_without_rights_is_told_that_there_is_no_index(filled: Fleet) -> None:
    with filled.index() as index:
        index.connection.execute(f"create role {filled.role('eve')} login")
    with pytest.raises(NotFound, match="no index in this database, or none for this role"):
        filled.ask("otter", filled.address("eve"))


def test_what_is_revoked_is_gone_at_once(filled: Fleet) -> None:
    url = filled.grant("ann", "a/*")
    filled.grant("ann", "b/*")
    assert {hit.scope for hit in filled.ask("otter", url)} == {"a/one", "b/two"}
    with filled.index() as index:
        rights.revoke(index, filled.role("ann"), "b/*")
    assert {hit.scope for hit in filled.ask("otter", url)} == {"a/one"}
    with filled.index() as index:
        rights.revoke(index, filled.role("ann"), None)
    with pytest.raises(NotFound, match="none for this role"):
        filled.ask("otter", url)
    with pytest.raises(psycopg.errors.UndefinedFunction):
        all_seen(url)


def test_an_add_beside_a_revoke_gives_nothing_back(filled: Fleet) -> None:
    filled.grant("ann", "*")
    with filled.index() as one, filled.index() as other:
        one.connection.execute("set lock_timeout = '300ms'")
        with other.changing():
            other.lock_rights()
            with pytest.raises(Busy):
                rights.add(one, [("a/late", "/srv/late.git", "late")])
            other.revoke(filled.role("ann"), None)
            other.set_readers([])
        rights.add(one, [("a/late", "/srv/late.git", "late")])
        assert one.connection.execute("select count(*) from reader").fetchone() == (0,)


def test_a_role_that_was_dropped_stops_no_rebuild(filled: Fleet) -> None:
    filled.grant("ann", "*")
    with filled.index() as index:
        role = filled.role("ann")
        index.connection.execute(f"drop owned by {role}")
        index.connection.execute(f"drop role {role}")
        for space in index.spaces():
            index.remove(space.name)
        rebuild(index, filled.folder / "mirrors", os.environ)
        assert index.granted() == []


def test_only_the_owner_writes_the_tables_anew_and_not_beside_an_old_transaction(filled: Fleet) -> None:
    with Postgres(filled.grant("ann", "a/*")) as reader, pytest.raises(Disabled, match="only the owner"):
        reader.rewrite_files()
    with filled.index() as index:
        with psycopg.connect(filled.address("ann")) as plain:
            plain.execute("set transaction isolation level repeatable read")
            plain.execute("select 1")
            with pytest.raises(Busy, match="1 transaction of others"):
                index.rewrite_files()
        index.rewrite_files()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:hunter%2@h/db", "postgres:/ann:hunter2@h/db", "ann:hunter2@h/db", "postgresql://ann:hunter2@[h/db",
        "postgresql://ann:p@hunter2@h/db", "hunt#er2=1", "postgresql://ann:hunter2@127.0.0.1:1/db",
    ],
)  # fmt: skip
def test_no_error_says_a_part_of_the_password(url: str) -> None:
    with pytest.raises((InvalidArguments, Unreachable)) as refused:
        Postgres(url, patience=2)
    assert "hunt" not in str(refused.value) and "er2" not in str(refused.value)


def test_a_pattern_has_one_sign(filled: Fleet) -> None:
    assert rights.matching(["team[1]/x", "team1/x", "teama/x"], "team[1]/*") == ["team[1]/x"]
    assert rights.matching(["a", "?"], "?") == ["?"]


def test_a_memory_that_comes_later_is_seen_if_its_name_fits(filled: Fleet) -> None:
    url = filled.grant("ann", "a/*")
    filled.follow("a/three")
    filled.follow("c/four")
    with Postgres(url) as reader:
        assert [each.name for each in reader.followed()] == ["a/one", "a/three"]


def test_only_the_owner_grants(filled: Fleet) -> None:
    with Postgres(filled.grant("ann", "a/*")) as reader, pytest.raises(Disabled):
        rights.grant(reader, "bob", "a/*", "main")


@pytest.mark.parametrize("role", ["", "pg_read_all_data", "x" * 64, "a\nb"])
def test_a_role_that_cannot_be_is_refused(filled: Fleet, role: str) -> None:
    with filled.index() as index, pytest.raises(InvalidArguments, match="no role"):
        rights.grant(index, role, "*", "main")


def test_a_pattern_that_names_nothing_is_refused(filled: Fleet) -> None:
    with filled.index() as index, pytest.raises(NotFound, match="no memory that is followed"):
        rights.grant(index, filled.role("ann"), "nobody/*", "main")


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a\nb", "x" * 201])
def test_a_name_that_could_not_stand_in_an_answer_is_refused(name: str) -> None:
    with pytest.raises(InvalidArguments, match="no memory can be called"):
        rights.checked_memory(name, "/srv/x.git")


def test_a_role_without_a_pattern_says_what_was_pushed_to_and_sees_nothing(filled: Fleet) -> None:
    url = filled.grant("hook", "")
    with Postgres(url) as hook, filled.index() as index:
        index.connection.execute("update space set tried_at = now()")
        hook.pushed("b/two")
        assert len(index.due(60)) == 1
    with pytest.raises(NotFound, match="no memory may be asked"):
        filled.ask("otter", url)
