"""A growing left side of `until` derived old results again after they had been forgotten."""

from fractions import Fraction  # noqa: F401

PROGRAM = """
timeline discrete.
static s(x).
input p(x) delay 1.
input q(x) delay 2.
input r(x) delay 0.
d00(X)@T-1 :- r(X)@T+1, q(X)@T+2.
d10(X)@T :- p(X)@T+1, r(a)@T-2.
d10(X) :- ((not (eventually(2,5) (d00(X)))) until(0,3] ((q(X) and r(X)))), not ((p(X) or r(X))).
d11(X)@T+2 :- d00(X)@T+1, d00(a)@T+1.
d20(X)@T+1 :- d00(X)@T+2, d10(X)@T.
d20(X) :- (historically(2,5) (d10(X)) or p(X)), q(Y), X != X.
query d00(X).
query d10(X).
query d11(X).
query d20(X).
"""
FACTS = [
    (("p", ("a",), (3, 5, "[]")), 4),
    (("p", ("a",), 8), 9),
    (("p", ("a",), 9), 10),
    (("p", ("a",), 11), 11),
    (("p", ("b",), 4), 5),
    (("p", ("b",), 9), 10),
    (("q", ("a",), 0), 0),
    (("q", ("a",), 1), 1),
    (("q", ("a",), 3), 5),
    (("q", ("a",), (6, 8, "[]")), 8),
    (("q", ("b",), 0), 2),
    (("q", ("b",), 3), 3),
    (("q", ("b",), 4), 6),
    (("q", ("b",), 10), 12),
    (("r", ("a",), 7), 7),
    (("r", ("a",), 10), 10),
    (("r", ("b",), (6, 7, "[]")), 6),
    (("r", ("b",), 10), 10),
    (("r", ("b",), 11), 11),
]
STATICS = [("s", ("a",))]
