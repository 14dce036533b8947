"""A constant that only a comparison mentions is the first that does not fit into the table of numbers."""

PROGRAM = """
timeline discrete.
input m(x, v: int).
input p(x).
d0(X) :- m(X, V), p(X), V + 9 < 30.
query d0(X).
"""
FACTS = [(("p", (f"c{number}",), 0), 0) for number in range(14)] + [
    (("m", ("c0", 3), 0), 0),
]
