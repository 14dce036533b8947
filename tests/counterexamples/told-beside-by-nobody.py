"""A query without premise patterns beside one that has them, with a negation right of `until`."""

PROGRAM = """
timeline dense.
input p(x).
input q(x).
input r(x).
input z.
d0(X) :- p(X), q(X).
d1(X) :- p(X), (q(X) or r(X)) until[0,2] (not z).
query d0(X).
query d1(X).
"""
FACTS = [
    (("p", (1,), 1), 1),
    (("q", (1,), 1), 1),
    (("z", (), 1), 1),
]
