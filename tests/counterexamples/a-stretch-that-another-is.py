"""A stretch of somebody's may be part of another's: who it is about is open, so that one stretch is enough."""

PROGRAM = """
timeline discrete.
input p(x) delay 2.
input q(x).
h(X) :- q(X), always[0,2] p(X), always[0,1] p(Y).
query h(X).
"""
FACTS = [
    (("q", ("a",), 0), 0),
]
TOLD = [
    "0: possible h(a)@0",
    "  because q(a)@0; needs p(a)@[0,2]",
    "2: refuted h(a)@0",
]
