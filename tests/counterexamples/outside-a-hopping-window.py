"""A window that hops may not cover the time at which it is looked at: then it shows no fact of that time."""

PROGRAM = """
timeline discrete.
input q(x).
input r(x).
d(X) :- window(3, ahead 1, hop 4) (q(X) and some r(X)).
d1(X) :- r(X), window(3, ahead 1, hop 4) not q(X).
query d(X).
query d1(X).
"""
FACTS = [
    (("q", ("a",), 1), 1),
    (("q", ("a",), 2), 2),
    (("q", ("a",), 3), 3),
    (("q", ("a",), 4), 4),
    (("r", ("a",), 1), 1),
    (("r", ("a",), 4), 4),
    (("r", ("a",), 6), 6),
]
