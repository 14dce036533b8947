"""Cases for programs: facts, a clock, and what must be said at which time. What `presage test` runs.

`texts.py` reads facts and answers as people write them, `cases.py` the files they stand in, `running.py` runs one case,
`expecting.py` holds what was said against what was expected, and `reports.py` tells the outcome.
"""
