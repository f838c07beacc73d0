"""Importing memory that people have already: whose it is, and the facts in it."""
