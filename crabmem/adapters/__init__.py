"""Memory in the terms of other people's SDKs: a module for each, which needs that SDK; import it by its own name."""

from ..text.extras import how_to_get


def missing(module: str, sdk: str, extra: str) -> ImportError:
    """Return the error that a module here raises if its SDK is not installed; it says how to get the `extra`."""
    return ImportError(f"crabmem.adapters.{module} needs {sdk}: {how_to_get(extra)}")
