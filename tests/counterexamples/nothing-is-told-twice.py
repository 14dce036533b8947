"""That a smaller way is gone changes nothing about a larger one: whoever was told of it knows."""

PROGRAM = """
timeline discrete.
input p(x) delay 1.
input q(x).
input z.
d(X) :- always[0,1] q(Y), window(3) some p(X), once[1,2] z.
query d(X).
"""
FACTS = [
    (("p", ("b",), 0), 0),
    (("z", (), 0), 0),
    (("p", ("b",), 1), 1),
    (("z", (), 2), 2),
]
TOLD = [
    "0: possible d(X)@T",
    "  because z@0; needs p(X)@T1, q(Y)@[T,T+1]; unless T < 1, T > 2, T1 > T",
    "0: possible d(b)@T",
    "  because p(b)@0, z@0; needs q(Y)@[T,T+1]; unless T < 1, T > 2",
    "  because p(b)@0; needs q(Y)@[3,4], z@T1; unless T < 3, T > 3, T1 < 1, T1 > 2",
    "1: possible d(b)@T",
    "  because z@0, p(b)@1; needs q(Y)@[2,3]; unless T < 2, T > 2",
    "  because p(b)@1; needs z@T1, q(Y)@[T,T+1]; unless T < 3, T > 4, T1 < 2, T1 > T - 1",
    "2: possible d(X)@T",
    "  because z@2; needs p(X)@T1, q(Y)@[T,T+1]; unless T < 3, T > 4, T1 < 2, T1 > T",
    "2: possible d(b)@T",
    "  because p(b)@1, z@2; needs q(Y)@[T,T+1]; unless T < 3, T > 4",
    "4: unsupported d(X)@T",
    "4: unsupported d(b)@T",
]
