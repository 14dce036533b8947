"""A predicate that depends on its own absence starts from its emptiness before time 0."""

from fractions import Fraction  # noqa: F401

PROGRAM = """
timeline discrete.
static s(x).
input p(x) delay 1.
input q(x) delay 2.
input r(x) delay 0.
d00(X) :- p(X).
d01(X) :- ((not (d01(X))) since[2] (p(X))).
d10(X) :- historically[0,2) (eventually[0,3) (d10(X))).
d11(X) :- q(X), historically[2,5) (r(Y)).
d11(X) :- eventually(2,5) (eventually[0,2] (d00(X))), historically[3] (d01(X)), X = X.
d20(X) :- d20(X), eventually[0,3) (q(Y)).
query d00(X).
query d01(X).
query d10(X).
query d11(X).
query d20(X).
"""
FACTS = [
    (("p", ("a",), 0), 0),
    (("p", ("a",), 1), 2),
    (("p", ("a",), (4, 5, "[]")), 4),
    (("p", ("a",), (6, 8, "[]")), 7),
    (("p", ("a",), 8), 8),
    (("p", ("a",), (11, 13, "[]")), 12),
    (("p", ("b",), 0), 0),
    (("p", ("b",), (1, 3, "[]")), 2),
    (("p", ("b",), 3), 4),
    (("p", ("b",), 5), 5),
    (("p", ("b",), (10, 11, "[]")), 10),
    (("q", ("a",), (2, 3, "[]")), 2),
    (("q", ("a",), 8), 9),
    (("q", ("b",), 3), 5),
    (("q", ("b",), 5), 7),
    (("q", ("b",), 6), 7),
    (("r", ("a",), (1, 2, "[]")), 1),
    (("r", ("a",), 3), 3),
    (("r", ("b",), 2), 2),
    (("r", ("b",), 4), 4),
    (("r", ("b",), 9), 9),
    (("r", ("b",), 10), 10),
    (("r", ("b",), (11, 13, "[]")), 11),
]
STATICS = [("s", ("a",))]
