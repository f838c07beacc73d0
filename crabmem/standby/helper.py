"""The process that answers for others: one thread, everything loaded, a fork for each request."""

import gc
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from importlib import import_module

from ..ask import WAIT, identity, place, received, send, user_of
from ..disk import jsonl
from ..errors import CrabmemError
from ..operations.context import would_say
from ..session import opening
from ..session.engine import Engine, Options
from ..session.session import Session
from ..write.actor import Actor

#: Seconds without a request after which the helper ends, to free its memory.
IDLE = 600
# Seconds without a request before all files are looked at, for changes that the system gave no notice of.
_PAUSE = 0.3
# Workspaces whose indexes stay in memory.
_MAX_ENGINES = 3
# Bytes of a fork's report, one datagram: recv() would cut off what is longer.
_MAX_REPORT_BYTES = 1 << 17

#: Runs a verb that only reads, given its words and its standard input. Returns its exit status; None for other verbs.
Run = Callable[[list[str], bytes], int | None]


class _Warm:
    """The state that forks inherit: loaded modules, and engines in step with their files.

    A fork reports which modules and engines it had to load itself (`news`); the parent loads them too (`learn`).
    """

    def __init__(self) -> None:
        #: The engine that was opened last comes first.
        self._engines: list[Engine] = []
        #: In a fork: engines of workspaces that no warm engine holds open.
        self._opened: list[Engine] = []
        #: In a fork: the modules that its parent had loaded.
        self._modules = set(sys.modules)
        #: Whether the last look trusted the system's notices of changes: a whole one is due when nobody asks.
        self.is_due = False

    def follow(self, is_told: bool) -> None:
        """Bring each engine in step with its files; with `is_told`, look only at changes that the system told of.

        An engine that fails is dropped: the verb that needs its workspace then opens it itself and reports the error.
        """
        for engine in self._engines.copy():
            try:
                engine.follow(is_told)
            except (CrabmemError, OSError):  # whoever asks for it says what is wrong
                self._engines.remove(engine)
        self.is_due = is_told and bool(self._engines)

    def lend(self, engine: Engine) -> None:
        """In a fork: let its `engine` share the store and index of the warm one of the same workspace, if there is one.

        End the fork where the settings want vectors; the client then runs the verb itself.
        """
        with suppress(CrabmemError, OSError):  # the verb itself reports what is wrong with the settings
            if engine.is_meaning_wanted(engine.settings_now()[0]):
                os._exit(0)  # a model takes longer to load, or a service to ask, than anybody waits here
        if not any(map(engine.borrow, self._engines)):
            self._opened.append(engine)

    def news(self) -> bytes:
        """Return as JSON the modules that this fork had to load and the engines it opened itself; b"" for none."""
        opened = [(each.workspace.folder, each.options.profile) for each in self._opened]
        modules = [name for name in sys.modules if name not in self._modules and name != "__main__"]
        return json.dumps([modules, opened]).encode() if modules or opened else b""

    def learn(self, news: bytes) -> None:
        """Load the modules and open the engines that a fork reported, so that later forks inherit them."""
        modules, opened = json.loads(news)
        for name in modules:
            with suppress(ImportError):
                import_module(name)
        for folder, profile in opened:
            with suppress(CrabmemError, OSError):
                engine = opening.engine_at(folder, Options(profile=profile, is_brief=True))
                engine.follow()
                engine.follow()  # from the second look on the system tells of changes
                others = [each for each in self._engines if each.workspace.folder != folder]
                self._engines = [engine, *others][:_MAX_ENGINES]
                # Any question will do: it makes recall compute what it computes only once.
                would_say(Session(engine, Actor()), "what is the deploy key")
        self._modules = set(sys.modules)
        gc.collect()
        gc.freeze()  # else a collection in a fork would touch every object, and so copy the memory it shares with us


def serve(handle: int, environment: MutableMapping[str, str], run: Run) -> None:
    """Answer requests on the listening socket `handle`, each in a fork.

    End when standard input ends, as the server that started us holds its other end, or after `IDLE` seconds without a
    request. `environment` is changed in forks only.
    """
    listens, warm = socket.socket(fileno=handle), _Warm()
    told, telling = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)  # forks send their `news` through it
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps the forks
    os.write(1, b"!")  # tells `offer` that clients are accepted here from now on
    while True:
        ready = select.select([handle, told.fileno(), 0], [], [], _PAUSE if warm.is_due else IDLE)[0]
        if 0 in ready or not (ready or warm.is_due):
            return
        if handle in ready:
            with suppress(BlockingIOError), listens.accept()[0] as client:  # raised if the server turned it away
                warm.follow(is_told=True)
                if not os.fork():
                    _answer_as(client, environment, run, warm, telling)
        elif ready:
            warm.learn(told.recv(_MAX_REPORT_BYTES))
        else:
            warm.follow(is_told=False)
            gc.collect()


def _answer_as(
    client: socket.socket, environment: MutableMapping[str, str], run: Run, warm: _Warm, telling: socket.socket
) -> None:
    """In a fork: take on the arguments, folder and environment of the client, run its verb, send the answer, and exit.

    A client that gets no answer runs the verb itself.
    """
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a verb may wait for processes that it starts
        signal.setitimer(signal.ITIMER_REAL, WAIT)  # SIGALRM ends this fork: the client waits no longer than that
        us, where = identity(environment), place(environment)
        they, head, said = received(client, 3, time.monotonic() + WAIT)
        is_one, folder, count, *words = head.split(b"\0")
        arguments, surroundings = (list(map(os.fsdecode, each)) for each in (words[: int(count)], words[int(count) :]))
        os.chdir(folder)
        environment.clear()
        environment.update(dict(each.split("=", 1) for each in surroundings))
        # The permissions of a user lie beside the socket: a client with another place is allowed other things.
        if they != us or user_of(client) != os.geteuid() or place(environment) != where:
            return
        time.tzset()
        sys.argv[:] = arguments
        # Files in memory for stdin (empty), stdout and stderr. A client whose stdout and stderr are one file gets one
        # file here too, which keeps the order of what is written.
        files = [os.memfd_create("crabmem") for _ in range(3)]
        for number, file in enumerate(files):
            os.dup2(files[1] if is_one and number else file, number)
        opening.lender, jsonl.held = warm.lend, []
        status = run(arguments[1:], said)
        if status is None:
            return
        sys.stdout.flush()
        send(client, us, str(status).encode(), *(os.pread(file, os.fstat(file).st_size, 0) for file in files[1:]))
        if client.recv(1):  # the client has the answer: only now the logs may tell of it
            for record in jsonl.held:
                record()
        if news := warm.news():
            telling.send(news)
    finally:
        os._exit(0)
