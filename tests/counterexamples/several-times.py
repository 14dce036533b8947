"""Times bound by one another in a triangle, as arguments and computed; a comparison with now."""

PROGRAM = """
timeline discrete.
input p(x).
input q(x).
input r(x).
d00(X)@T3 :- p(X)@T1, q(X)@T2, r(X)@T3, T1 <= T2, T2 <= T3, T3 - T1 <= 3.
d01(X, T1)@T2 :- p(X)@T1, q(X)@T2, T1 < T2, T2 <= T1 + 2.
d04(X)@T2 :- p(X)@T1, T2 = T1 + 2.
d05(X) :- q(X), historically[0,2] not r(X), now >= 3.
query d00(X).
query d01(X, T).
query d04(X).
query d05(X).
"""
FACTS = [
    (("p", ("a",), 1), 1),
    (("q", ("a",), 2), 2),
    (("r", ("a",), 4), 4),
    (("r", ("a",), 5), 5),
    (("p", ("b",), 3), 3),
    (("q", ("b",), 4), 4),
    (("r", ("b",), 4), 4),
    (("q", ("a",), 9), 9),
]
