"""Each `_` of a query is a variable of its own."""

PROGRAM = """
timeline discrete.
input a(x).
input b(x).
d(X, Y) :- a(X), eventually[1,3] b(Y).
query d(_, _).
"""
FACTS = [
    (("a", ("m",), 1), 1),
    (("b", ("z",), 3), 3),
]
TOLD = [
    "1: possible d(m, X2)@1",
    "  because a(m)@1; needs b(X2)@T1; unless T1 < 2, T1 > 4",
]
