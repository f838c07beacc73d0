"""`python -m crabmem`."""

from .cli import main

main()
