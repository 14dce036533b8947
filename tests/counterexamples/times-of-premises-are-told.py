"""An open time is that of a premise, not one that a rule reckons from, which may lie before the start."""

PROGRAM = """
timeline discrete.
input p(x) delay 2.
input r(x).
d(X)@U :- r(X)@U, p(X)@T+1, U >= T + 1, U <= T + 3.
query d(X).
"""
FACTS = [
    (("r", ("a",), 1), 1),
]
TOLD = [
    "1: possible d(a)@1",
    "  because r(a)@1; needs p(a)@T1; unless T1 > 1",
    "3: refuted d(a)@1",
]
