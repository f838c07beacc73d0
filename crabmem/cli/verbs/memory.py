"""`crabmem memory`: shows, sets or edits the overview."""

from ...operations import files
from ..whole_file import file_group

file_group(
    "memory",
    "Files",
    "MEMORY.md",
    "the overview, MEMORY.md, which is always in the prompt",
    files.overview,
    files.write_overview,
    lambda memory: "",
    lambda memory: None,
)
