"""At even times `q(X)` is in the window itself: what came before is not needed, and nothing speaks for it yet."""

PROGRAM = """
timeline discrete.
input q(x) delay 2.
d :- window(3, hop 2) some reset q(X), q(X).
query d.
"""
FACTS = [
    (("q", ("a",), 3), 5),
]
TOLD = [
    "5: possible d@5",
    "  because q(a)@3; needs q(a)@5",
    "5: possible d@7",
    "  because q(a)@3; needs q(a)@7",
    "7: refuted d@5",
    "8: possible d@T",
    "  because q(a)@3; needs q(a)@7; unless T < 7, T > 7",
    "9: refuted d@7",
    "9: unsupported d@T",
]
