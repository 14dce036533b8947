"""What was told of open values is not told again when what once took some of them away is gone."""

PROGRAM = """
timeline discrete.
input p(x).
input w(x).
d(X) :- window(2, ahead 2) some (window(0) all w(a)), w(X), eventually[0,1] p(X).
query d(X).
"""
FACTS = [
    (("p", ("a",), 1), 1),
    (("w", ("a",), 2), 1),
    (("p", ("a",), 0), 0),
]
TOLD = [
    "1: possible d(X)@2",
    "  because w(a)@2; needs w(X)@2, p(X)@T1; unless T1 < 2, T1 > 3",
    "1: possible d(a)@2",
    "  because w(a)@2; needs p(a)@T1; unless T1 < 2, T1 > 3",
    "1: possible d(X)@3",
    "  because w(a)@2; needs w(X)@3, p(X)@T1; unless X = a, T1 < 3, T1 > 4",
    "1: possible d(X)@4",
    "  because w(a)@2; needs w(X)@4, p(X)@T1; unless X = a, T1 < 4, T1 > 5",
    "3: refuted d(a)@2",
]
