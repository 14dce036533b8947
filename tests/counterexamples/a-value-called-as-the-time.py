"""A query may call a value `T`, as the time of answers is called."""

PROGRAM = """
timeline discrete.
input tram(id, stop).
input bus(id, stop).
d(T, B, S) :- tram(T, S), eventually[0,5] bus(B, S).
query d(T, B, S).
"""
FACTS = [
    (("tram", ("a", "x"), 2), 2),
    (("bus", ("b", "x"), 4), 4),
    (("tram", ("c", "x"), 5), 5),
]
TOLD = [
    "2: possible d(a, B, x)@2",
    "  because tram(a, x)@2; needs bus(B, x)@T2; unless T2 < 3, T2 > 7",
    "5: possible d(c, B, x)@5",
    "  because tram(c, x)@5; needs bus(B, x)@T2; unless T2 < 6, T2 > 10",
]
