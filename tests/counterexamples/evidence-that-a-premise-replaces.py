"""Of evidence as much is told as is needed: p(b)@3 is not, where p(b)@2 is a premise that does as well."""

PROGRAM = """
timeline discrete.
input p(x) delay 2.
input r(x).
d(X) :- p(X), eventually[0,2] p(X), eventually[0,1] (r(a) or p(a)).
query d(X).
"""
FACTS = [
    (("p", ("a",), 3), 3),
    (("p", ("b",), 3), 3),
]
TOLD = [
    "3: possible d(X)@T",
    "  because p(a)@3; needs p(X)@T; unless X = a, T < 2, T > 3",
    "5: unsupported d(X)@T",
]
