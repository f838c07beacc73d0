"""`crabmem soul`: shows, sets or edits the identity."""

from ...operations import files, proposals
from ..whole_file import file_group

file_group(
    "soul",
    "memory",
    "Crab.md",
    "the identity, Crab.md; what agents propose for it is in `crabmem proposals`",
    files.identity,
    proposals.write_identity,
    lambda memory: files.identity(memory).text,
    proposals.check_identity_is_writable,
)
