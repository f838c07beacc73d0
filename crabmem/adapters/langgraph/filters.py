"""Matching of values with the filter of a search, and of namespaces with the conditions of a listing."""

from collections.abc import Iterable, Mapping
from typing import Any

from langgraph.store.base import ListNamespacesOp, MatchCondition

from ...errors import InvalidArguments
from ...operations.keyvalue import check_page
from .values import Value

_COMPARE = {
    "$eq": lambda one, other: one == other,
    "$ne": lambda one, other: one != other,
    "$gt": lambda one, other: one > other,
    "$gte": lambda one, other: one >= other,
    "$lt": lambda one, other: one < other,
    "$lte": lambda one, other: one <= other,
}


def is_match(wanted: Value, value: Value) -> bool:
    """Whether a value has all that the filter `wanted` asks for. The key `user.name` means `name` in `user`."""
    return all(_fits(_at(value, key), part) for key, part in wanted.items())


def listed(namespaces: Iterable[tuple[str, ...]], op: ListNamespacesOp) -> list[tuple[str, ...]]:
    """Return one page of the namespaces that match all conditions of a listing, cut to its `max_depth`, sorted.

    Raises:
        InvalidArguments: the limit or the offset is negative.
    """
    check_page(op.offset, op.limit)
    conditions = op.match_conditions or ()
    found = {namespace for namespace in namespaces if all(_matches(each, namespace) for each in conditions)}
    return sorted({namespace[: op.max_depth] for namespace in found})[op.offset : op.offset + op.limit]


def _at(value: Any, key: str) -> Any:
    """Return the value of `key`; if there is no such key, of the path that it spells with dots. None for nothing."""
    if not isinstance(value, Mapping):
        return None
    if key in value:
        return value[key]
    first, dot, rest = key.partition(".")
    return _at(value.get(first), rest) if dot else None


def _fits(value: Any, wanted: Any) -> bool:
    """Whether a value matches one part of a filter: operators (`$gt`, …), an object or a list to be matched item by
    item, or a value to be equal to. An object in a filter may have fewer keys than the value; a list must be as long.
    """
    if isinstance(wanted, Mapping):
        if any(key.startswith("$") for key in wanted):
            return all(_compares(value, operator, other) for operator, other in wanted.items())
        return isinstance(value, dict) and all(_fits(value.get(key), other) for key, other in wanted.items())
    if isinstance(wanted, (list, tuple)):
        same_length = isinstance(value, list) and len(value) == len(wanted)
        return same_length and all(map(_fits, value, wanted))
    return bool(value == wanted)


def _compares(value: Any, operator: str, other: Any) -> bool:
    if operator not in _COMPARE:
        raise InvalidArguments(f"filters do not know {operator}; there are {', '.join(_COMPARE)}")
    try:
        return bool(_COMPARE[operator](value, other))
    except TypeError:  # values of types without an order, as 1 and "a", do not match
        return False


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Whether a namespace begins, or ends, with the path of a condition; `*` in the path stands for any part."""
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    parts = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", part) for wanted, part in zip(path, parts, strict=True))
