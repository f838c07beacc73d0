"""`crabmem identity`: shows, sets or edits the identity."""

from ...operations import files, proposals
from ..whole_file import file_group

file_group(
    "identity",
    "overview",
    "Crab.md",
    "the identity, Crab.md",
    files.identity,
    proposals.write_identity,
    lambda memory: files.identity(memory).text,
    proposals.check_identity_is_writable,
)
