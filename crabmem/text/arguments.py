"""The arguments of a call: which of them is of another type than the function says. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from inspect import formatannotation, signature
from typing import Any, TypeVar

C = TypeVar("C", bound=type)


#: What people call values of the types that are checked, by how signatures spell them.
_CALLED = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "True or False",
    "None": "None",
    "Sequence[str]": "a list of texts",
    "Iterable[str]": "a list of texts",
}


def naming_wrong_arguments(kind: C) -> C:
    """Change a class so that its public methods, failing on an argument of a wrong type, raise TypeError and name it.

    Arguments are looked at after the failure: a call that works takes no longer.
    """
    for name, member in list(vars(kind).items()):
        if callable(member) and name[0] != "_":
            setattr(kind, name, _naming(member))
    return kind


def _naming(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except (AttributeError, TypeError) as error:
            if wrong := wrong_argument(function, given, named):
                raise TypeError(wrong) from error
            raise

    return call


def wrong_argument(function: Callable[..., Any], given: Sequence[Any], named: Mapping[str, Any]) -> str:
    """Return what is wrong with the first argument of a type that the signature excludes; "" where none is found."""
    about = signature(function)
    try:
        bound = about.bind(*given, **named)
    except TypeError:  # there are too many or too few, as the message says
        return ""
    for name, value, hint in _each(bound.arguments, about.parameters):
        words = hint if isinstance(hint, str) else formatannotation(hint)
        kinds = words.replace("collections.abc.", "").split(" | ")
        if _CALLED.keys() >= {*kinds} and not any(_fits(value, kind) for kind in kinds):
            wanted = " or ".join(dict.fromkeys(_CALLED[kind] for kind in kinds))
            return f"{function.__name__}: {name} must be {wanted}, not {_called(value)}"
    return ""


def _each(values: Mapping[str, Any], parameters: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The name, the value and the annotation of each argument, those of `**named` one by one."""
    for name, value in values.items():
        parameter = parameters[name]
        if parameter.kind is parameter.VAR_KEYWORD:
            yield from ((each, inner, parameter.annotation) for each, inner in value.items())
        else:
            yield name, value, parameter.annotation


def _fits(value: Any, kind: str) -> bool:
    match kind:
        case "str":
            return isinstance(value, str)
        case "int" | "float":
            return isinstance(value, int) or (kind == "float" and isinstance(value, float))
        case "bool":
            return isinstance(value, bool)
        case "None":
            return value is None
    return hasattr(value, "__iter__") and not isinstance(value, str) and not _odd_in(value)


def _odd_in(value: Any) -> list[Any]:
    """Return the items of a list or tuple that are no texts; none if `value` is of another type."""
    inside = value if isinstance(value, list | tuple) else ()
    return [each for each in inside if not isinstance(each, str)]


def _called(value: Any) -> str:
    """What Python calls the type of a value, and of what is odd in it."""
    odd = _odd_in(value)
    name = "None" if value is None else type(value).__name__
    return f"{name} with {_called(odd[0])}" if odd else name
