"""What becomes of a conversation whose window of context fills up: when what is worth keeping is written down."""

from typing import Annotated

import msgspec
from msgspec import Meta

Share = Annotated[float, Meta(ge=0, le=1)]


class Window(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """At which shares of the window what happens; 0: never. `flush` stores, `compact` shortens.

    With `reserve` or `soft`, tokens, storing begins where no more than these are left of the window.
    """

    flush: Share = 0.0
    warn: Share = 0.0
    compact: Share = 0.0
    prune: Share = 0.0
    reserve: Annotated[int, Meta(ge=0)] = 0
    soft: Annotated[int, Meta(ge=0)] = 0
