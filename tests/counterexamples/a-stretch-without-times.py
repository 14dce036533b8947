"""Where a left side has no times, nothing has to arrive for it."""

PROGRAM = """
timeline discrete.
input p(x).
input z.
static s(x).
d(X) :- s(X), (p(X) since[1,1] s(a)).
"""
FACTS = [
    (("z", (), 1), 1),
]
STATICS = [("s", ("a",))]
