"""The messages of all errors of crabmem, read from its source: what stands in them for a value is an ellipsis."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .pages import ROOT

PACKAGE = ROOT / "crabmem"
ANY = "…"


@dataclass(frozen=True)
class Message:
    """A message, the class of the error, and where it is raised."""

    text: str
    error: str
    place: str

    @property
    def is_of_values_alone(self) -> bool:
        """Whether all its words come from elsewhere: from another message, Git or the system."""
        return not re.search(r"\w", self.text)


@cache
def _trees() -> dict[Path, ast.Module]:
    return {file: ast.parse(file.read_text("utf-8")) for file in sorted(PACKAGE.rglob("*.py"))}


@cache
def errors() -> frozenset[str]:
    """The names of CrabmemError and its subclasses."""
    classes = [node for tree in _trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found = {"CrabmemError"}
    while more := {each.name for each in classes if found & {_name(base) for base in each.bases}} - found:
        found |= more
    return frozenset(found)


def messages() -> list[Message]:
    """All of them, by the files that raise them."""
    return [message for file, tree in _trees().items() for message in _messages_in(file, tree)]


def _messages_in(file: Path, tree: ast.Module) -> Iterator[Message]:
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):  # what a short function or property of the module words
        if isinstance(node, ast.FunctionDef) and isinstance(said := node.body[-1], ast.Return) and said.value:
            constants.setdefault(node.name, said.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in errors() and node.args:
            given = next((each for each in node.args if not isinstance(each, ast.Starred)), None)
            if given is not None:
                text = " ".join(_template(given, constants).split())
                yield Message(text, _name(node.func), f"{file.relative_to(ROOT)}:{node.lineno}")


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _template(node: ast.expr, constants: dict[str, ast.expr]) -> str:
    """A text with an ellipsis for each value in it. Of two texts to choose from the first."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_template(part, constants) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _template(node.left, constants) + _template(node.right, constants)
    if isinstance(node, ast.IfExp):
        return _template(node.body, constants)
    named = _name(node.func if isinstance(node, ast.Call) else node)
    return _template(constants[named], {}) if named in constants else ANY


def pattern(row: str) -> re.Pattern[str]:
    """What a row of the page stands for: an ellipsis in it is any text."""
    return re.compile(".*".join(re.escape(part) for part in row.split(ANY)), re.DOTALL)
