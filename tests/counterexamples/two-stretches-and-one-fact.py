"""A fact that is in two stretches is evidence for both, though it is evidence for one already."""

PROGRAM = """
timeline discrete.
input p(x) delay 2.
d(X) :- always[0,1] p(X).
h(X) :- d(X), d(Y).
query h(a).
"""
FACTS = [
    (("p", ("a",), 0), 1),
]
TOLD = [
    "1: possible h(a)@0",
    "  because p(a)@0; needs p(a)@1",
    "3: refuted h(a)@0",
]
