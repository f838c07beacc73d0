"""A module for each kind of memory that can be imported, with its `SOURCE`. Nothing else names it."""
