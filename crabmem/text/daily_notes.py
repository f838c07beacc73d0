"""Daily notes: what a file is called that is one, `YYYY-MM-DD.md`."""

_CALLED = "note of "


def is_note(name: str) -> bool:
    """Whether that is the name of a daily note."""
    if len(name) != len("2026-11-20.md"):
        return False
    year, month, day = name[:4], name[5:7], name[8:10]
    return name == f"{year}-{month}-{day}.md" and f"{year}{month}{day}".isdigit() and name.isascii()


def title(path: str) -> str:
    """What the daily note at `path` is called where it stands among facts: `note of 2026-11-20`."""
    return _CALLED + path.rpartition("/")[2].removesuffix(".md")


def day_in(name: str) -> str:
    """The day of the daily note that somebody means: `2026-11-20` of its title, its file's name or its path."""
    return name.removeprefix(_CALLED).rpartition("/")[2].removesuffix(".md")
