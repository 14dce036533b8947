"""`(not p) since p` within one component: on discrete time the left side ends one step before."""

from fractions import Fraction  # noqa: F401

PROGRAM = """
timeline discrete.
static s(x).
input p(x) delay 3.
input q(x) delay 0.
input r(x) delay 0.
d00(X)@T-2 :- q(X)@T, p(a)@T+2, not p(X)@T-2.
d00(X) :- eventually[2,5) (historically[2,3] (p(X))), ((not (d00(Y))) since[1,3] (d00(Y))).
query d00(X).
"""
FACTS = [
    (("p", ("a",), 0), 1),
    (("p", ("a",), (1, 3, "[]")), 2),
    (("p", ("a",), 3), 4),
    (("p", ("a",), 4), 4),
    (("p", ("a",), 6), 6),
    (("p", ("a",), 7), 8),
    (("p", ("a",), 10), 12),
    (("p", ("b",), 5), 6),
    (("p", ("b",), (11, 13, "[]")), 11),
    (("q", ("a",), 4), 4),
    (("q", ("a",), (6, 8, "[]")), 6),
    (("q", ("a",), 7), 7),
    (("q", ("a",), (8, 9, "[]")), 8),
    (("q", ("b",), (1, 3, "[]")), 1),
    (("q", ("b",), 2), 2),
    (("q", ("b",), 3), 3),
    (("q", ("b",), 5), 5),
    (("q", ("b",), 6), 6),
    (("q", ("b",), 8), 8),
    (("q", ("b",), 9), 9),
    (("q", ("b",), (11, 12, "[]")), 11),
    (("r", ("a",), 4), 4),
    (("r", ("a",), 6), 6),
    (("r", ("a",), 7), 7),
    (("r", ("a",), 8), 8),
    (("r", ("b",), (3, 5, "[]")), 3),
    (("r", ("b",), 9), 9),
    (("r", ("b",), (11, 12, "[]")), 11),
]
STATICS = [("s", ("a",)), ("s", ("b",))]
