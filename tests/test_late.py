"""What a module imports for type checking alone is not used when it runs: no checker of types says so."""

import ast
from pathlib import Path

import crabmem

_PACKAGE = Path(crabmem.__file__).parent
_FUTURE = "from __future__ import annotations"


def _is_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _bound(nodes: list[ast.stmt]) -> set[str]:
    """The names that statements bind: by an import, an assignment or a definition."""
    found = set[str]()
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(each.asname or each.name).split(".")[0] for each in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
    return found


class _Uses(ast.NodeVisitor):
    """The uses of `names` as a module runs: all but those in annotations that are never evaluated."""

    def __init__(self, names: set[str], evaluates: bool) -> None:
        self.found: list[str] = []
        self._names = names
        self._evaluates = evaluates
        self._local: list[set[str]] = [set()]

    def visit_If(self, node: ast.If) -> None:
        for each in node.orelse if _is_checking(node) else [node.test, *node.body, *node.orelse]:
            self.visit(each)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        arguments = [each for each in ast.walk(node.args) if isinstance(each, ast.arg)]
        for each in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(each)
        if self._evaluates:
            for hint in filter(None, (*(each.annotation for each in arguments), node.returns)):
                self.visit(hint)
        self._local.append(self._local[-1] | _bound(node.body) | {each.arg for each in arguments})
        for line in node.body:
            self.visit(line)
        self._local.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)
        if self._evaluates and len(self._local) == 1:
            self.visit(node.annotation)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in self._names - self._local[-1]:
            self.found.append(f"{node.id} in line {node.lineno}")


def test_a_name_that_only_the_checker_of_types_has_is_not_used_at_run_time() -> None:
    for file in _PACKAGE.rglob("*.py"):
        if "TYPE_CHECKING" in (text := file.read_text("utf-8")):
            tree = ast.parse(text)
            blocks = [node for node in tree.body if isinstance(node, ast.If) and _is_checking(node)]
            names = _bound([line for block in blocks for line in block.body])
            names -= _bound([line for block in blocks for line in block.orelse])
            uses = _Uses(names, _FUTURE not in text)
            uses.visit(tree)
            assert uses.found == [], file
