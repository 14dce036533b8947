"""Before the start nothing holds, so that absence there is what `since` may begin with."""

PROGRAM = """
timeline discrete.
input q(x) delay 1.
input r(x) delay 1.
input z delay 1.
d0(X) :- r(X), (not z) since[2,2] (not q(X)).
query d0(X).
"""
FACTS = [
    (("r", (1,), 0), 0),
    (("q", (1,), 1), 1),
    (("q", (1,), 2), 3),
    (("r", (1,), 5), 5),
]
