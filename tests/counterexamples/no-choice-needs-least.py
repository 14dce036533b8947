"""No choice of a time needs least on dense time, so that nothing is told as possible; it is confirmed all the same."""

PROGRAM = """
timeline dense.
input q(x) delay 2.
input z.
d0(X) :- q(X), (not z) until(2,5] (not z).
query d0(X).
"""
FACTS = [
    (("q", (1,), 3), 4),
]
TOLD = []
