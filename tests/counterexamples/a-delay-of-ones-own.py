"""How late a premise may be is known when its values are, though it was looked at before them."""

PROGRAM = """
timeline discrete.
input p(x) delay 1.
input p(x) where x = a delay 3.
input q(x).
d@T :- p(X)@T+1, q(X)@T+1, X != a.
query d.
"""
FACTS = [
    (("q", ("b",), 3), 2),
]
TOLD = [
    "2: possible d@2",
    "  because q(b)@3; needs p(b)@3",
    "4: refuted d@2",
]
