"""Importing memory of other programs: recognising whose files they are, and reading the facts in them."""
