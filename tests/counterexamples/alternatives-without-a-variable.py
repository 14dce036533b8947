"""An alternative that says nothing of a variable holds with all its values, but those are the rule's own."""

PROGRAM = """
timeline discrete.
input p(x).
input q(x).
input r(x).
input m(x, v: int).
d00(X) :- r(X), once[0,3] (p(X) or q(Y)).
d01(X) :- m(X, V), once[0,2] m(X, W), V < 1 or W < 1.
query d00(X).
query d01(X).
"""
FACTS = [
    (("p", ("b",), 2), 2),
    (("r", ("a",), 3), 3),
    (("r", ("b",), 3), 3),
    (("q", ("c",), 5), 5),
    (("r", ("a",), 8), 8),
    (("m", ("a", 0), 1), 1),
    (("m", ("a", 5), 3), 3),
    (("m", ("b", 5), 3), 3),
]
