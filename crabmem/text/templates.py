"""The texts of `prompts/`, which say to a model what to do, and values put into them."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path


@cache
def template(name: str) -> str:
    """The text of `prompts/<name>.md`: inside the package when installed, beside it in a checkout."""
    inside = resources.files("crabmem").joinpath("prompts", f"{name}.md")
    beside = Path(__file__).parent.parent.parent / "prompts" / f"{name}.md"
    return inside.read_text("utf-8") if inside.is_file() else beside.read_text("utf-8")


def storing_prompt(name: str) -> str:
    """The template called `name`, which asks a model to store facts, with the one text on what is worth storing."""
    return template(name).replace("{worth}", template("worth").strip())


def fill(words: str, values: Mapping[str, str]) -> str:
    """`words` with values in place of the names in braces; braces within a value stay."""
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), words)


def worth() -> str:
    """The words that say what is worth storing, whatever it is stored as."""
    return template("worth").partition("\n\n")[0].strip()
