"""The same on dense time with `since`."""

from fractions import Fraction

PROGRAM = """
timeline dense.
static s(x).
input p(x) delay 0.
input q(x) delay 0.
input r(x) delay 0.
d00(X) :- ((q(X) and q(X)) or ((not (q(X))) since[0,1] (q(X)))), not (once(2,3] (r(X))).
d01(X) :- q(X), not (r(X)).
d01(X) :- p(X), eventually[3/2] (r(X)), not (eventually[2,4) (q(X))).
d10(X) :- d00(X), eventually(0,1] (r(Y)).
d10(X)@T :- p(X)@T-1, p(X)@T+2.
d20(X)@T+2 :- d01(X)@T-1, d01(X)@T+2, not q(X)@T+2.
query d00(X).
query d01(X).
query d10(X).
query d20(X).
"""
FACTS = [
    (("p", ("a",), 1), 1),
    (("p", ("a",), (Fraction(7, 2), Fraction(11, 2), "[]")), Fraction(7, 2)),
    (("p", ("a",), Fraction(11, 2)), Fraction(11, 2)),
    (("p", ("a",), Fraction(17, 2)), Fraction(17, 2)),
    (("p", ("a",), Fraction(21, 2)), Fraction(21, 2)),
    (("p", ("a",), Fraction(23, 2)), Fraction(23, 2)),
    (("p", ("b",), Fraction(9, 2)), Fraction(9, 2)),
    (("p", ("b",), Fraction(25, 3)), Fraction(25, 3)),
    (("p", ("b",), 10), 10),
    (("p", ("b",), 11), 11),
    (("q", ("a",), 5), 5),
    (("q", ("a",), 8), 8),
    (("q", ("a",), 9), 9),
    (("q", ("a",), 10), 10),
    (("q", ("a",), 11), 11),
    (("q", ("b",), Fraction(4, 3)), Fraction(4, 3)),
    (("q", ("b",), (Fraction(7, 3), Fraction(10, 3), "[)")), Fraction(7, 3)),
    (("q", ("b",), Fraction(25, 3)), Fraction(25, 3)),
    (("q", ("b",), (Fraction(21, 2), Fraction(25, 2), "[]")), Fraction(21, 2)),
    (("q", ("b",), Fraction(34, 3)), Fraction(34, 3)),
    (("r", ("a",), 0), 0),
    (("r", ("a",), 1), 1),
    (("r", ("a",), 3), 3),
    (("r", ("a",), Fraction(9, 2)), Fraction(9, 2)),
    (("r", ("a",), Fraction(31, 3)), Fraction(31, 3)),
    (("r", ("b",), 1), 1),
    (("r", ("b",), (Fraction(15, 2), Fraction(19, 2), "[]")), Fraction(15, 2)),
    (("r", ("b",), 8), 8),
]
STATICS = [("s", ("a",))]
