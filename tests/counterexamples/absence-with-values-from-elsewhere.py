"""A value of another time is asked for by a negation: it stays with what is found by it."""

PROGRAM = """
timeline discrete.
input p(x).
input q(x).
d00(X, T)@T :- p(X)@U, p(Y)@T, not q(Y)@U, T < U, U <= T + 2.
d01(X) :- p(X), once[0,3] (q(Y) and not p(X)).
query d00(X, T).
query d01(X).
"""
FACTS = [
    (("p", (1,), 4), 3),
    (("q", (1,), 5), 4),
    (("p", ("a",), 5), 4),
    (("p", ("b",), 6), 6),
]
