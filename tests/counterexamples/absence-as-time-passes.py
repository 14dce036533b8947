"""What only an absence speaks for is another answer at each time: all are told, and what becomes of them."""

PROGRAM = """
timeline discrete.
input p(x).
input z.
d@T :- not z@T, p(X)@T+1.
query d.
"""
FACTS = [
    (("z", (), 0), 0),
    (("p", ("b",), 3), 3),
]
TOLD = [
    "1: possible d@1",
    "  because not z@1; needs p(X)@2",
    "2: refuted d@1",
    "2: possible d@2",
    "  because not z@2; needs p(X)@3",
    "3: possible d@3",
    "  because not z@3; needs p(X)@4",
    "4: refuted d@3",
    "4: possible d@4",
    "  because not z@4; needs p(X)@5",
]
