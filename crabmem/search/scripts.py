"""Words that are not all ASCII: what each script makes of them, from letters with accents to scripts without spaces."""

from __future__ import annotations

import Stemmer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: Marks that belong to the letter before them, where `\w` would end the word: for a class of `re`.
MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u065f\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e4e"
#: Letters of scripts whose words nothing separates, searched in pairs.
PAIRED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"


def terms(word: str, language: str) -> Iterator[str]:
    """What is searched of a run of letters and digits that is not all ASCII, NFKC and case folded."""
    import re

    for run in re.split(f"([{PAIRED}]+)", word):
        if run and re.match(f"[{PAIRED}]", run):
            yield from _pairs(run)
        elif run:
            yield run if language == "none" else str(Stemmer.Stemmer(language).stemWord(run))


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]
