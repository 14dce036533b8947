"""A way whose variables are open is none for those values for which another needs less, or no evidence."""

PROGRAM = """
timeline discrete.
input w(x).
input p(x).
d :- w(X), window(1) some w(Y), p(Y).
query d.
"""
FACTS = [
    (("w", ("b",), 1), 0),
]
TOLD = [
    "0: possible d@1",
    "  because w(b)@1; needs p(b)@1",
    "0: possible d@T",
    "  because w(b)@1; needs p(b)@2, w(X)@2; unless X = b, T < 2, T > 2",
    "1: refuted d@1",
    "2: unsupported d@T",
]
