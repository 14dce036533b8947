"""Where two countries are missing and the third has come, either of the two is enough: whatever they are, one of them
is neither the first nor the third. So needing both is no way any more, though neither alone shows it."""

PROGRAM = """
timeline discrete.
input tx(card, country).
q(X)@T :- tx(X, A)@T, tx(X, B)@U, tx(X, C)@V, T < U, U < V, V <= T + 6, A != B, B != C, A != C.
query q(X).
"""
FACTS = [
    (("tx", ("x", "a"), 4), 4),
    (("tx", ("x", "c"), 5), 5),
]
TOLD = [
    "4: possible q(x)@4",
    "  because tx(x, a)@4; needs tx(x, B)@T1, tx(x, C)@T2; unless B = C, B = a, C = a, T1 < 5, T2 < T1 + 1, T2 > 10",
    "5: possible q(x)@4",
    "  because tx(x, a)@4, tx(x, c)@5; needs tx(x, C)@T1; unless C = a, C = c, T1 < 6, T1 > 10",
    "5: possible q(x)@5",
    "  because tx(x, c)@5; needs tx(x, B)@T1, tx(x, C)@T2; unless B = C, B = c, C = c, T1 < 6, T2 < T1 + 1, T2 > 11",
    "10: refuted q(x)@4",
    "10: refuted q(x)@5",
]
