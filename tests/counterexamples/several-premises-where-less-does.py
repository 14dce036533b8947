"""What a derived atom and an operator ask for overlaps by open times: ways that need more than others are not told."""

PROGRAM = """
timeline discrete.
input p(x) delay 2.
input e(x, y) delay 2.
c(X) :- historically[0,2] e(b, X), (historically[1,1] once[0,0] p(X) or e(X, X)).
d(X) :- eventually[0,1] always[0,1] e(b, X), always[0,1] (c(X) or c(a)).
query d(b).
"""
FACTS = [
    (("e", ("b", "b"), 0), 2),
]
TOLD = [
    "2: possible d(b)@2",
    "  because e(b, b)@0; needs e(b, b)@[1,3]",
    "3: refuted d(b)@2",
]
