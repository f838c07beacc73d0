"""Data as values of msgspec's structs, whichever threads ask for them."""

from collections.abc import Iterable
from threading import RLock
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
# msgspec learns the fields of a class when it is first asked for, and 0.22 lets other threads see what is half learned:
# two that asked at once ended the process (SIGSEGV), as a server's threads did that read the first settings file.
_learning = RLock()
_learned = set[Any]()


def converted(data: object, kind: type[T], builtin_types: Iterable[type] = (), str_keys: bool = False) -> T:
    """The data as a value of `kind`, by the rules of `msgspec.convert`.

    Raises:
        msgspec.ValidationError: `data` does not fit `kind`.
    """
    if kind in _learned:
        return msgspec.convert(data, kind, builtin_types=builtin_types, str_keys=str_keys)
    with _learning:
        value = msgspec.convert(data, kind, builtin_types=builtin_types, str_keys=str_keys)
        _learned.add(kind)
    return value
