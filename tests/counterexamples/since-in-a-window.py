"""Where nothing lies between the two sides of `since`, nothing has to lie in the window around them."""

PROGRAM = """
timeline discrete.
input q(x).
d :- window(1, ahead 1) some (q(a) since[0,1] q(b)).
d2 :- window(2) all (q(a) since[0,2] q(b)).
query d.
query d2.
"""
FACTS = [
    (("q", ("b",), 0), 0),
    (("q", ("a",), 1), 1),
    (("q", ("b",), 4), 4),
]
