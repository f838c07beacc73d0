"""Memory over the Model Context Protocol: tools, resources, prompts, and notifications of changes.

`stdio` is ours and needs no library. `http` is the library's, of the extra `mcp-http`.
"""
