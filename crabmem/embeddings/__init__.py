"""Vectors: what texts mean, as numbers, and what that adds to the scores of a search. Knows texts by keys only.

Nothing here is loaded before somebody wants it: a memory that is searched by words needs none of it.
"""
