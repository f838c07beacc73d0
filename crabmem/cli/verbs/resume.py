"""`crabmem resume`: ends a pause."""

from ...operations import pause as operation
from ...results import json_of
from ..app import open_session, verb
from ..options import json_option
from ..output import show


@verb(after="pause")
@json_option
def resume(json_wanted: bool) -> None:
    """End a pause.

    Memory speaks again when a message is about what it knows.

    \b
    crabmem resume
    """
    before = operation.resume(open_session())
    show(json_wanted, {"ended": json_of(before) if before else None}, lambda: "resumed" if before else "not paused")
