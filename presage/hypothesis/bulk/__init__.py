"""Hypothetical answers by the column, for programs whose patterns are simple enough: the same changes, faster.

`shapes.py` says which programs these are, `engine.py` runs them over the compiled tables of
`presage.kernels.matches`; `presage.run.hypothetical` takes this road where it can.
"""
