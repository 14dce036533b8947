"""What an answer must not be is the same said of a variable and of the value that it stands for."""

PROGRAM = """
timeline discrete.
static s(x, y).
input a(x) delay 1.
input b(x) delay 2.
input e(x, y) delay 1.
input z delay 1.
m(X) :- s(X, _).
m(X)@T-1 :- b(X)@T, z@T1, T - 3 <= T1, T1 <= T.
d(X)@T+2 :- e(X, Y)@T, m(Y)@T, not a(X)@T, X != Y.
query d(X).
"""
FACTS = [
    (("z", (), 2), 2),
]
STATICS = [("s", ("x", "y")), ("s", ("y", "y"))]
TOLD = [
    "2: possible d(X)@T",
    "  because z@2; needs e(X, Y)@T-2, not a(X)@T-2, b(Y)@T-1; unless X = Y, Y = x, Y = y, T < 4, T > 6",
    "5: unsupported d(X)@T",
]
