"""The time of an open answer has one name in all lines about it, whatever values have names in them."""

PROGRAM = """
timeline discrete.
input p(x).
input r(x, y).
d(X) :- p(X), once[0,3] r(X, T), once[0,3] p(T).
query d(X).
"""
FACTS = [
    (("p", ("b",), 1), 1),
    (("p", ("c",), 9), 9),
]
TOLD = [
    "1: possible d(X)@T1",
    "  because p(b)@1; needs p(X)@T1, r(X, b)@T2; unless X = b, T1 < 2, T1 > 4, T2 < 2, T2 > T1",
    "4: unsupported d(X)@T1",
    "9: possible d(X)@T1",
    "  because p(c)@9; needs p(X)@T1, r(X, c)@T2; unless X = c, T1 < 10, T1 > 12, T2 < 10, T2 > T1",
    "12: unsupported d(X)@T1",
]
