"""Static facts hold at every time, also where an operator looks beyond the window it stands in."""

PROGRAM = """
timeline discrete.
input p(x).
static s(x).
d(X) :- s(X), p(X), window(1) all (always[0,1] s(X)).
"""
FACTS = [
    (("p", ("a",), 2), 2),
]
STATICS = [("s", ("a",))]
