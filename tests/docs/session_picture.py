"""The picture at the top of README, drawn from a real session.

An agent remembers, a person edits the file, recall answers at once, and Git's log has both.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from .sessions import typed

_AGENT = "crabmem --agent assistant"
_REMEMBER = f"""{_AGENT} remember "Luna's vet" -d "who looks after the dog" -c "Dr. Moreno, every Thursday." """.strip()
_FILE = "memory/entries/luna-s-vet.md"
_RECALL = "crabmem recall who looks after our dog"
_NEXT = f"{_AGENT} remember Wifi -d 'the network for guests' -c 'Named Pinguin; key on the router.'"
_LOG = 'git -C ~/.crabmem log --reverse --format="%h  %an  %s" HEAD~3..'
_OLD, _NEW = "Thursday", "Friday"

_WIDTH, _LEFT, _LINE, _TOP = 880, 28, 20, 44
_STYLE = """\
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #c9d1d9 }
.who { font: 600 12px system-ui, sans-serif; fill: #58a6ff }
.you { font: 600 12px system-ui, sans-serif; fill: #d29922 }
.typed { fill: #f0f6fc } .grey { fill: #8b949e }
.old { fill: #f85149; text-decoration: line-through } .new { fill: #3fb950 }"""


@dataclass(frozen=True)
class _Line:
    """A line of the picture: pieces of text with their classes; `is_edited` lines lie on the editor's sheet."""

    pieces: tuple[tuple[str, str], ...]
    is_edited: bool = False


def picture() -> str:
    """The session as SVG."""
    placed, y = list[tuple[_Line, int]](), _TOP
    for line in _lines():
        placed.append((line, y))
        y += _LINE if line.pieces else _LINE // 2
    edited = [top for line, top in placed if line.is_edited]
    sheet = (
        f'<rect x="{_LEFT - 8}" y="{edited[0] + 2}" width="{_WIDTH - 2 * _LEFT + 16}" '
        f'height="{edited[-1] - edited[0] + _LINE + 4}" rx="6" fill="#161b22" stroke="#30363d"/>'
    )
    lights = "".join(
        f'<circle cx="{22 + 18 * number}" cy="18" r="6" fill="{colour}"/>'
        for number, colour in enumerate(("#f85149", "#d29922", "#3fb950"))
    )
    drawn = "\n".join(_drawn(line, top + 16) for line, top in placed if line.pieces)
    told = "An agent remembers a fact, a person corrects it in an editor, recall answers with it, and git log has both."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y + 20}" role="img" aria-label="{told}">\n'
        f"<style>\n{_STYLE}\n</style>\n"
        f'<rect width="{_WIDTH}" height="{y + 20}" rx="10" fill="#0d1117"/>\n{lights}\n{sheet}\n{drawn}\n</svg>\n'
    )


def _lines() -> Iterator[_Line]:
    with tempfile.TemporaryDirectory(prefix="crabmem-docs-") as folder:
        home = Path(folder)

        def printed(command: str) -> list[str]:
            done = typed(command, home)
            assert done.status == 0, done.printed
            return done.printed.splitlines()

        yield _said("who", "An agent learns something")
        yield from _command(_REMEMBER)
        yield from _output(printed(_REMEMBER))
        yield _Line(())
        yield _said("you", f"You correct it, in any editor: {_FILE}")
        file = home / ".crabmem" / _FILE
        before = file.read_text("utf-8")
        file.write_text(before.replace(_OLD, _NEW), "utf-8")
        for line in before.splitlines():
            start, old, rest = line.partition(_OLD)
            pieces = ((start, ""), (old, "old"), (f" {_NEW}" * bool(old), "new"), (rest, ""))
            yield _Line(tuple(piece for piece in pieces if piece[0]), is_edited=True)
        yield _Line(())
        yield _said("who", "Any agent asks: your correction is the answer")
        yield from _command(_RECALL)
        yield from _output(printed(f"{_RECALL} | cat"))
        yield _Line(())
        yield _said("who", "Git has both, each with its author")
        printed(_NEXT)
        yield from _command(_LOG)
        yield from _output(printed(_LOG))


def _said(kind: str, text: str) -> _Line:
    return _Line(((text, kind),))


def _command(command: str) -> Iterator[_Line]:
    """A command, on two lines where it is long."""
    head, dash, rest = command.partition(" -d ") if len(command) > 90 else (command, "", "")
    yield _Line((("$ ", "grey"), (head + " \\" * bool(dash), "typed")))
    if dash:
        yield _Line(((f"      -d {rest}", "typed"),))


def _output(lines: list[str]) -> Iterator[_Line]:
    yield from (_Line(((line, ""),) if line else ()) for line in lines)


def _drawn(line: _Line, y: int) -> str:
    spans = "".join(
        f'<tspan class="{kind}">{escape(text, quote=False)}</tspan>' if kind else escape(text, quote=False)
        for text, kind in line.pieces
    )
    return f'<text x="{_LEFT}" y="{y}" xml:space="preserve">{spans}</text>'
