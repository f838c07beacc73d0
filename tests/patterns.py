"""Every regular expression of the package, found by reading its source, and texts that are the worst for each."""

import ast
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import crabmem

_MAKES = ("compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")
#: An operation that goes on to the end of a text counts as this one.
_TO_THE_END = "finditer"
#: What may be done with an expression of which nothing is known.
ALL = frozenset({"match", "fullmatch", _TO_THE_END})
# Of the parts of a long expression so many of the first, and so many of the others.
_PIECES = 10


@dataclass(frozen=True)
class Used:
    """An expression, the place in the source that makes it, and what is done with it."""

    place: str
    pattern: re.Pattern[Any]
    operations: frozenset[str] = ALL

    def run(self, text: str) -> None:
        """Do with `text` all that the package does with this expression."""
        given = text if isinstance(self.pattern.pattern, str) else text.encode("utf-8", "replace")
        for operation in self.operations:
            if operation == _TO_THE_END:
                for _ in self.pattern.finditer(given):
                    pass
            else:
                getattr(self.pattern, operation)(given)


def sources() -> dict[str, ast.Module]:
    """The source of each module of the package by its name, but of those that run when they are imported."""
    folder = Path(crabmem.__path__[0])
    files = sorted(file for file in folder.rglob("*.py") if file.name != "__main__.py")
    names = [".".join(file.relative_to(folder.parent).with_suffix("").parts) for file in files]
    return {
        name.removesuffix(".__init__"): ast.parse(file.read_text("utf-8"))
        for name, file in zip(names, files, strict=True)
    }


def used(made_of_arguments: Mapping[str, Sequence[Used]]) -> list[Used]:
    """The expressions of all modules; for a function that makes one of its arguments, what the table gives for it.

    Raises:
        AssertionError: such a function is not in the table, or one in it makes none any more.
    """
    found, makers = list[Used](), set[str]()
    trees = sources()
    of_modules = {module: _operations(tree) for module, tree in trees.items()}
    public: dict[str, frozenset[str]] = {}
    for each in of_modules.values():
        public |= {name: done | public.get(name, frozenset()) for name, done in each.items()}
    for module, tree in trees.items():
        own, name = of_modules[module], module.removeprefix("crabmem.")
        for scope, call in _calls(tree):
            try:
                pattern = _evaluated(call, importlib.import_module(module))
            except NameError:  # it is made of arguments or local names
                makers.add(f"{name}.{scope}")
                continue
            said, target = call.func.attr, _assigned(tree, call)  # type: ignore[attr-defined]
            done = (own if target.startswith("_") else public).get(target, ALL)
            found.append(Used(f"{name}:{call.lineno}", pattern, done if said == "compile" else _counted(said)))
    assert makers == made_of_arguments.keys(), sorted(makers ^ made_of_arguments.keys())
    return found + [each for row in made_of_arguments.values() for each in row]


def _evaluated(call: ast.Call, module: ModuleType) -> re.Pattern[Any]:
    """The expression that a call of `re.…` in a module makes.

    Raises:
        NameError: it is not known before the call happens.
    """
    flags = [each for each in (*call.args[1:], *(word.value for word in call.keywords)) if "re." in ast.unparse(each)]
    pattern, *given = (eval(ast.unparse(each), vars(module)) for each in (call.args[0], *flags))
    return re.compile(pattern, sum((each for each in given if isinstance(each, re.RegexFlag)), re.RegexFlag(0)))


def _counted(operation: str) -> frozenset[str]:
    return frozenset({operation if operation in ALL else _TO_THE_END})


def _calls(tree: ast.AST, scope: str = "") -> Iterator[tuple[str, ast.Call]]:
    """Calls of `re.…` that make an expression, with the function that they stand in."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call) and _makes_expression(node.func):
            yield scope, node
        is_scope = isinstance(node, ast.FunctionDef | ast.ClassDef)
        yield from _calls(node, node.name if is_scope else scope)  # type: ignore[attr-defined]


def _makes_expression(function: ast.expr) -> bool:
    """Whether a call of `function` is one of `re.compile` or its like."""
    is_attribute = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
    return is_attribute and function.value.id == "re" and function.attr in _MAKES  # type: ignore[attr-defined]


def _assigned(tree: ast.Module, call: ast.Call) -> str:
    """The name that an expression is given at the top of a module; "" for none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.value is call and isinstance(node.targets[0], ast.Name):
            return node.targets[0].id
    return ""


def _operations(tree: ast.Module) -> dict[str, frozenset[str]]:
    """What is done with expressions, by the names they have; all where one is handed on as a value."""
    found: dict[str, set[str]] = {}
    asked = set[int]()
    for node in ast.walk(tree):  # from the top down: an attribute comes before the name that it is one of
        if isinstance(node, ast.Attribute):
            asked.add(id(node.value))
            if isinstance(node.value, ast.Name) and node.attr in _MAKES:
                found.setdefault(node.value.id, set()).update(_counted(node.attr))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in asked:
            found.setdefault(node.id, set()).update(ALL)
    return {name: frozenset(each) for name, each in found.items()}


