"""The words of an entry that an index knows; an index of other rules is told apart."""

from zlib import crc32

from crabmem.recall.labels import document
from crabmem.search import rules
from crabmem.text.entry import Entry

_PATH = "memory/entries/luna.md"
_WORDS = "The dog is called Luna, since 9 June 2024; call +34 600 123 456 or parseInvoice().\n"
ENTRIES = (
    Entry(_PATH, "", "Luna's vet", f"who looks after the dog. {_WORDS}", _WORDS, aliases=("doctor",), tags=("dog",)),
    Entry(_PATH, "", "Turn 3", "user, 5 January 2024", _WORDS, keys={"stale_after": "2026-12-31", "sources": ["x.md"]}),
    Entry(_PATH, "", "Long", "with passages", "".join(f"{_WORDS}{number}\n" for number in range(40))),
    Entry("memory/2026-03-01.md", "", "2026-03-01", "", f"# Notes\n{_WORDS}", is_note=True),
)


def test_what_counts_otherwise_has_another_version() -> None:
    """Whether an index that is kept is of any use is told by `rules` alone: with the same it stays as it was."""
    made = [document(entry, b"", "english") for entry in ENTRIES]
    known = crc32(repr([(each.passages, each.labels, each.lengths) for each in made]).encode())
    assert (known, rules("english").hex()) == (2_589_363_186, "00870971"), (
        "kept indexes know other words or labels: raise _VERSION of crabmem/search/tokens.py, then put both here"
    )
