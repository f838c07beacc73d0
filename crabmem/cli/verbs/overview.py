"""`crabmem overview`: shows, sets or edits the overview."""

from ...operations import files
from ..whole_file import file_group

file_group(
    "overview",
    "Files",
    "MEMORY.md",
    "the overview, MEMORY.md",
    files.overview,
    files.write_overview,
    lambda memory: "",
    lambda memory: None,
)
