"""Where nothing lies between the sides of `since` and `until`, static facts and comparisons on the left say nothing."""

PROGRAM = """
timeline discrete.
static s(x).
input p(x).
input w(x).
input v(x, y).
d(X) :- w(X), (s(X) since[0,2] p(Y)).
d1(X) :- w(X), (s(X) until[1,2] p(Y)).
d2(X) :- v(X, V), ((V > 3) since[0,2] p(X)).
query d(X).
query d1(X).
query d2(X).
"""
FACTS = [
    (("p", ("c",), 0), 0),
    (("w", ("b",), 1), 1),
    (("w", ("a",), 1), 1),
    (("p", ("c",), 2), 2),
    (("w", ("b",), 2), 2),
    (("v", ("c", 2), 2), 2),
    (("v", ("c", 2), 4), 4),
    (("v", ("c", 5), 4), 4),
]
STATICS = [("s", ("a",))]
