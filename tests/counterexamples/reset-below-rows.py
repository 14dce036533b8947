"""A window of rows in another counts the rows that the other one shows, also where `reset` stands below both."""

PROGRAM = """
timeline discrete.
input p(x).
d00(X) :- window(rows 3) all reset window(rows 2) some p(X).
query d00(X).
"""
FACTS = [(("p", (value,), time), time) for time, value in enumerate("ababb", 1)]
