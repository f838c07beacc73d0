"""The page of limits says the limits of the program."""

import re

from crabmem.disk import fs
from crabmem.text import entry, limits
from crabmem.workspace.settings import Settings

from .pages import DOCS, prose

#: The limit in each row of the first table, by how the row begins.
SAID = {
    "a fact's content": entry.MAX_CONTENT,
    "a name": entry.MAX_NAME,
    "a description": entry.MAX_DESCRIPTION,
    "aliases, tags": entry.MAX_LABELS,
    "the frontmatter": limits.MAX_HEADER,
    "a file of memory": fs.MAX_BYTES,
    "a question": limits.MAX_QUERY,
    "an answer": Settings().recall_budget,
    "hits": limits.MAX_LIMIT,
}


def test_every_limit_is_that_of_the_program() -> None:
    rows = prose(DOCS / "limits.md").partition("## What fits")[2].partition("\n## ")[0]
    for beginning, limit in SAID.items():
        row = re.search(rf"^\| {beginning}[^|]*\| ([\d,]+)", rows, re.MULTILINE)
        assert row and int(row[1].replace(",", "")) == limit, beginning
