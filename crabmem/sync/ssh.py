"""Remotes by ssh: the person's own `ssh`, with their keys, agent and configuration; it never asks and never hangs."""

import re
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

# What is in the person's configuration stays: whether unknown hosts are taken above all.
_OPTIONS = ("-T", "-x", "-a", "-oBatchMode=yes", "-oServerAliveInterval=15", "-oServerAliveCountMax=2")
_CONNECT = 20
_MOST_SAID = 8_000
_NO_NETWORK = re.compile(
    "could not resolve|no route to host|unreachable|timed out|connection refused|connection reset|connection closed"
    "|broken pipe|kex_exchange",
    re.IGNORECASE,
)
_NO_REPOSITORY = re.compile(
    "does not appear to be a git repository|repository .*not found|not found:|no such", re.IGNORECASE
)
_NOT_FOUND = 127


class Talk(SubprocessWrapper):
    """One run of `ssh`."""

    def __init__(self, process: "subprocess.Popen[bytes]", limit: Limit) -> None:
        super().__init__(process)
        self._limit, self._said = limit, b""
        self._read_all, self._write_some = self.read, self.write
        self.read, self.write = self._counted, self._write_all
        # Else a server that complains at length waits for somebody to read it.
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
        self._limit.left()
        rest = memoryview(data)
        while rest:
            rest = rest[self._write_some(rest) :]
        return len(data)

    def close(self, timeout: int | None = 1) -> None:
        """Let it go."""
        programs.end(self.proc, timeout or 0)
        self._listener.join(1)

    def said(self) -> tuple[int, str]:
        """Return its code, and what it complained about."""
        self.close()
        return self.proc.returncode, self._said.decode("utf-8", "replace")


class Ssh(SSHGitClient, SSHVendor):
    """dulwich's client, with a way of starting `ssh` of its own, and sentences for what `ssh` says."""

    def __init__(self, address: Address, environ: Mapping[str, str], limit: Limit) -> None:
        super().__init__(address.host, address.port, address.user, vendor=self, thin_packs=False)
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
        password: str | None = None,
        key_filename: str | None = None,
        ssh_command: str | None = None,
        protocol_version: int | None = None,
    ) -> Talk:
        """Start `ssh`; what dulwich knows of passwords and other programs is passed over."""
        ssh = programs.found("ssh", self._environ)
        if not ssh:
            raise Refused(f"there is no `ssh` to reach {self._limit.where} with: install OpenSSH, or use https://")
        args = [ssh, *_OPTIONS, f"-oConnectTimeout={max(1, min(_CONNECT, int(self._limit.left())))}"]
        args += [
            "-oSendEnv=GIT_PROTOCOL",
            *(["-p", str(port)] if port else []),
            *(["-l", username] if username else []),
        ]
        process = programs.started(
            [*args, "--", host, command.decode()],
            self._environ,
            subprocess.PIPE,
            GIT_PROTOCOL="" if protocol_version in (0, 1) else "version=2",
        )
        self._last = Talk(process, self._limit)
        return self._last

    def problem(self) -> SyncError | None:
        """Return what went wrong, and what to do about it, from what `ssh` said last; None where it said nothing."""
        code, said = self._last.said() if self._last else (0, "")
        where, place = self._limit.where, self._place()
        line = shortened(visible(next(iter(reversed(said.strip().splitlines())), "")), 200)
        if "Host key verification failed" in said or "HOST IDENTIFICATION HAS CHANGED" in said:
            return Refused(
                f"ssh does not know the key of {self._address.host}, or it has changed: connect once by hand with "
                f"`ssh {place}`, compare the fingerprint with the one of its owner, then sync again"
            )
        if "Permission denied" in said and "publickey" in said:
            return Refused(
                f"{where} takes none of your ssh keys: see what `ssh -T {place}` says; `ssh-add` unlocks a key with a "
                "passphrase, as nobody is asked for one here"
            )
        if _NO_REPOSITORY.search(said):
            return Refused(f"there is no Git repository at {where}, or none that you may see ({line})")
        if code == _NOT_FOUND:
            return Refused(f"{self._address.host} has no Git that ssh could start ({line})")
        if _NO_NETWORK.search(said):
            return Unreachable(f"{where} cannot be reached: {line}")
        return Refused(f"{where} ended the talk: {line}") if line else None

    def _place(self) -> str:
        address = self._address
        port = f"-p {address.port} " if address.port else ""
        return f"{port}{address.user}@{address.host}" if address.user else f"{port}{address.host}"
