"""`p since[0] q` needs nothing of p: no dependency, so what is above it becomes final."""

from fractions import Fraction  # noqa: F401

PROGRAM = """
timeline discrete.
static s(x).
input p(x) delay 1.
input q(x) delay 0.
input r(x) delay 0.
d00(X) :- p(X), s(X).
d01(X)@T+2 :- q(X)@T-2, q(X)@T, not r(a)@T+1.
always[2,4] d10(X) :- d10(X), d11(X).
d10(X) :- always[1] (d00(X)), once(2,5] (d10(X)).
d11(X)@T+2 :- d00(X)@T+2, p(X)@T-1, not r(X)@T+2.
always[2,4] d11(X) :- eventually(1,4] (((d11(X)) since[0] (d00(X)))), ((d01(X)) since[1] (d10(X))), s(X).
d20(X) :- d10(X), not ((d10(X) or d01(X))).
d20(X)@T-2 :- q(X)@T-2, d01(a)@T+2, not d11(X)@T-2.
query d00(X).
query d01(X).
query d10(X).
query d11(X).
query d20(X).
"""
FACTS = [
    (("p", ("a",), 2), 3),
    (("p", ("b",), 1), 1),
    (("p", ("b",), (3, 5, "[]")), 3),
    (("q", ("a",), (2, 4, "[]")), 2),
    (("q", ("a",), 6), 6),
    (("q", ("a",), 7), 7),
    (("q", ("a",), 9), 9),
    (("q", ("b",), (1, 3, "[]")), 1),
    (("q", ("b",), 2), 2),
    (("q", ("b",), 5), 5),
    (("r", ("a",), 0), 0),
    (("r", ("a",), 3), 3),
    (("r", ("a",), 6), 6),
    (("r", ("a",), 8), 8),
    (("r", ("a",), (11, 12, "[]")), 11),
    (("r", ("b",), 1), 1),
    (("r", ("b",), (3, 5, "[]")), 3),
    (("r", ("b",), 4), 4),
    (("r", ("b",), 10), 10),
    (("r", ("b",), 11), 11),
]
STATICS = [("s", ("a",))]
