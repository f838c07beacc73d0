"""`python -m tests.docs`: say which pages, tables, sessions and pictures of the documents are behind the program.

With `--write` they are made anew: the pages of the command line, of tools and of Python, the table of settings, the
files from which hosts install plugins, what commands print in every console block, and the pictures.
"""

import sys

from .generated import GENERATED, stale
from .pages import ROOT, blocks, pages
from .sessions import renewed


def main() -> int:
    """Write, or name what is behind; 1 when there is any and nothing was written."""
    wanted = "--write" in sys.argv[1:]
    behind = stale()
    for path in behind:
        if wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(GENERATED[path](), "utf-8")
    for page in (page for page in pages() if blocks(page, "console")):
        if (text := renewed(page)) != page.read_text("utf-8"):
            behind.append(page)
            if wanted:
                page.write_text(text, "utf-8")
    for path in behind:
        print(f"{'written' if wanted else 'behind'}: {path.relative_to(ROOT)}")
    return int(bool(behind) and not wanted)


if __name__ == "__main__":
    sys.exit(main())
