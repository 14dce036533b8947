"""A stretch may be among several premises, none of which has all of it: d@5 needs p@4 and p@5, with p@3 or without."""

PROGRAM = """
timeline discrete.
input p(x) delay 1.
d(X) :- p(X), once[0,1] historically[0,1] p(X).
query d(X).
"""
FACTS = [
    (("p", ("b",), 3), 2),
]
TOLD = [
    "2: possible d(b)@3",
    "  because p(b)@3; needs p(b)@2",
    "2: possible d(b)@4",
    "  because p(b)@3; needs p(b)@4",
    "3: refuted d(b)@3",
    "5: refuted d(b)@4",
]
