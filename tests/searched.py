"""A profile that searches files, for tests: everything in it is data."""

from pathlib import Path

PATTERNS = ("MEMORY.md", "memory.md", "memory/**/*.md")


def profile(folder: Path, unit: str = "chunk", tools: str = "claw", **search: object) -> str:
    """The path of a profile whose files are searched so; group sessions see neither MEMORY.md nor daily notes."""
    file = folder / f"{unit}-{tools}.toml"
    said = "".join(f"{key} = {value}\n" for key, value in search.items())
    file.write_text(
        f'about = "files that are searched"\ntools = ["{tools}"]\n'
        '[layout]\nidentity = "SOUL.md"\noverview = "MEMORY.md"\n'
        '[kinds.group]\nhides = ["MEMORY.md", "memory.md", "memory/????-??-??.md"]\n'
        f'[search]\nunit = "{unit}"\nfiles = {list(PATTERNS)}\n{said}'
        '[[part]]\nfile = "{identity}"\n'
    )
    return str(file)


def write(root: Path, files: dict[str, str]) -> Path:
    """Files of a workspace, as a person writes them."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return root
