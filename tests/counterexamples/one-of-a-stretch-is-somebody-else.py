"""A stretch is among premises about two individuals where both are the same: then less does, and without evidence."""

PROGRAM = """
timeline discrete.
input a(x).
input e(x, y).
input z.
m(X) :- a(X).
m(X) :- e(X, Y), historically[1,1] z, a(Y).
d(X) :- eventually[1,1] a(X), m(X).
query d(X).
"""
FACTS = [
    (("z", (), 0), 0),
]
TOLD = [
    "0: possible d(X)@1",
    "  because z@0; needs a(Y)@1, e(X, Y)@1, a(X)@2; unless X = Y",
]
