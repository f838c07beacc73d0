"""Rights: the server enforces them, for whoever connects as a role, by crabmem or not."""

import psycopg
import pytest

from crabmem.errors import Disabled, InvalidArguments, NotFound
from crabmem.fleet import rights
from crabmem.fleet.postgres import Postgres
from tests.fleet.conftest import Fleet
from tests.fleet.filled import fill
from tests.fleet.test_asking import MAIN, files_of

TABLES = ("space", "fact", "post", "amount", "reader", "asks_as")


@pytest.fixture
def filled(fleet: Fleet) -> Fleet:
    """A memory of each of two teams, of the first with a fact for main sessions alone."""
    shown, hidden = files_of([("Otter", "a", "shown")]), files_of([("Otter two", "a", "hidden")], MAIN, 1)
    with fleet.index() as index:
        fill(index, {"a/one": {**shown, **hidden}, "b/two": files_of([("Otter three", "a", "of others")])})
    return fleet


def all_seen(url: str) -> str:
    """All that a role reads with plain SQL."""
    with psycopg.connect(url, autocommit=True) as plain:
        plain.execute("set search_path = crabmem")
        columns = "id, name, language, commit, indexed_at, seen_at, wanted_at"
        rows = [
            plain.execute(f"select {columns if table == 'space' else '*'} from {table}").fetchall() for table in TABLES
        ]
    return repr(rows)


def test_by_plain_sql_a_reader_sees_what_was_granted_and_no_more(filled: Fleet) -> None:
    seen = all_seen(filled.grant("ann", "a/*", "group"))
    assert "shown" in seen and "a/one" in seen
    assert "hidden" not in seen and "of others" not in seen and "b/two" not in seen
    with psycopg.connect(filled.address("ann"), autocommit=True) as plain:
        plain.execute("set search_path = crabmem")
        counts = [plain.execute(f"select count(*) from {table}").fetchone() for table in ("fact", "amount", "space")]
    assert counts == [(1,), (1,), (1,)]


@pytest.mark.parametrize(
    "statement",
    [
        "delete from fact", "update fact set kinds = 31", "insert into reader values (current_user, 2)",
        "insert into asks_as values (current_user, 1)", "update asks_as set kind = 1", "select address from space",
        "select error from space", "select * from granted", "truncate post", "drop table post",
        "create table crabmem.mine (x int)",
        "alter table fact disable row level security", "set row_security = off; select * from fact",
        "update space set wanted_at = now()",
    ],
)  # fmt: skip
def test_a_reader_changes_nothing_and_reads_neither_addresses_nor_rights(filled: Fleet, statement: str) -> None:
    url = filled.grant("ann", "a/*")
    with psycopg.connect(url, autocommit=True) as plain:
        plain.execute("set search_path = crabmem")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            plain.execute(statement)


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
    assert not filled.ask("otter", url).hits
    assert "shown" not in all_seen(url)


def test_a_memory_that_comes_later_is_seen_if_its_name_fits(filled: Fleet) -> None:
    url = filled.grant("ann", "a/*")
    filled.follow("a/three")
    filled.follow("c/four")
    with Postgres(url) as reader:
        assert [each.name for each in reader.followed()] == ["a/one", "a/three"]


def test_a_reader_can_say_that_it_pushed_and_learns_nothing_by_it(filled: Fleet) -> None:
    with Postgres(filled.grant("ann", "a/*")) as reader:
        reader.pushed("b/two")
        reader.pushed("nothing")
    with filled.index() as index:
        assert index.connection.execute("select name from space where wanted_at is not null").fetchall() == [("b/two",)]


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
        rights.checked(name, "/srv/x.git")
