"""Daily notes: what a file is called that is one, `YYYY-MM-DD.md`. Imports nothing: recall in a fresh process asks."""


def is_note(name: str) -> bool:
    """Whether that is the name of a daily note."""
    year, month, day = name[:4], name[5:7], name[8:10]
    digits = year + month + day
    return name == f"{year}-{month}-{day}.md" and len(digits) == 8 and digits.isascii() and digits.isdigit()
