"""The open variable of an answer is the same in all its ways: `p(X)` alone says nothing of `p(b)`."""

PROGRAM = """
timeline dense.
input p(x) delay 1.
q(X) :- once[0,1] p(X), once[1,3] p(X).
d(X) :- eventually[0,2] q(X).
d(X) :- once[0,2] q(b), once[0,2] p(X).
query d(X).
"""
FACTS = [
    (("p", ("b",), 8), 2),
]
TOLD = [
    "2: possible d(X)@T",
    "  because p(b)@8; needs p(X)@T1; unless X = b, T < 9, T > 11, T1 < T - 2, T1 >= T - 1",
    "  because p(b)@8; needs p(b)@T2, p(X)@T1; unless X = b, T <= 8, T >= 9, T1 < T - 2, "
    "T1 >= T - 1, T2 < 5, T2 >= T - 3",
    "  because p(b)@8; needs p(X)@T1, p(b)@T2; unless X = b, T <= 11, T >= 12, "
    "T1 < T - 2, T1 >= T - 1, T2 <= T - 1, T2 > 11",
    # A way is gone when the last choice of its times is: here `p(b)` before 6, which may come until 7,
    "7: possible d(X)@T",
    "  because p(b)@8; needs p(X)@T1; unless X = b, T < 9, T > 11, T1 < T - 2, T1 >= T - 1",
    "  because p(b)@8; needs p(X)@T1, p(b)@T2; unless X = b, T <= 11, T >= 12, "
    "T1 < T - 2, T1 >= T - 1, T2 <= T - 1, T2 > 11",
    # and here `p(X)` before 10, which may come until 11.
    "11: possible d(X)@T",
    "  because p(b)@8; needs p(X)@T1, p(b)@T2; unless X = b, T <= 11, T >= 12, T1 <= 10, "
    "T1 >= T - 1, T2 <= T - 1, T2 > 11",
    "12: unsupported d(X)@T",
]
