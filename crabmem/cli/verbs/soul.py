"""`crabmem soul`: shows, sets or edits the identity."""

from ...operations import files, proposals
from ..app import verb
from ..whole_file import file_group

soul_verbs = verb(after="memory")(
    file_group(
        "soul",
        "Crab.md",
        "the identity, Crab.md; what agents propose for it is in `crabmem proposals`",
        files.identity,
        proposals.write_identity,
        lambda memory: files.identity(memory).text,
        proposals.check_identity_is_writable,
    )
)
