"""Templates filled in. Every text is escaped, and what nobody sees in it is spelled out."""

import re
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ..session.session import Session
from ..text.hashes import short
from ..text.quoting import spelled
from ..text.times import local
from ..text.words import counted, shortened
from .asking import OUTCOME, Ask, Page
from .plots import colour_of

#: The parts of the page, in the order of the menu.
MENU = {
    "/": "Inbox", "/facts": "Facts", "/timeline": "Timeline", "/recall": "Recall", "/prompt": "Prompt",
    "/forgotten": "Forgotten", "/figures": "Figures", "/sync": "Sync", "/workspaces": "Workspaces",
}  # fmt: skip
#: The keys of the script, and what each does where it does something.
KEYS = (
    ("j k", "move"), ("Enter", "opens"), ("x", "ticks"), ("a", "applies"), ("r", "rejects"), ("e", "edits"),
    ("n", "next, or new"), ("u", "undoes"), ("/", "search"),
)  # fmt: skip
# The part of the menu that a page belongs to which is not in the menu itself.
_WITHIN = {"/proposal": "/", "/fact": "/facts", "/new": "/facts", "/commit": "/timeline", "/revert": "/timeline"}
_ID = re.compile("[0-9a-f]{40}")
# How `spelled` begins a character that it spells out.
_SIGN = "‹U+"
_AGES = ((86_400 * 365, "year"), (86_400 * 30, "month"), (86_400, "day"), (3_600, "hour"), (60, "minute"))


class Pages:
    """The pages of one memory."""

    def __init__(self, session: Session) -> None:
        self._session, self._root = session, _from_home(session.root, session.engine.environment.get("HOME"))
        self._jinja = Environment(
            loader=PackageLoader(__package__), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
            lstrip_blocks=True, finalize=_spell, auto_reload=False,
        )  # fmt: skip
        # A value that a form sends back is `raw`: spelled out it would be another one.
        self._jinja.filters |= {
            "here": _here, "when": _when, "age": self._age, "short": short, "shortened": shortened, "counted": counted,
            "raw": escape, "unseen": _unseen,
        }  # fmt: skip
        self._jinja.globals |= {"link": link, "menu": MENU, "keys": KEYS, "colour_of": colour_of}
        self._jinja.globals["parts"] = self._jinja.get_template("parts.html").module

    def source(self, name: str) -> str:
        """Return a file beside the templates, such as the style sheet, as it is."""
        assert self._jinja.loader
        return self._jinja.loader.get_source(self._jinja, name)[0]

    def door(self, way: str = "") -> str:
        """Return the page for those without the cookie, which shows nothing of memory: closed, or a link to `way`."""
        return self._jinja.get_template("door.html").render(way=way)

    def of(self, page: Page, ask: Ask) -> str:
        """Return the HTML of a page: its template within the frame.

        The frame also tells what was just done, as the query says (`OUTCOME`), and offers to undo it. Only commits of
        this history and proposals decided on here count, as any link may lead to an address with such a query.
        """
        known = {name: [id for id in ask.query.get(name, []) if _ID.fullmatch(id)] for name in OUTCOME}
        history = self._session.engine.history
        commits = [history.commit(id, with_paths=False) for id in known["done"] if history.reaches(id)]
        names = {name: [self._name(id) for id in known[name] if id in ask.decided] for name in ("rejected", "again")}
        around = {
            "waiting": len(ask.waiting), "here": _WITHIN.get(ask.path, ask.path), "root": self._root,
            "memories": ask.memories,
            "outcome": [
                *(commit.subject for commit in commits), *(f"rejected: {name}" for name in names["rejected"]),
                *(f"waits again: {name}" for name in names["again"]),
            ],
            "undo": None if known["again"] else {
                "commit": [commit.commit for commit in commits], "rejected": known["rejected"],
                "applied": known["applied"],
            },
        }  # fmt: skip
        return self._jinja.get_template(f"{page.template}.html").render({**around, **page.shown})

    def _name(self, id: str) -> str:
        """Return the subject of a proposal as long as Git still has its commit, else its short id."""
        history = self._session.engine.history
        return history.commit(id, with_paths=False).subject.removeprefix("propose: ") if history.has(id) else short(id)

    def _age(self, when: datetime) -> str:
        seconds = max(0.0, (self._session.engine.clock() - when).total_seconds())
        for length, name in _AGES:
            if seconds >= length:
                return f"{counted(int(seconds // length), name)} ago"
        return "just now"


def _from_home(folder: Path, home: str | None) -> str:
    """Return a folder as a person would write it: with `~/` if it lies in their home."""
    return f"~/{folder.relative_to(home)}" if home and folder.is_relative_to(home) else str(folder)


def link(to: str, /, **query: object) -> str:
    """The address of the page at the path `to`, as seen from any other: all lie in one folder."""
    return f".{to}?{urlencode(query)}" if query else f".{to}"


def _spell(value: Any) -> Any:
    """Spell out invisible characters in a value that a template prints. Markup, a subclass of str, stays as it is."""
    return spelled(value) if type(value) is str else value


def _unseen(text: str | None) -> int:
    """Return how many characters of a text are invisible, and so spelled out."""
    return spelled(text or "").count(_SIGN) - (text or "").count(_SIGN)


def _here(when: datetime, form: str = "%Y-%m-%d %H:%M") -> str:
    """Return a moment in the reader's time zone."""
    return f"{local(when):{form}}"


def _when(when: datetime) -> Markup:
    return Markup('<time datetime="{}">{}</time>').format(when.isoformat(), _here(when))
