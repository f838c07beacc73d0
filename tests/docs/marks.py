"""Parts of a page that are made: between `<!-- name -->` and `<!-- /name -->`."""

from pathlib import Path


def marked(file: Path, name: str) -> str:
    """What a page has between the two marks of that name; "" where it has none."""
    return file.read_text("utf-8").partition(f"<!-- {name} -->\n")[2].partition(f"\n<!-- /{name} -->")[0]


def with_marked(file: Path, name: str, made: str) -> str:
    """The text of a page with that between the two marks.

    Raises:
        SystemExit: it has no such marks.
    """
    before, begin, rest = file.read_text("utf-8").partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"\n<!-- /{name} -->")
    if not end:
        raise SystemExit(f"{file.name} has no <!-- {name} --> to write to")
    return f"{before}{begin}{made}{end}{after}"


def put(file: Path, name: str, made: str) -> None:
    """Put that between the two marks of a page."""
    file.write_text(with_marked(file, name, made), "utf-8")
