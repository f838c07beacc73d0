"""The programs that run agents ("hosts"): how their configs register crabmem, how that is undone, and their hooks."""
