"""Sixty above the smaller amount is less than above the greater one, and as good: no way of its own needs more."""

PROGRAM = """
timeline discrete.
input pay(u, v).
d(U)@T :- pay(U, V)@T, pay(U, W)@T2, T < T2, T2 <= T + 3, W > V + 60.
query d(U).
"""
FACTS = [
    (("pay", ("u", 90), 0), 0),
    (("pay", ("u", 60), 0), 0),
    (("pay", ("u", 70), 0), 0),
    (("pay", ("u", 130), 2), 2),
]
TOLD = [
    "0: possible d(u)@0",
    "  because pay(u, 60)@0; needs pay(u, W)@T1; unless W <= 120, T1 < 1, T1 > 3",
    "2: possible d(u)@2",
    "  because pay(u, 130)@2; needs pay(u, W)@T1; unless W <= 190, T1 < 3, T1 > 5",
    "5: refuted d(u)@2",
]
