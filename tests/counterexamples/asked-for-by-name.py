"""Who asks for one individual is told of that one, also where negation is judged evolution by evolution."""

PROGRAM = """
timeline discrete.
input p(x).
input q(x) delay 1.
input z delay 1.
e(X)@T+2 :- not p(X)@T+2, z@T+1, p(X)@T.
d(X)@T+2 :- q(X)@T+3, not e(X)@T, e(X)@T+1.
query d(b).
"""
FACTS = [
    (("z", (), 2), 0),
    (("p", ("b",), 1), 1),
]
TOLD = [
    "0: possible d(b)@4",
    "  because not e(b)@2, z@2; needs p(b)@1, not p(b)@3, q(b)@5",
    "1: possible d(b)@4",
    "  because p(b)@1, not e(b)@2, z@2; needs not p(b)@3, q(b)@5",
    "2: possible d(b)@6",
    "  because not e(b)@4; needs p(b)@3, z@4, not p(b)@5, q(b)@7",
    "3: possible d(b)@4",
    "  because p(b)@1, not e(b)@2, z@2, not p(b)@3; needs q(b)@5",
    "3: refuted d(b)@6",
    "3: possible d(b)@7",
    "  because not e(b)@5; needs p(b)@4, z@5, not p(b)@6, q(b)@8",
    "4: refuted d(b)@7",
    "4: possible d(b)@8",
    "  because not e(b)@6; needs p(b)@5, z@6, not p(b)@7, q(b)@9",
    "5: refuted d(b)@8",
    "5: possible d(b)@9",
    "  because not e(b)@7; needs p(b)@6, z@7, not p(b)@8, q(b)@10",
    "6: refuted d(b)@4",
    "6: refuted d(b)@9",
    "6: possible d(b)@10",
    "  because not e(b)@8; needs p(b)@7, z@8, not p(b)@9, q(b)@11",
    "7: refuted d(b)@10",
    "7: possible d(b)@11",
    "  because not e(b)@9; needs p(b)@8, z@9, not p(b)@10, q(b)@12",
]
