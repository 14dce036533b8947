"""What derives itself at one time becomes final together: nothing waits for itself."""

PROGRAM = """
timeline discrete.
input p(x) delay 0.
input q(x) delay 0.
input r(x) delay 0.
always[3] d00(X) :- r(X), p(Y), not d00(Y).
d00(X) :- d00(X), q(X).
query d00(X).
"""

FACTS = [
    (("r", ("a",), 0), 0),
    (("p", ("b",), 0), 0),
    (("r", ("b",), 1), 1),
    (("p", ("a",), 1), 1),
    (("q", ("a",), 3), 3),
    (("p", ("a",), 3), 3),
    (("r", ("a",), 3), 3),
]
