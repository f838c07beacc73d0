"""Values: frozen classes made of their annotations, like frozen dataclasses and cheaper to load.

A process that recalls once makes a few values and asks few things of them. To load `dataclasses` and
to define twenty of them takes 12 ms, longer than the search. So `value` compiles nothing and loads nothing; the
annotations have to be texts, which `from __future__ import annotations` makes of them. `dataclasses.fields`, `replace`
and `asdict`, and what else knows dataclasses, take values too.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar, dataclass_transform, overload

T = TypeVar("T")


class _Field(NamedTuple):
    """What is said of a field besides its type; a default that `make` makes is another one for each value."""

    make: "Callable[[], object] | None" = None
    is_compared: bool = True
    is_hashed: bool = True
    is_shown: bool = True


_ORDINARY = _Field()
_MISSING = object()


def field(
    *,
    default: "Any" = _MISSING,
    default_factory: "Callable[[], Any] | None" = None,
    compare: bool = True,
    hash: bool = True,
    repr: bool = True,
) -> "Any":
    """Say more of a field than its type and default, as `dataclasses.field`."""
    make = default_factory if default is _MISSING else (lambda: default)
    return _Field(make, compare, compare and hash, repr)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(kind: "type[T]") -> "type[T]":
    """Make a class one of values: with `__init__`, `__eq__`, `__hash__` and `__repr__` by its annotations.

    Fields of the classes it inherits from come first. `__post_init__` is called where there is one.
    """
    return _made(kind)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def named_value(kind: "type[T]") -> "type[T]":
    """The same for one whose fields are given by their names, so that those with defaults may stand before others."""
    return _made(kind)


def _made(kind: "type[T]") -> "type[T]":
    """Put the methods of values into a class, and the tables they work by, which begin with those it inherits."""
    known: dict[str, _Field] = dict(getattr(kind, "__fields__", {}))
    defaults: dict[str, object] = dict(getattr(kind, "_defaults", {}))
    for name, hint in kind.__annotations__.items():
        if hint.startswith("ClassVar"):
            continue
        given = kind.__dict__.get(name, _MISSING)
        known[name] = given if isinstance(given, _Field) else _ORDINARY
        if isinstance(given, _Field):
            delattr(kind, name)
        elif given is not _MISSING:
            defaults[name] = given
    made: Any = kind
    made.__fields__, made._defaults = known, defaults
    setattr(made, "__match_args__", tuple(known))  # noqa: B010 (mypy takes that for the declaration of a class)
    made._made_anew = {name: each.make for name, each in known.items() if each.make is not None}
    made._compared = tuple(name for name, each in known.items() if each.is_compared)
    made._hashed = tuple(name for name, each in known.items() if each.is_hashed)
    made.__init__, made.__setattr__, made.__delattr__ = _init, _refuse, _refuse
    made.__eq__, made.__hash__ = _equals, _hash
    made.__replace__ = replace
    if "__repr__" not in kind.__dict__:
        made.__repr__ = _repr
    made.__dataclass_fields__ = _Described()
    return kind


class once(Generic[T]):
    """A property that is computed once for an object, and from then on is a plain attribute of it.

    As `functools.cached_property`, which before Python 3.12 holds one lock for all objects of a class: a child that is
    forked while another thread computes would wait for that lock for ever. Two threads may compute it both here, and
    both have what was computed first.
    """

    def __init__(self, compute: "Callable[[Any], T]") -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    if TYPE_CHECKING:  # a plain attribute can be set

        @overload
        def __get__(self, instance: None, owner: type) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: type) -> T: ...
        def __get__(self, instance: object, owner: type) -> T | Self: ...
        def __set__(self, instance: object, value: T) -> None: ...

    else:

        def __get__(self, instance, owner):
            if instance is None:
                return self
            return instance.__dict__.setdefault(self._name, self._compute(instance))


def replace(one: "T", /, **changes: "Any") -> "T":
    """A copy of a value, a dataclass or a struct of msgspec with other fields."""
    kind = type(one)
    return kind(**{name: getattr(one, name) for name in fields_of(kind) if name not in changes}, **changes)


def fields_of(kind: type) -> "tuple[str, ...]":
    """The names of the fields of a class of values, dataclasses and msgspec's structs among them; none of others."""
    for known in ("__fields__", "__struct_fields__", "__dataclass_fields__"):
        if names := getattr(kind, known, None):
            return tuple(names)
    return ()


def _init(self: "Any", /, *given: "Any", **named: "Any") -> None:
    """Set the fields: in their order, by their names, or by their defaults."""
    kind = type(self)
    names = kind.__match_args__
    held = self.__dict__
    held.update(kind._defaults)
    held.update(zip(names, given))  # noqa: B905 (what is too much is counted below)
    held.update(named)
    for name, make in kind._made_anew.items():
        if name not in held:
            held[name] = make()
    if len(held) != len(names) or len(given) > len(names) or (named and not _fit(names, given, named)):
        raise TypeError(f"{kind.__name__} takes {', '.join(names)}; it was given {len(given)} and {', '.join(named)}")
    if hasattr(kind, "__post_init__"):
        self.__post_init__()


def _fit(names: "tuple[str, ...]", given: "tuple[Any, ...]", named: "Mapping[str, Any]") -> bool:
    """Whether what is named is a field that was not given by its place."""
    return named.keys() <= set(names[len(given) :])


def _refuse(self: "Any", name: str, *given: "Any") -> None:
    raise AttributeError(f"{type(self).__name__}.{name} cannot be set: values are frozen")


def _equals(self: "Any", other: "Any") -> "Any":
    if other.__class__ is not self.__class__:
        return NotImplemented
    mine, theirs = self.__dict__, other.__dict__
    return all(mine[name] == theirs[name] for name in self._compared)


def _hash(self: "Any") -> int:
    held = self.__dict__
    return hash(tuple([held[name] for name in self._hashed]))


def _repr(self: "Any") -> str:
    shown = (f"{name}={self.__dict__[name]!r}" for name, each in self.__fields__.items() if each.is_shown)
    return f"{type(self).__qualname__}({', '.join(shown)})"


class _Described:
    """The fields of a class of values as `dataclasses` describes them, for what knows no other."""

    def __get__(self, one: object, kind: "Any") -> "dict[str, Any]":
        import dataclasses  # late: 2 ms or more, before every turn of every host

        fields = []
        for name, about in kind.__fields__.items():
            make = partial(kind._defaults.get, name) if name in kind._defaults else about.make
            default: dict[str, Any] = {"default_factory": make} if make else {}
            described = dataclasses.field(**default, compare=about.is_compared, repr=about.is_shown)
            fields.append((name, kind.__annotations__.get(name, "object"), described))
        bare: Any = dataclasses.make_dataclass(kind.__name__, fields, kw_only=True)
        return dict(bare.__dataclass_fields__)
