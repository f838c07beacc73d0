"""The history of a workspace in Git."""
