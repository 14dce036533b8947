"""At 12 the first value is enough for all that come; from 13 on two later ones are, each but for itself. What takes a
time away from others must not be taken away by them together: the way that needs something at 12 was lost."""

PROGRAM = """
timeline discrete.
input s(v).
d@U :- s(V)@T, s(A)@U, s(B)@W, T < U, U < W, W <= T + 10, V != A, A < B, V != B.
query d.
"""
FACTS = [
    (("s", (1,), 2), 2),
    (("s", (5,), 5), 5),
    (("s", (3,), 6), 6),
    (("s", (2,), 11), 11),
]
TOLD = [
    "2: possible d@T",
    "  because s(1)@2; needs s(A)@T, s(B)@T1; unless A = 1, A >= B, B = 1, T < 3, T > 11, T1 < T + 1, T1 > 12",
    "5: possible d@5",
    "  because s(1)@2, s(5)@5; needs s(B)@T1; unless B <= 5, B = 1, T1 < 6, T1 > 12",
    "5: possible d@T",
    "  because s(1)@2; needs s(A)@T, s(B)@T1; unless A = 1, A >= B, B = 1, T < 6, T > 11, T1 < T + 1, T1 > 12",
    "  because s(5)@5; needs s(A)@T, s(B)@T1; unless A = 5, A >= B, B = 5, T < 6, T > 14, T1 < T + 1, T1 > 15",
    "6: possible d@6",
    "  because s(1)@2, s(3)@6; needs s(B)@T1; unless B <= 3, B = 1, T1 < 7, T1 > 12",
    "  because s(5)@5, s(3)@6; needs s(B)@T1; unless B <= 3, B = 5, T1 < 7, T1 > 15",
    "6: possible d@T",
    "  because s(1)@2; needs s(A)@T, s(B)@T1; unless A = 1, A >= B, B = 1, T < 7, T > 11, T1 < T + 1, T1 > 12",
    "  because s(5)@5; needs s(A)@T, s(B)@T1; unless A = 5, A >= B, B = 5, T < 7, T > 14, T1 < T + 1, T1 > 15",
    "  because s(3)@6; needs s(A)@T, s(B)@T1; unless A = 3, A >= B, B = 3, T < 7, T > 15, T1 < T + 1, T1 > 16",
    "11: possible d@11",
    "  because s(5)@5, s(2)@11; needs s(B)@T1; unless B <= 2, B = 5, T1 < 12, T1 > 15",
    "  because s(3)@6, s(2)@11; needs s(B)@T1; unless B <= 2, B = 3, T1 < 12, T1 > 16",
    "11: possible d@T",
    "  because s(5)@5; needs s(A)@T, s(B)@T1; unless A = 5, A >= B, B = 5, T < 12, T > 14, T1 < T + 1, T1 > 15",
    "  because s(3)@6; needs s(A)@T, s(B)@T1; unless A = 3, A >= B, B = 3, T < 12, T > 15, T1 < T + 1, T1 > 16",
    "  because s(2)@11; needs s(A)@T, s(B)@T1; unless A = 2, A >= B, B = 2, T < 12, T > 20, T1 < T + 1, T1 > 21",
    "12: refuted d@5",
    "12: possible d@6",
    "  because s(5)@5, s(3)@6; needs s(B)@T1; unless B <= 3, B = 5, T1 < 13, T1 > 15",
    "14: possible d@T",
    "  because s(3)@6; needs s(A)@15, s(B)@16; unless A = 3, A >= B, B = 3, T < 15, T > 15",
    "  because s(2)@11; needs s(A)@T, s(B)@T1; unless A = 2, A >= B, B = 2, T < 15, T > 20, T1 < T + 1, T1 > 21",
    "15: refuted d@6",
    "15: possible d@11",
    "  because s(3)@6, s(2)@11; needs s(B)@16; unless B <= 2, B = 3",
    "15: possible d@T",
    "  because s(2)@11; needs s(A)@T, s(B)@T1; unless A = 2, A >= B, B = 2, T < 16, T > 20, T1 < T + 1, T1 > 21",
    "16: refuted d@11",
    "20: unsupported d@T",
]
