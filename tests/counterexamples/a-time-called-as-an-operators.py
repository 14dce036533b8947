"""A rule may call a time `C1`, whatever the times that its operators choose are called."""

PROGRAM = """
timeline discrete.
input a(x).
input b(x).
d(X)@C1+1 :- a(X)@C1, (eventually[0,3] b(X))@C1.
query d(X).
"""
FACTS = [
    (("a", ("x",), 2), 2),
    (("b", ("x",), 4), 4),
]
TOLD = [
    "2: possible d(x)@3",
    "  because a(x)@2; needs b(x)@T1; unless T1 < 3, T1 > 5",
]
