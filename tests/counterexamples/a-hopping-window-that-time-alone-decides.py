"""What hops over static facts, or over absence, is confirmed as time passes, though no fact says at which times."""

PROGRAM = """
timeline discrete.
input z.
static s(x).
d(X) :- s(X), window(3, hop 2) some s(Y), not z.
"""
FACTS = [
    (("z", (), 1), 1),
]
STATICS = [("s", ("a",))]
