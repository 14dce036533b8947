"""Where a reading may still come at the time of one that is there, both may be missing at that time alone: later on
either of the two is enough, whatever they are. So the way that needs both is cut to that time, and gone after it."""

PROGRAM = """
timeline discrete.
input s(x, v) delay 1.
q(X)@T :- s(X, V)@T, s(X, A)@U, s(X, B)@W, T < U, U < W, W <= T + 5, V != A, A != B.
query q(X).
"""
FACTS = [
    (("s", ("k", 2), 1), 2),
    (("s", ("k", 3), 4), 4),
]
TOLD = [
    "2: possible q(k)@1",
    "  because s(k, 2)@1; needs s(k, A)@T1, s(k, B)@T2; unless A = 2, A = B, T1 < 2, T2 < T1 + 1, T2 > 6",
    "4: possible q(k)@1",
    "  because s(k, 2)@1, s(k, 3)@4; needs s(k, B)@T1; unless B = 3, T1 < 5, T1 > 6",
    "  because s(k, 2)@1; needs s(k, A)@4, s(k, B)@T1; unless A = 2, A = B, T1 < 5, T1 > 6",
    "4: possible q(k)@4",
    "  because s(k, 3)@4; needs s(k, A)@T1, s(k, B)@T2; unless A = 3, A = B, T1 < 5, T2 < T1 + 1, T2 > 9",
    "5: possible q(k)@1",
    "  because s(k, 2)@1, s(k, 3)@4; needs s(k, B)@T1; unless B = 3, T1 < 5, T1 > 6",
    "7: refuted q(k)@1",
    "9: refuted q(k)@4",
]
