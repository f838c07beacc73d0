"""Real hosts, run in a home folder of their own against a model that only repeats what it was told."""
