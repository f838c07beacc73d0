"""The test suites of peers, run against crabmem: `python -m tests.peers FOLDER`. Nothing of theirs lies here.

A peer is a module with a value `PEER`, named in `suites.PEERS`. `run` of it copies the peer's own test files out of a
clone below FOLDER into an empty folder, puts ours in the place of what they test there, and says what came of it.
"""
