"""Long texts in pieces that a model takes in whole: an entry means what the nearest of its pieces does."""

#: Words of a piece; a language that writes without spaces, or in letters of many bytes, has as much by its bytes.
WORDS = 180
BYTES = 1_200
#: Pieces of a text at most; what comes after them is found by its words.
PIECES = 100


def pieces(text: str) -> list[str]:
    """The pieces of a text, in order; one, perhaps empty, of a text without words."""
    found, words, size = list[str](), list[str](), 0
    for word in _words(text):
        length = len(word.encode("utf-8", "replace")) + 1
        if words and (len(words) == WORDS or size + length > BYTES):
            found.append(" ".join(words))
            words, size = [], 0
        if len(found) == PIECES:
            return found
        words.append(word)
        size += length
    return [*found, " ".join(words)] if words or not found else found


def _words(text: str) -> list[str]:
    # A character has four bytes at most.
    step = BYTES // 4
    return [word[at : at + step] for word in text.split() for at in range(0, len(word), step)]
