"""What stands below `reset` sees the whole stream, whatever windows there are above it."""

PROGRAM = """
timeline discrete.
input p(x).
d00(X) :- window(1) some reset window(1) all p(X).
d01(X) :- window(2) all reset window(1) some p(X).
d02(X) :- window(3) all window(2) reset window(1) some p(X).
query d00(X).
query d01(X).
query d02(X).
"""
FACTS = [(("p", ("b",), 1), 1), (("p", ("b",), 3), 3), (("p", ("b",), 4), 4)]
