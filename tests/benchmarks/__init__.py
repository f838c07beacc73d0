"""What crabmem costs, measured by turns with what one would use otherwise, as ratios within one run.

A row of the table is a function in a module of `rows`, marked with `@measure`: to add one is to write it there. What is
measured, in which state, and against whom stands beside it.
"""
