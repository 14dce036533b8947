"""A window that hops does not cover every time it is looked at; a window below it then selects nothing anew."""

PROGRAM = """
timeline discrete.
input p(x).
input r(x).
d(X) :- r(X), not (window(5, hop 4) window(3) some p(X)).
query d(X).
"""
FACTS = [(("p", ("a",), 1), 1), (("r", ("a",), 7), 7), (("r", ("a",), 11), 11)]
