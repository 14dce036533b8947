"""Where nothing lies between the sides of `since` and `until`, what the left one says of times nearby is not asked."""

PROGRAM = """
timeline discrete.
input b(x).
input c(x).
k(X) :- historically[1,2] c(X).
d(X) :- k(X) since[1,1] b(X).
d1(X) :- (always[0,1] c(X)) until[1,2] b(X).
query d(X).
query d1(X).
"""
FACTS = [
    (("c", ("x",), 1), 1),
    (("b", ("x",), 2), 2),
]
TOLD = [
    "1: possible d1(x)@0",
    "  because c(x)@1; needs b(x)@2, c(x)@2",
    "2: refuted d1(x)@0",
]
