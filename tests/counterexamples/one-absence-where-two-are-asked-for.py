"""Two absences of one atom at times that are open: one time for both is enough, and two needs more."""

PROGRAM = """
timeline discrete.
input q(x) delay 1.
input q(x) where x = b delay 2.
input m(x) delay 1.
f(Y) :- m(Y), eventually[0,1] not q(Y).
g(Y) :- m(Y), eventually[0,1] not q(Y).
a(X) :- q(X), tomorrow f(Y), tomorrow g(Y).
query a(X).
"""
FACTS = [
    (("q", ("b",), 0), 2),
    (("q", ("a",), 1), 1),
    (("m", ("a",), 1), 1),
    (("m", ("b",), 1), 1),
    (("q", ("a",), 2), 2),
]
