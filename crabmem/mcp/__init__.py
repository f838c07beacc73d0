"""Memory over the Model Context Protocol: tools, resources, prompts, and notifications of changes.

The library takes a while to load: only `crabmem mcp` loads this package.
"""

from .http import over_http
from .served import Served
from .stdio import over_stdio

__all__ = ["Served", "over_http", "over_stdio"]
