"""One running process answers for others: `mcp`, `ui` and `watch` stand by, hooks and verbs that only read ask.

`ask` asks, before anything is loaded. `offer` listens in a server, and starts `helper` for the first who asks: a
process with one thread and warm indexes, which forks for each request. The fork runs the very verb, with the words,
environment and folder of who asked, so that its answer is the same; nothing of it counts before it has arrived.
"""