# Worst texts


def worst(pattern: re.Pattern[Any]) -> list["partial[str]"]:
    """Makers of texts of so many characters that keep a bad expression of that form busy.

    They are runs of each sign and of each part of the expression: alone, after a beginning of what it matches and with
    that again and again, before something that it does not match.
    """
    given = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(given, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags)
    signs, parts = list(dict.fromkeys([*_signs(tree), " ", "a"]))[:_PIECES], _parts(tree)
    beginnings = _thinned(list(dict.fromkeys(["", *_beginnings(tree)])))
    runs = _thinned(list(dict.fromkeys([*signs, *parts])))
    found = []
    for beginning in beginnings:
        for run in runs:
            for end in ("", "\x00", "\n\x00"):
                found.append(partial(_long, beginning, run, end))
        if beginning:
            for run in ("", *signs):
                found.append(partial(_long, "", beginning + run, "\x00"))
    return found


def _long(beginning: str, run: str, end: str, count: int) -> str:
    return beginning + run * (count // len(run)) + end


def _thinned(row: list[str]) -> list[str]:
    """The first of a long row, and some of the others."""
    rest = row[_PIECES:]
    return row[:_PIECES] + [rest[at * len(rest) // _PIECES] for at in range(min(_PIECES, len(rest)))]


def _children(code: Any, value: Any) -> Iterator[Any]:
    """The expressions inside of one."""
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        yield value[2]
    elif code is codes.SUBPATTERN:
        yield value[3]
    elif code is codes.ATOMIC_GROUP:
        yield value
    elif code is codes.BRANCH:
        yield from value[1]
    elif code in (codes.ASSERT, codes.ASSERT_NOT):
        yield value[1]
    elif code is codes.GROUPREF_EXISTS:
        yield from filter(None, value[1:])


def _signs(tree: Any) -> Iterator[str]:
    """A character for each class and each character in an expression, those in repeated parts first."""
    inside, outside = list[str](), list[str]()
    for code, value in tree:
        is_run = code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT) and value[1] > 1
        for child in _children(code, value):
            (inside if is_run else outside).extend(_signs(child))
        if code is codes.IN:
            outside.extend(_members(value))
        elif code in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY):
            outside.append(_one(code, value))
    yield from inside
    yield from outside


_OF_CATEGORY = {
    codes.CATEGORY_DIGIT: "0", codes.CATEGORY_NOT_DIGIT: "a", codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_NOT_SPACE: "a", codes.CATEGORY_WORD: "a", codes.CATEGORY_NOT_WORD: " ",
}  # fmt: skip


def _members(value: Any) -> list[str]:
    """Some characters of a class."""
    if value[0][0] is codes.NEGATE:
        pattern = re.compile("[" + "".join(map(_written, value[1:])) + "]")
        return [char for char in ("a", " ", "0", "\n", ".", "/", "<", "[") if not pattern.match(char)][:3] or ["é"]
    found = []
    for code, each in value:
        if code is codes.RANGE:
            found += [chr(each[0])]
        elif code is codes.CATEGORY:
            found += [_OF_CATEGORY[each], *("\n\t" if each is codes.CATEGORY_SPACE else "")]
        else:
            found += [chr(each)]
    return found


def _written(member: Any) -> str:
    code, value = member
    if code is codes.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    if code is codes.CATEGORY:
        sign = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}[str(value).rpartition("_")[2]]
        return "\\" + (sign.upper() if "_NOT_" in str(value) else sign)
    return re.escape(chr(value))


def _one(code: Any, value: Any) -> str:
    """A text that one part of an expression matches, as short as can be but with one of each repetition."""
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if code is codes.ANY:
        return "a"
    if code is codes.IN:
        return _members(value)[0]
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        least: int = value[0]
        return _example(value[2]) * max(1, min(least, 200))
    if code in (codes.SUBPATTERN, codes.ATOMIC_GROUP, codes.BRANCH):
        return _example(next(_children(code, value)))
    return ""


def _example(tree: Iterable[tuple[Any, Any]]) -> str:
    return "".join(_one(code, value) for code, value in tree)


def _beginnings(tree: Any, before: str = "") -> Iterator[str]:
    """What an expression matches, cut off after each of its parts, and inside of them."""
    for code, value in tree:
        for child in _children(code, value):
            yield from _beginnings(child, before)
        before += _one(code, value)
        yield before


def _parts(tree: Any) -> list[str]:
    """What each repeated part matches once."""
    found = []
    for code, value in tree:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT) and value[1] > 1:
            found.append(_example(value[2]))
        for child in _children(code, value):
            found += _parts(child)
    return [part for part in found if part]
