"""One running process answers for others: `mcp`, `ui` and `watch` stand by, hooks and verbs that only read ask.

`ask` asks, before anything is loaded. `offer` listens in a server, and starts `helper` at the first request: a process
with one thread and warm indexes, which forks for each request. The fork runs the verb itself, with the arguments,
environment and folder of the client, so that its answer is the same. It writes to its logs only once the client has
confirmed the answer; a client that gets none runs the verb on its own.
"""
