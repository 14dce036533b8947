"""`since[0]` hangs on its right side alone: what its left side learns later must not say it again."""

PROGRAM = """
timeline discrete.
static s(x).
input p(x) delay 0.
input r(x) delay 0.
d(X) :- ((not r(X)) until[1,4) r(X)) since[0] r(X), not (r(X) and p(X)).
query d(X).
"""
FACTS = [
    (("p", ("a",), (7, 8, "[]")), 7),
    (("r", ("a",), 8), 8),
    (("r", ("a",), 10), 10),
]
STATICS = [("s", ("a",))]
