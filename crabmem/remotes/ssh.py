"""Remotes by ssh: the person's own `ssh`, with their keys, agent and configuration; it never asks and never hangs."""

import os
import re
import shlex
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, Any

from dulwich.client import SSHGitClient, SSHVendor, SubprocessWrapper
from dulwich.protocol import Protocol

from ..errors import Refused, SyncError, Unreachable
from ..text.quoting import visible
from ..text.words import shortened
from . import programs
from .address import Address
from .limit import Limit
from .served import Client

# Everything else follows the person's own configuration, above all whether unknown hosts are accepted.
_OPTIONS = (
    "-T",
    "-x",
    "-a",
    "-oBatchMode=yes",
    "-oServerAliveInterval=15",
    "-oServerAliveCountMax=2",
    "-oSendEnv=GIT_PROTOCOL",
)
#: The person may name `ssh` with options there, such as a key for this host. We use the options, and no other program.
_COMMAND = "GIT_SSH_COMMAND"
_CONNECT = 20
_PIECE = 1 << 16
_MOST_SAID = 8_000
_NO_NETWORK = re.compile(
    "could not resolve|no route to host|unreachable|timed out|connection refused|connection reset|connection closed"
    "|broken pipe|kex_exchange",
    re.IGNORECASE,
)
# Forges put lines around what they have to say.
_TELLING = re.compile("error|fatal|denied|failed", re.IGNORECASE)
_NO_REPOSITORY = re.compile(
    "does not appear to be a git repository|repository not found|['\"] not found|not found:|could not be found|no such",
    re.IGNORECASE,
)


def _own_options(environ: Mapping[str, str]) -> list[str]:
    """Return the options for `ssh` in the person's GIT_SSH_COMMAND; none if it names another program, or is unset."""
    try:
        program, *options = shlex.split(environ.get(_COMMAND) or "-")
    except ValueError:
        return []
    return options if os.path.basename(program) == "ssh" else []


class Talk(SubprocessWrapper):
    """One run of `ssh`: what it reads and writes counts for the limit, and its last error output is kept.

    dulwich calls the attributes `read` and `write` of its wrapper, which are replaced here.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", limit: Limit) -> None:
        super().__init__(process)
        self._limit, self._said = limit, b""
        self._read_all, self._write_some = self.read, self.write
        self.read, self.write = self._counted, self._write_all
        # Read errors all the time: a full pipe would make a server that complains at length wait for ever.
        self._listener = threading.Thread(target=self._listen, name="crabmem ssh", daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.proc.stderr
        with suppress(OSError, ValueError), self.proc.stderr as errors:
            while piece := errors.read(_MOST_SAID):
                self._said = (self._said + piece)[-_MOST_SAID:]

    @property
    def stderr(self) -> None:
        """Nothing that dulwich could wait for."""

    def _counted(self, size: int | None = None) -> bytes:
        data = self._read_all(size)
        self._limit.heard(len(data))
        return data

    def _write_all(self, data: Any) -> int:
        rest = memoryview(data)
        while rest:
            count = self._write_some(rest[:_PIECE])
            self._limit.sent(count)
            rest = rest[count:]
        return len(data)

    def close(self, timeout: int | None = 1) -> None:
        """End `ssh`, and wait a second for the rest of its error output."""
        programs.end(self.proc)
        self._listener.join(1)

    def said(self) -> str:
        """End `ssh`; return the last `_MOST_SAID` bytes of its error output."""
        self.close()
        return self._said.decode("utf-8", "replace")


class Ssh(Client, SSHGitClient, SSHVendor):
    """dulwich's client, with a way of starting `ssh` of its own, and sentences for what `ssh` says."""

    def __init__(self, address: Address, environ: Mapping[str, str], limit: Limit) -> None:
        super().__init__(address.host, address.port, address.user, vendor=self)
        self._address, self._environ, self._limit = address, environ, limit
        self._last: Talk | None = None
        self._protocol: Protocol | None = None

    def _connect(
        self, cmd: bytes, path: str | bytes, protocol_version: int | None = None
    ) -> tuple[Protocol, Callable[[], bool], IO[bytes] | None]:
        found = super()._connect(cmd, path, protocol_version)
        self._protocol = found[0]
        return found

    def close(self) -> None:
        """End what still runs."""
        if self._protocol:
            self._protocol.close()

    def run_command(
        self,
        host: str,
        command: bytes,
        username: str | None = None,
        port: int | None = None,
        *others: Any,
        protocol_version: int | None = None,
        **more: Any,
    ) -> Talk:
        """Start `ssh` for dulwich. Its arguments for passwords, keys and other programs are ignored."""
        ssh = programs.found("ssh", self._environ)
        if not ssh:
            raise Refused(f"there is no `ssh` to reach {self._limit.where} with: install OpenSSH, or use https://")
        wait = max(1, min(_CONNECT, int(self._limit.left())))
        # ssh takes the first value of an option: ours, then those of GIT_SSH_COMMAND, then the person's configuration.
        args = [
            ssh,
            *_OPTIONS,
            f"-oConnectTimeout={wait}",
            *_own_options(self._environ),
            *(["-p", str(port)] if port else []),
        ]
        args += [*(["-l", username] if username else []), "--", host, command.decode()]
        version = "" if protocol_version in (0, 1) else "version=2"
        process = programs.started(args, self._environ, subprocess.PIPE, GIT_PROTOCOL=version)
        self._last = Talk(process, self._limit)
        return self._last

    def problem(self) -> SyncError | None:
        """End the last `ssh`; return an error with advice, made from its error output, None if there was none."""
        said = self._last.said() if self._last else ""
        address, where = self._address, self._limit.where
        place = f"-p {address.port} " * bool(address.port) + f"{address.user}@" * bool(address.user) + address.host
        lines = said.strip().splitlines()[::-1]
        line = shortened(visible(next(filter(_TELLING.search, lines), (lines or [""])[0])), 200)
        if "Host key verification failed" in said or "HOST IDENTIFICATION HAS CHANGED" in said:
            return Refused(
                f"ssh does not know the key of {address.host}, or it has changed: connect once by hand with "
                f"`ssh {place}`, compare the fingerprint with the one of its owner, then sync again"
            )
        if "Permission denied" in said and "publickey" in said:
            other = self._environ.get(_COMMAND) and not _own_options(self._environ)
            passed = f"; {_COMMAND} names another program, which is not run" if other else ""
            return Refused(
                f"{where} takes none of your ssh keys: see what `ssh -T {place}` says; `ssh-add` unlocks a key with a "
                f"passphrase, as nobody is asked for one here{passed}"
            )
        if _NO_REPOSITORY.search(said):
            return Refused(f"there is no Git repository at {where}, none that you may see, or no Git ({line})")
        if _NO_NETWORK.search(said):
            return Unreachable(f"{where} cannot be reached: {line}")
        return Refused(f"{where} ended the talk: {line}") if line else None
