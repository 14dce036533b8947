"""A stretch may be among several premises, none of which has all of it: h@5 needs p@4 and p@5, with p@3 or without."""

PROGRAM = """
timeline discrete.
input p(x) delay 1.
h(X) :- p(X), once[0,1] historically[0,1] p(X).
query h(X).
"""
FACTS = [
    (("p", ("b",), 3), 2),
]
TOLD = [
    "2: possible h(b)@3",
    "  because p(b)@3; needs p(b)@2",
    "2: possible h(b)@4",
    "  because p(b)@3; needs p(b)@4",
    "3: refuted h(b)@3",
]
