"""`crabmem memory`: shows, sets or edits the overview."""

from ...operations import files
from ..app import verb
from ..whole_file import file_group

memory_verbs = verb(after="Files")(
    file_group(
        "memory",
        "MEMORY.md",
        "the overview, MEMORY.md, which is always in the prompt",
        files.overview,
        files.write_overview,
        lambda memory: "",
        lambda memory: None,
    )
)
