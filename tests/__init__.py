"""The tests; run them with pytest, and the long torture with `python -m tests.faults --long`."""
