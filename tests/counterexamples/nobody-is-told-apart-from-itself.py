"""Where one fact meets two premises, what its values must not be is said of the one variable that stands for both, and
two that must differ are not the same."""

PROGRAM = """
timeline discrete.
static s(x).
input a(x) delay 1.
input b(x) delay 1.
input c(x) delay 2.
m(X)@T1-1 :- c(X)@T-1, c(Y)@T1, T - 2 <= T1, not a(X)@T+2, X != Y.
k(X)@T+1 :- a(X)@T, m(Y)@T1, T <= T1, T1 < T + 4, s(X)@T.
d(X)@T1 :- b(X)@T, c(Y)@T1, T + 1 <= T1, T1 < T + 2, m(Y)@T1, not k(Y)@T+1.
query d(X).
"""
FACTS = [
    (("b", ("y",), 0), 0),
]
STATICS = [("s", ("x",)), ("s", ("y",))]
TOLD = [
    "0: possible d(y)@1",
    "  because b(y)@0, not k(Y)@1; needs c(Y)@1, c(Y2)@2, not a(Y)@4; unless Y = Y2, Y = x, Y = y",
    "  because b(y)@0, not k(Y)@1; needs c(Y)@0, c(Y)@1, c(Y2)@2, not a(Y)@3; unless Y = Y2, Y = x, Y = y",
    "  because b(y)@0, not k(Y)@1; needs c(Y)@1, c(Y2)@2, c(Y)@T1, not a(Y)@T1+3; "
    "unless Y = Y2, Y = x, Y = y, T1 < 2, T1 > 3",
    "  because b(y)@0; needs c(x)@1, not k(x)@1, c(Y2)@2, not a(x)@4; unless Y2 = x",
    "  because b(y)@0; needs c(y)@1, not k(y)@1, c(Y2)@2, not a(y)@4; unless Y2 = y",
    "  because b(y)@0; needs c(x)@0, c(x)@1, not k(x)@1, c(Y2)@2, not a(x)@3; unless Y2 = x",
    "  because b(y)@0; needs c(y)@0, c(y)@1, not k(y)@1, c(Y2)@2, not a(y)@3; unless Y2 = y",
    "  because b(y)@0; needs c(x)@1, not k(x)@1, c(Y2)@2, c(x)@2, not a(x)@5; unless Y2 = x",
    "  because b(y)@0; needs c(x)@1, not k(x)@1, c(Y2)@2, c(x)@3, not a(x)@6; unless Y2 = x",
    "  because b(y)@0; needs c(y)@1, not k(y)@1, c(Y2)@2, c(y)@2, not a(y)@5; unless Y2 = y",
    "  because b(y)@0; needs c(y)@1, not k(y)@1, c(Y2)@2, c(y)@3, not a(y)@6; unless Y2 = y",
    "1: possible d(y)@1",
    "  because b(y)@0, not k(Y)@1; needs c(Y)@1, c(Y2)@2, not a(Y)@4; unless Y = Y2",
    "  because b(y)@0, not k(Y)@1; needs c(Y)@0, c(Y)@1, c(Y2)@2, not a(Y)@3; unless Y = Y2",
    "  because b(y)@0, not k(Y)@1; needs c(Y)@1, c(Y2)@2, c(Y)@T1, not a(Y)@T1+3; unless Y = Y2, T1 < 2, T1 > 3",
    "3: refuted d(y)@1",
]
