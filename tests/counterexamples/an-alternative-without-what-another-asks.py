"""Where one alternative gives a variable no value, and nothing else in the rule does, no relation can have a column for
it: the row had whatever was there before, and a saved reasoner could not be read again."""

PROGRAM = """
timeline discrete.
input q(x).
input r(x, y) delay 1.
input z delay 2.
d(X) :- (eventually[1,1] r(Y, X)) until[0,0] (z or r(X, Y)), q(X), q(a).
query d(X).
"""
FACTS = [
    (("q", ("a",), 3), 3),
    (("q", ("b",), 3), 3),
    (("z", (), 3), 4),
    (("r", ("a", "b"), 5), 5),
    (("q", ("a",), 5), 5),
]
