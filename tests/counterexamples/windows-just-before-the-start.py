"""Just before the stream starts, a window that looks ahead shows its first times, but no whole window within."""

PROGRAM = """
timeline discrete.
input p(x).
input q(x).
d(X) :- q(X), once[0,1] (window(3, ahead 1) some window(0, ahead 1) all not p(X)).
d1(X) :- q(X), once[0,1] (window(inf, ahead 2) some window(2, ahead 2) all not p(X)).
query d(X).
query d1(X).
"""
FACTS = [
    (("q", ("a",), 0), 0),
    (("p", ("a",), 0), 0),
    (("p", ("a",), 1), 1),
    (("p", ("a",), 2), 2),
    (("p", ("a",), 3), 3),
    (("q", ("b",), 0), 0),
    (("p", ("b",), 1), 1),
]
