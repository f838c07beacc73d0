"""Memory in the terms of other people's SDKs: one module for each, which needs that SDK and is imported by its name."""

from ..text.extras import how_to_get


def missing(module: str, sdk: str, extra: str) -> ImportError:
    """What a module here says where its SDK is not installed."""
    return ImportError(f"crabmem.adapters.{module} needs {sdk}: {how_to_get(extra)}")
