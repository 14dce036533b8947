"""Of a stretch about somebody, the rest may be as late as facts about that one may be, not as others."""

PROGRAM = """
timeline discrete.
input p(x).
input p(x) where x = a delay 3.
input z delay 1.
d :- historically[1,2] p(Y), z.
query d.
"""
FACTS = [
    (("p", ("b",), 2), 2),
    (("p", ("a",), 4), 4),
]
TOLD = [
    "2: possible d@4",
    "  because p(b)@2; needs p(b)@3, z@4",
    "3: unsupported d@4",
    "4: possible d@5",
    "  because p(a)@4; needs p(a)@3, z@5",
    "4: possible d@6",
    "  because p(a)@4; needs p(a)@5, z@6",
    "5: refuted d@4",
    "6: refuted d@5",
    "7: refuted d@6",
]
