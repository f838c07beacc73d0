"""A PostgreSQL of a test's own, in a folder, asked over a socket in it. Of root's tests another user runs it."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

NO_SERVER = "no PostgreSQL is on this machine: apt install postgresql"
_QUICK = "-c fsync=off -c full_page_writes=off -c max_wal_size=256MB"
_USERS = ("postgres", "nobody")
OWNER = "owner"


def programs() -> Path | None:
    """The folder of the newest PostgreSQL's programs; None where there is none."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda file: -int(file.parts[-3]))
    named = shutil.which("postgres")
    return next((file.parent for file in [*debian, *([Path(named)] if named else [])]), None)


class Server:
    """A server that runs; each test has a database of its own in it."""

    def __init__(self, folder: Path, options: str = _QUICK) -> None:
        found = programs()
        assert found, NO_SERVER
        self.programs, self._folder, self._count = found, folder, 0
        self._options = f"-c listen_addresses= -k {folder} {options}"
        # A server refuses to be run by root.
        self._user = next((user for user in _USERS if _is_user(user)), None) if os.getuid() == 0 else None
        if self._user:
            shutil.chown(folder, self._user)
        self._do("initdb", "-A", "trust", "-U", OWNER, "--no-sync", "-E", "UTF8", "--locale=C", "-D", folder / "data")
        self.start()

    def start(self) -> None:
        """Have it run, and wait until it answers; one that was killed may need a moment to let go of its folder."""
        for attempt in range(20):
            try:
                self._do("pg_ctl", "-D", self._folder / "data", "-w", "-l", self._folder / "log",
                         "-o", self._options, "start")  # fmt: skip
                return
            except subprocess.CalledProcessError:
                if attempt == 19:
                    raise
                time.sleep(0.25)

    def kill(self) -> None:
        """End it as a power cut does."""
        os.kill(int((self._folder / "data/postmaster.pid").read_text().split("\n", 1)[0]), signal.SIGKILL)

    def stop(self) -> None:
        """End it at once."""
        self._do("pg_ctl", "-D", self._folder / "data", "-m", "immediate", "stop")

    def url(self, database: str, role: str = OWNER) -> str:
        """The address of a database, as a role has it."""
        return f"postgresql://{role}@/{database}?host={self._folder}"

    def database(self) -> str:
        """The name of a new database."""
        self._count += 1
        name = f"test_{self._count}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        return name

    def _do(self, program: str, *words: object) -> None:
        subprocess.run(
            [str(self.programs / program), *map(str, words)],
            user=self._user, cwd=self._folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip


@contextmanager
def serving(durably: bool = False, options: str = "") -> Iterator[Server]:
    """A server of one's own. Its folder has a short name, as that of a socket must."""
    folder = Path(tempfile.mkdtemp(prefix="crabmem-pg-", dir="/tmp" if durably else None))
    try:
        server = Server(folder, options if durably else _QUICK)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_user(name: str) -> bool:
    import pwd

    try:
        return bool(pwd.getpwnam(name))
    except KeyError:
        return False
