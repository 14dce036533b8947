"""Two absences of one atom at times that are open: one time for both is enough, and two needs more."""

PROGRAM = """
timeline discrete.
input q(x) delay 1.
input q(x) where x = b delay 2.
input m(x) delay 1.
f(Y) :- m(Y), eventually[0,1] not q(Y).
g(Y) :- m(Y), eventually[0,1] not q(Y).
d(X) :- q(X), tomorrow f(Y), tomorrow g(Y).
query d(X).
"""
FACTS = [
    (("q", ("b",), 0), 2),
    (("q", ("a",), 1), 1),
    (("m", ("a",), 1), 1),
    (("m", ("b",), 1), 1),
    (("q", ("a",), 2), 2),
]
TOLD = [
    "1: possible d(X)@0",
    "  because m(a)@1; needs q(X)@0, not q(a)@2",
    "  because m(b)@1; needs q(X)@0, not q(b)@T1; unless T1 < 1, T1 > 2",
    "1: possible d(a)@1",
    "  because q(a)@1; needs m(Y)@2, not q(Y)@T1; unless T1 < 2, T1 > 3",
    "2: possible d(b)@0",
    "  because q(b)@0, m(b)@1; needs not q(b)@T1; unless T1 < 1, T1 > 2",
    "2: possible d(a)@1",
    "  because q(a)@1; needs m(Y)@2, not q(Y)@2; unless Y = a",
    "  because q(a)@1; needs m(Y)@2, not q(Y)@3",
    "2: possible d(a)@2",
    "  because q(a)@2; needs m(Y)@3, not q(Y)@T1; unless T1 < 3, T1 > 4",
    "3: refuted d(a)@1",
    "4: refuted d(a)@2",
]
