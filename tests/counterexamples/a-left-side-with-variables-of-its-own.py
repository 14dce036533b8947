"""The left side of `since` with variables that nothing else, or only another part of the rule, has."""

PROGRAM = """
timeline discrete.
input p(x).
input q(x).
d00(Y) :- p(X) since[0,3] q(Y).
d01(X) :- q(X), (p(X) since[0,3] q(Y)).
d02(X) :- p(X), (p(X) or not q(X)) since[1,3] q(X).
query d00(X).
query d01(X).
query d02(X).
"""
FACTS = [
    (("q", ("b",), 1), 1),
    (("p", ("a",), 2), 2),
    (("q", ("a",), 2), 2),
    (("p", ("a",), 3), 3),
    (("q", ("a",), 4), 4),
    (("p", ("b",), 4), 4),
]
