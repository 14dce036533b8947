"""Where one fact meets two premises, the answer's variable is called as it is in the answer's other ways."""

PROGRAM = """
timeline discrete.
input s.
input p(x).
d(X) :- s, (s until[1,2] p(Y)), eventually[1,2] p(X).
query d(X).
"""
FACTS = [
    (("s", (), 0), 0),
]
TOLD = [
    "0: possible d(X)@0",
    "  because s@0; needs p(X)@1",
    "  because s@0; needs p(Y)@1, p(X)@2; unless X = Y",
    "  because s@0; needs s@1, p(X)@2",
]
