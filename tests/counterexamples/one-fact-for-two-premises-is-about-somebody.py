"""Where one fact meets two premises and says who the answer is about, it is a way of that answer, not of all."""

PROGRAM = """
timeline discrete.
input p(x).
input r(x).
c(X) :- p(X), always[1,2] once[1,2] p(X).
d(X) :- c(X), c(Y), once[1,1] r(Y).
query d(X).
"""
FACTS = [
    (("r", ("a",), 1), 1),
]
TOLD = [
    "1: possible d(X)@2",
    "  because r(a)@1; needs p(X)@2, p(a)@2",
    "1: possible d(a)@2",
    "  because r(a)@1; needs p(a)@2",
    "2: refuted d(a)@2",
]
