"""Messages in two halves: what is tuned may look at one only, and is believed for what it does on the other."""

import zlib

#: The names of the halves.
TUNED, UNTOUCHED = "tuned", "untouched"


def half(text: str) -> str:
    """Which half a message, a question or an opening is of: by the checksum of its text, so that nobody chooses."""
    return UNTOUCHED if zlib.crc32(text.encode()) & 1 else TUNED
