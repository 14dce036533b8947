"""A new value asks for absence further back than the negated predicate was kept."""

from fractions import Fraction  # noqa: F401

PROGRAM = """
timeline discrete.
static s(x).
input p(x) delay 0.
input q(x) delay 2.
input r(x) delay 0.
d00(X) :- once(2,4) (((not (r(X))) until[3] (q(X)))), ((q(X)) since[1] (p(X))).
d00(X) :- always[2,4] (historically[2,5] (q(X))), q(Y).
d01(X) :- q(X), q(X), not (historically(1,3) (q(X))), X != a.
historically(2,4] d01(X) :- p(X).
query d00(X).
query d01(X).
"""
FACTS = [
    (("p", ("a",), (0, 1, "[]")), 0),
    (("p", ("a",), 1), 1),
    (("p", ("b",), 1), 1),
    (("p", ("b",), 6), 6),
    (("p", ("b",), 7), 7),
    (("q", ("a",), 1), 2),
    (("q", ("a",), 2), 2),
    (("q", ("a",), 7), 7),
    (("q", ("a",), 8), 8),
    (("q", ("a",), 10), 12),
    (("q", ("a",), 11), 13),
    (("q", ("b",), (2, 3, "[]")), 4),
    (("q", ("b",), 5), 5),
    (("q", ("b",), 7), 8),
    (("q", ("b",), (10, 11, "[]")), 12),
    (("r", ("a",), 2), 2),
    (("r", ("a",), 8), 8),
    (("r", ("b",), 1), 1),
    (("r", ("b",), 5), 5),
    (("r", ("b",), 8), 8),
]
STATICS = [("s", ("a",))]
