"""`crabmem ui`: a page on this machine to look through memory."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from ...disk import fs
from ...disk.user_state import state_folder
from ...hosts.surroundings import surroundings
from ...session.session import Session
from ...standby.offer import offering
from ..app import open_session, verb
from ..output import Failure, echo, tell, tell_always

if TYPE_CHECKING:
    from ...web.entrance import Entrance

T = TypeVar("T")
_PAGE = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={}"><title>crabmem</title>\n'


@verb(after="status")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="Instead of any that is free.")
@click.option("--no-open", is_flag=True, help="Only print the address, and open no browser.")
def ui(port: int, no_open: bool) -> None:
    """Open memory as a page in your browser, until Ctrl-C.

    Facts with who wrote each line and when, the timeline, what recall answers and why, the prompt, what was forgotten:
    each with its way back. What you do there is a commit of yours. The page is served on this machine alone, to the
    browser that opens the address that is printed: it is good once, for a minute, and Enter prints a new one. Needs
    the extra `ui`.

    \b
    crabmem ui
    crabmem --workspace coder ui --port 8900 --no-open
    """
    memory = open_session(is_brief=False)
    if memory.actor.is_agent or memory.kind != "main":
        raise Failure("this page is for the person: leave out --agent (CRABMEM_AGENT), and --kind")
    try:
        from ...web.serving import serve
    except ImportError:  # also of an older library, which lacks a name
        from ...text.extras import how_to_get

        raise Failure(f"`crabmem ui` needs the libraries of the extra ui: {how_to_get('ui')}") from None
    way = _WayIn(memory, not no_open)
    try:
        with offering(os.environ):
            serve(memory, port, way.show)
    finally:
        way.close()


class _WayIn:
    """Shows the person the way into the page.

    On a terminal the address with its ticket is printed. Elsewhere output may end in a log that others can read, so
    only a file is named, which the person alone can read and which leads a browser to that address.
    """

    def __init__(self, memory: Session, opens: bool) -> None:
        self._root, self._opens = memory.root, opens
        folder = state_folder(os.environ, memory.root)
        #: None if this user has no folder for it, or it could not be written. Each process has a file of its own.
        self._file = folder and folder / f"ui-{os.getpid()}.html"

    def show(self, entrance: Entrance) -> None:
        """Print the way in, and open a browser if there is one; on a terminal, Enter then prints a new address."""
        is_seen = sys.stdout.isatty()
        self._file = self._file and _write_way_in(self._file, entrance.fresh())
        # Without "http://" a terminal makes no link of it: an address without a ticket leads to a closed door.
        place = entrance.address.removeprefix("http://")
        tell_always(f"the memory in {self._root} is served at {place} until Ctrl-C; open this within a minute:")
        if is_seen:
            echo(f"{entrance.fresh()}\n")
        elif self._file:
            echo(f"{self._file.as_uri()}\n")
        if self._file and self._opens and _has_screen():
            _in_thread(_open, self._file.as_uri())
        if is_seen and sys.stdin.isatty():
            tell("Enter makes a new one")
            _in_thread(_print_more, entrance)

    def close(self) -> None:
        if self._file:
            with suppress(OSError):
                fs.unlink(self._file)


def _write_way_in(file: Path, address: str) -> Path | None:
    """Write the file that leads a browser to `address`, and return it; None if the disk refuses."""
    try:
        fs.make_folder(file.parent)
        with suppress(FileNotFoundError):  # left over from a process that had the same number
            fs.unlink(file)
        fs.create(file, _PAGE.format(address).encode())
    except OSError:
        return None
    return file


def _in_thread(work: Callable[[T], object], given: T) -> None:
    """Do `work` in a thread, as it may wait for the person or the browser while the page is served."""
    threading.Thread(target=work, args=(given,), daemon=True).start()


def _open(file: str) -> None:
    """Open a browser with a file, not with the address: all users of a machine can see the arguments of a program."""
    import webbrowser

    webbrowser.open(file)


def _print_more(entrance: Entrance) -> None:
    for _ in sys.stdin:
        echo(f"{entrance.fresh()}\n")


def _has_screen() -> bool:
    """Return whether a browser can open in a window: one in the terminal would take it from us."""
    here = surroundings()
    return here.system == "darwin" or any(map(here.environment.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))
