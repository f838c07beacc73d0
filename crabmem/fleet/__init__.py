"""Many memories, one question: the facts of every workspace that a person may ask, in one PostgreSQL.

Git stays the truth. A follower puts what the branches of remotes say into the tables of `schema.sql`, which can be
thrown away and made anew; a question is one statement, and the server decides what it may see.
"""
