"""What a hopping window has below `not` may still come, at every time that is not over."""

PROGRAM = """
timeline discrete.
input p(x).
input q(x).
e(X) :- window(0, ahead 2, hop 2) some p(X).
d(X) :- q(X), not e(X).
query d(X).
"""
FACTS = [
    (("q", ("a",), 6), 0),
    (("q", ("b",), 7), 0),
    (("p", ("a",), 5), 5),
    (("p", ("b",), 6), 6),
]
TOLD = [
    "0: possible d(a)@6",
    "  because q(a)@6; needs not e(a)@6",
    "0: possible d(b)@7",
    "  because q(b)@7; needs not e(b)@7",
    "6: refuted d(b)@7",
]
