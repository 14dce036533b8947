"""A fact, and none of its kind between it and another: a stretch need not have the time it begins with."""

PROGRAM = """
timeline dense.
input p(x).
input q(x) delay 2.
d0(X) :- q(X), (not q(X)) until[2,4] (not p(X)).
d1(X) :- q(X), (not q(X)) until[2,4] p(a).
query d0(X).
query d1(X).
"""
FACTS = [
    (("q", (2,), 1), 2),
    (("p", (2,), 0), 0),
    (("p", ("a",), 4), 4),
]
