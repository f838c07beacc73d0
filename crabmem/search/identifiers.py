"""What a text is made of between its spaces: words, and names that programs and people put together from words."""

from __future__ import annotations

from itertools import pairwise

_JOINTS = "._-/@"
_SPACES = {code: " " for code in range(128) if not chr(code).isalnum()}
_APART = {code: " " for code in _SPACES if chr(code) not in _JOINTS}
_LONGEST = 64  # characters of a name that is taken apart, or joined to one whole


def pieces(text: str) -> list[str]:
    """The runs of letters and digits of an ASCII text, each with the runs that it is joined to.

    They are joined by single dots, hyphens, underscores, slashes and at signs: names of
    files and of things in programs, versions, addresses, compounds.
    """
    if text.isalnum():
        return [text]
    loose = text.replace("--", " ").replace("..", " ").translate(_APART).split()
    return [piece for piece in (each.strip(_JOINTS) for each in loose) if piece]


def names(piece: str) -> list[str]:
    """The words that a piece is put together from, in small letters, and the whole of it after them.

    The whole has no joints, but between numbers, and no capitals: `userName`, `user_name`, `User-Name` and
    `username` are one, `1/2` is not 12, and `3.11` is 3, 11 and 3-11.
    """
    found: list[str] = []
    whole = ""
    for unit in [piece] if piece.isalnum() else piece.translate(_SPACES).split():
        found += _humps(unit)
        whole += f"-{unit.lower()}" if whole[-1:].isdigit() and unit[:1].isdigit() else unit.lower()
    return found if found[-1:] == [whole] or len(whole) > _LONGEST else [*found, whole]


def _humps(name: str) -> list[str]:
    """The words of `camelCase`; `HTTPServer` has two, and `APIs` is one."""
    if name.islower() or name.isdigit() or name[1:].islower() or len(name) > _LONGEST:
        return [name.lower()]
    bounds = [0, *(at for at in range(1, len(name)) if _is_word_start(name, at)), len(name)]
    return [name[start:end].lower() for start, end in pairwise(bounds) if start < end]


def _is_word_start(name: str, at: int) -> bool:
    """Return whether a capital begins a word: behind a small letter, or before one as in `HTTPServer`, not `APIs`."""
    after = name[at + 1 : at + 3]
    return name[at].isupper() and (not name[at - 1].isupper() or (after[:1].islower() and after != "s"))
