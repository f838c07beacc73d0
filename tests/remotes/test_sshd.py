"""The same by OpenSSH's own server, on a port of this machine: keys, hosts that are known and hosts that are not."""

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crabmem.errors import Outrun, Refused, Unreachable
from tests.remotes.servers import needs_git
from tests.remotes.sides import MAIN, Side, begun, is_whole, other

_SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
pytestmark = [
    needs_git,
    pytest.mark.skipif(
        not (_SSHD and shutil.which("ssh")), reason="NOT RUN: there is no sshd; `apt install openssh-server` brings one"
    ),
]
_SERVER = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/person.pub
StrictModes no
UsePAM no
PasswordAuthentication no
PidFile none
"""
_PERSON = """
Host *
    IdentityFile {folder}/person
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known
    GlobalKnownHostsFile /dev/null
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Keys of a host and a person, and an `ssh` with that person's configuration."""
    for name in ("host", "person"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True)
    (tmp_path / "config").write_text(_PERSON.format(folder=tmp_path))
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs/ssh").write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {tmp_path}/config "$@"\n')
    (tmp_path / "programs/ssh").chmod(0o755)
    return tmp_path


@pytest.fixture
def here(folder: Path) -> Iterator[Side]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "sshd_config").write_text(_SERVER.format(port=port, folder=folder))
    log = folder / "sshd.log"
    with log.open("wb") as errors:
        process = subprocess.Popen([str(_SSHD), "-D", "-e", "-f", folder / "sshd_config"], stderr=errors)
    try:
        _wait_for(port, process, log)
        side = begun(folder)
        person = pwd.getpwuid(os.getuid()).pw_name
        side.to, side.environ = f"ssh://{person}@127.0.0.1:{port}{side.to}", {"PATH": str(folder / "programs")}
        know(folder, port)
        yield side
    finally:
        process.terminate()
        process.wait()


def know(folder: Path, port: int, key: str = "host.pub") -> None:
    (folder / "known").write_text(f"[127.0.0.1]:{port} {(folder / key).read_text()}")


def port_of(side: Side) -> int:
    return int(side.to.split(":")[2].partition("/")[0])


def _wait_for(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(100):
        if process.poll() is not None:
            pytest.skip(f"NOT RUN: sshd does not start here: {log.read_text()}")
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return


def test_what_one_side_pushes_the_other_fetches_whole(here: Side, folder: Path) -> None:
    here.push()
    there = other(here)
    there.take()
    assert there.head() == here.head() and is_whole(there.root) and is_whole(folder / "bare.git")
    there.remember()
    there.push()
    with pytest.raises(Outrun):
        here.push({MAIN: (here.head(), here.remember())})
    assert here.fetch() == 5


def test_a_host_that_is_not_known_is_not_taken_unasked(here: Side, folder: Path) -> None:
    (folder / "known").write_text("")
    with pytest.raises(Refused, match=rf"does not know the key.*`ssh -p {port_of(here)} .*@127\.0\.0\.1`"):
        here.refs()
    assert (folder / "known").read_text() == ""
    know(folder, port_of(here), "person.pub")
    with pytest.raises(Refused, match="has changed"):
        here.push({MAIN: (None, here.head())})


def test_who_the_person_lets_in_by_their_own_configuration_is_let_in(here: Side, folder: Path) -> None:
    (folder / "known").write_text("")
    with (folder / "config").open("a") as config:
        config.write("    StrictHostKeyChecking accept-new\n")
    assert here.refs().refs == {}


def test_a_key_that_is_not_taken_or_locked_is_said_so(here: Side, folder: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", "sesame", "-f", folder / "person"], check=True)
    with pytest.raises(Refused, match=r"none of your ssh keys.*ssh-add"):
        here.refs()
    (folder / "person").unlink()
    with pytest.raises(Refused, match="none of your ssh keys"):
        here.refs()


def test_nobody_who_listens_is_unreachable(here: Side) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        here.to = here.to.replace(f":{port_of(here)}/", f":{free.getsockname()[1]}/")
    with pytest.raises(Unreachable, match="refused"):
        here.refs()


def test_a_host_that_listens_and_says_nothing_has_its_time(here: Side) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        here.to = here.to.replace(f":{port_of(here)}/", f":{silent.getsockname()[1]}/")
        began = time.monotonic()
        with pytest.raises(Unreachable):
            here.refs(seconds=2)
        assert time.monotonic() - began < 6
