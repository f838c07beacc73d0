"""HTML that is made of texts nobody trusts: all of them are escaped, and what nobody sees is shown. Pure functions."""

import html
import re

from .odd_signs import parted

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_VOID = frozenset(["meta", "br"])


class Html(str):
    """Text that is HTML already. What is none becomes it by `escaped` alone."""


def escaped(text: str) -> Html:
    """`text` as HTML that says it, with a mark in place of each sign that nobody sees."""
    if isinstance(text, Html):
        return text
    pieces = []
    for seen, unseen in parted(text):
        pieces.append(html.escape(seen))
        if unseen:
            pieces.append(f'<span class="unseen">U+{ord(unseen):04X}</span>')
    return Html("".join(pieces))


def element(name: str, /, *children: str, **attributes: str) -> Html:
    """An element; `children` and the values of `attributes` are escaped where they are no HTML.

    An attribute that is a word of Python has an underscore after it, and one for each dash.
    """
    named = {key.removesuffix("_").replace("_", "-"): value for key, value in attributes.items()}
    assert all(map(_NAME.fullmatch, (name, *named))), "names are ours"
    words = "".join(f' {key}="{html.escape(_shown(value))}"' for key, value in named.items())
    closing = "" if name in _VOID else f"{''.join(map(escaped, children))}</{name}>"
    return Html(f"<{name}{words}>{closing}")


def _shown(value: str) -> str:
    return "".join(f"{seen}{f'U+{ord(unseen):04X}' if unseen else ''}" for seen, unseen in parted(value))
