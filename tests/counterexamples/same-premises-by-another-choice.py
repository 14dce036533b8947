"""Of two choices that need the same, one stays."""

PROGRAM = """
timeline discrete.
input q(x).
d0(X) :- window(1, ahead 1) all q(X), eventually[2,3] historically[1,2] q(X).
query d0(X).
"""
FACTS = [
    (("q", ("b",), 0), 0),
]
TOLD = [
    "0: possible d0(b)@0",
    "  because q(b)@0; needs q(b)@1",
    "0: possible d0(b)@1",
    "  because q(b)@0; needs q(b)@[1,2]",
    "1: refuted d0(b)@0",
    "1: refuted d0(b)@1",
]
