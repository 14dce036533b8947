"""What a stretch asks for counts among what is counted: nothing more is needed, evidence no more than is needed beside
it, and what would be too many never comes."""

PROGRAM = """
timeline discrete.
input p(x) delay 2.
input r(x).
input m(x) delay 1.
h(X) :- historically[1,2] p(X), count { T : window(2) p(X)@T } >= 2.
g(X) :- r(X), count { T : window(2) r(X)@T } >= 2.
k(X) :- window(1, ahead 1) all m(X), count { T : window(1) m(X)@T } = 1.
query h(X).
query g(X).
query k(X).
"""
FACTS = [
    (("p", ("b",), 0), 1),
    (("r", ("b",), 0), 0),
    (("r", ("b",), 1), 1),
    (("m", ("a",), 1), 1),
]
TOLD = [
    "0: possible g(b)@T",
    "  because r(b)@0; needs r(b)@T; unless T < 1, T > 2",
    "1: possible g(b)@T",
    "  because r(b)@0; needs r(b)@2; unless T < 2, T > 2",
    "  because r(b)@1; needs r(b)@3; unless T < 3, T > 3",
    "1: possible h(b)@2",
    "  because p(b)@0; needs p(b)@1",
    "2: possible g(b)@T",
    "  because r(b)@1; needs r(b)@3; unless T < 3, T > 3",
    "3: unsupported g(b)@T",
    "3: refuted h(b)@2",
]
