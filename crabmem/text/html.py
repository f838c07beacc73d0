"""HTML that is made of texts nobody trusts: all of them are escaped, and what nobody sees is shown. Pure functions."""

import html
import re

from .quoting import spelled

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_VOID = frozenset(["meta", "br"])


class Html(str):
    """Text that is HTML already. What is none becomes it by `escaped` alone."""


def escaped(text: str) -> Html:
    """`text` as HTML that says it, with each sign that nobody sees spelled out."""
    return text if isinstance(text, Html) else Html(html.escape(spelled(text)))


def element(name: str, /, *children: str, **attributes: str) -> Html:
    """An element; `children` and the values of `attributes` are escaped where they are no HTML.

    An attribute that is a word of Python has an underscore after it, and one for each dash.
    """
    named = {key.removesuffix("_").replace("_", "-"): value for key, value in attributes.items()}
    assert all(map(_NAME.fullmatch, (name, *named))), "names are ours"
    words = "".join(f' {key}="{html.escape(spelled(value))}"' for key, value in named.items())
    closing = "" if name in _VOID else f"{''.join(map(escaped, children))}</{name}>"
    return Html(f"<{name}{words}>{closing}")
