"""The common part of the servers `mcp --http` and `ui`. Each answers on the loopback alone."""
