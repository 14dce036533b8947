"""An absence of anybody's is not about those of whom the opposite is known at that time; at others it is."""

PROGRAM = """
timeline discrete.
input p(x) delay 2.
input q(x) delay 1.
d@T+1 :- p(X)@T+1, not q(X)@T.
query d.
"""
FACTS = [
    (("q", ("b",), 3), 3),
]
TOLD = [
    "1: possible d@1",
    "  because not q(X)@0; needs p(X)@1",
    "2: possible d@2",
    "  because not q(X)@1; needs p(X)@2",
    "3: refuted d@1",
    "3: possible d@3",
    "  because not q(X)@2; needs p(X)@3",
    "4: refuted d@2",
    "4: possible d@4",
    "  because not q(X)@3; needs p(X)@4; unless X = b",
    "5: refuted d@3",
    "5: possible d@5",
    "  because not q(X)@4; needs p(X)@5",
]
