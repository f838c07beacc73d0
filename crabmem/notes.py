"""Daily notes: what a file is called that is one, `YYYY-MM-DD.md`. Imports nothing: recall in a fresh process asks."""


def is_note(name: str) -> bool:
    """Whether that is the name of a daily note."""
    if len(name) != len("2026-11-20.md"):
        return False
    year, month, day = name[:4], name[5:7], name[8:10]
    return name == f"{year}-{month}-{day}.md" and f"{year}{month}{day}".isdigit() and name.isascii()
