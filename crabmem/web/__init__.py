"""A page on this machine to look through memory, and to decide what waits: `crabmem ui`.

Plain HTML and forms, which work without scripts. What it shows is text of memory, which anybody may have written:
every text is escaped, and what nobody would see is spelled out. What it does is a commit of the person, by the
operations that the command line has.
"""
