"""What runs where: every construct of the language, and the engines that take it.

`support_reference.py` writes the page `docs/reference/support.md` from this table, and `tests/language/test_support.py`
runs each row on each engine that the table names and asks for the refusal of each that it does not, in the words of
`presage/support.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from presage.support import NO_PATTERNS, NOT_EXPLAINED

ENGINES = ("confirmed", "hypothetical", "explained", "Spark batch", "Spark stream")


@dataclass(frozen=True, slots=True)
class Construct:
    """A row of the table. `rules` use it, and derive `out`."""

    group: str
    name: str
    rules: str
    hypothetical: str = ""
    """Why there are no hypothetical answers: a key of `NO_PATTERNS`."""
    explained: str = ""
    """Why there are no proofs: a key of `NOT_EXPLAINED`."""
    timeline: str = "discrete"


def _rows(group: str, *rows: tuple[str, ...], timeline: str = "discrete") -> tuple[Construct, ...]:
    found = []
    for name, rules, *gaps in rows:
        hypothetical, explained = (*gaps, "", "")[:2]
        found.append(Construct(group, name, rules, hypothetical, explained, timeline))
    return tuple(found)


CONSTRUCTS: tuple[Construct, ...] = (
    *_rows(
        "Atoms and pins",
        ("atom", "out(X) :- p(X)."),
        ("constant", "out(X) :- r(X, b)."),
        ("repeated variable", "out(X) :- r(X, X)."),
        ("anonymous variable", "out(X) :- r(X, _)."),
        ("no arguments", "out(X) :- p(X), z."),
        ("static", "out(X) :- p(X), s(X)."),
        ("join", "out(X) :- r(X, Y), q(Y)."),
        ("pin", "out(X)@T :- p(X)@T."),
        ("pin with an offset", "out(X)@T+1 :- p(X)@T, q(X)@T+1."),
        ("pin before the head", "out(X)@T-1 :- q(X)@T."),
        ("pin to a fixed time", "out(X) :- p(X), q(X)@3."),
        ("pin to now", "out(X) :- p(X), q(X)@now+1."),
        ("pin below an operator", "out(X) :- p(X), once[0,2] (q(X)@3).", "", "pin below an operator"),
        ("`true`", "out(X) :- p(X), true."),
    ),
    *_rows(
        "Several times",
        ("two time variables", "out(X)@U :- p(X)@T, q(X)@U, T <= U, U <= T + 2.", "", "several times"),
        (
            "three time variables",
            "out(X)@V :- p(X)@T, q(X)@U, n(X, _)@V, T <= U, U <= V, V - T <= 3.",
            "",
            "several times",
        ),
        ("a time that nothing bounds", "out(X)@T :- q(X)@T, r(Y, Y)@U.", "", "several times"),
        ("a time as an argument", "out(X, T)@T :- p(X)@T.", "time as a value", "time as a value"),
        ("a computed time", "out(X)@U :- p(X)@T, U = T + 2.", "", "several times"),
        ("a comparison with `now`", "out(X) :- p(X), now >= 2.", "", "time as a value"),
    ),
    *_rows(
        "Metric operators",
        ("`once`", "out(X) :- q(X), once[1,2] p(X)."),
        ("`once` without an end", "out(X) :- q(X), once[1,inf) p(X)."),
        ("`historically`", "out(X) :- historically[0,1] p(X)."),
        ("`eventually`", "out(X) :- p(X), eventually[0,2] q(X)."),
        ("`always`", "out(X) :- always[0,1] p(X)."),
        ("`yesterday`", "out(X) :- q(X), yesterday p(X)."),
        ("`tomorrow`", "out(X) :- p(X), tomorrow q(X)."),
        ("`since`", "out(X) :- p(X) since[0,3] q(X)."),
        ("`until`", "out(X) :- p(X) until[0,3] q(X)."),
        ("`since` with a negated left side", "out(X) :- (not z) since[0,3] q(X)."),
        ("`until` with a negated right side", "out(X) :- p(X), q(X) until[0,2] (not z)."),
        ("`since` with variables of its own", "out(Y) :- p(X) since[0,3] q(Y)."),
        ("`once` over `historically`", "out(X) :- once[0,2] historically[0,1] p(X)."),
        ("`historically` over `once`", "out(X) :- historically[0,1] once[0,1] p(X)."),
    ),
    *_rows(
        "Connectives",
        ("`and`", "out(X) :- once[0,2] (p(X) and q(X))."),
        ("`or`", "out(X) :- p(X) or q(X)."),
        ("`or` below an operator", "out(X) :- once[0,1] (p(X) or q(X))."),
        ("`implies`", "out(X) :- p(X), (z implies q(X))."),
        ("`not`", "out(X) :- p(X), not q(X)."),
        ("`not` of something derived", "mid(X) :- q(X), once[0,2] z. out(X) :- p(X), not mid(X)."),
        ("`not` over an operator", "out(X) :- p(X), not once[0,2] z."),
        ("`not` below an operator", "out(X) :- p(X), historically[0,1] not z."),
        ("`not` over a conjunction", "out(X) :- p(X), not (q(X) and z)."),
    ),
    *_rows(
        "Values",
        ("equality", "out(X) :- r(X, Y), X = Y."),
        ("inequality", "out(X) :- r(X, Y), X != Y."),
        ("order", "out(X) :- n(X, V), V > 2."),
        ("arithmetic", "out(X) :- n(X, V), V + 1 = 6."),
        ("a computed argument", "out(W) :- n(_, V), W = V * 2."),
        ("a comparison inside a formula", "out(X) :- once[0,2] (n(X, V) and V > 2)."),
        ("functions of numbers", "out(X) :- n(X, V), mod(V, 2) = 1, abs(V) > 2."),
        ("functions of text", 'out(X) :- p(X), upper(X) = "A".'),
        ("asking functions", 'out(X) :- p(X), starts_with(X, "a").'),
        ("`case`", "out(X) :- n(X, V), case(V > 2, V, 0) > 0."),
    ),
    *_rows(
        "Windows",
        ("`some` in a window", "out(X) :- window(2) some p(X)."),
        ("`all` in a window", "out(X) :- window(1) all p(X)."),
        ("a window ahead", "out(X) :- window(1, ahead 1) some p(X)."),
        ("a window without an end", "out(X) :- window(inf) some p(X)."),
        ("a tumbling window", "out(X) :- window(2, hop 2) some p(X).", "", "hop"),
        ("a hopping window", "out(X) :- window(3, hop 2) some (p(X) and q(X)).", "", "hop"),
        (
            "a hopping window below an operator",
            "out(X) :- once[0,1] window(3, hop 2) some p(X).",
            "hop below an operator",
            "hop",
        ),
        ("a window in a window", "out(X) :- window(3) some window(1) all p(X).", "", "window over operators"),
        ("`reset`", "out(X) :- window(1) some reset window(1) some p(X).", "", "window over operators"),
        ("`some` without a window", "out(X) :- some p(X).", "", "modality"),
        ("a pin in a window", "out(X)@T :- p(X)@T, window(2) q(X)@T.", "", "window over operators"),
        ("a window of rows", "out(X) :- window(rows 2) some p(X).", "rows", "rows"),
        ("a window of rows ahead", "out(X) :- window(rows 2, ahead 1) some p(X).", "rows", "rows"),
        ("a window of rows for each", "out(X) :- window(rows 1 by p(X)) some p(X).", "rows", "rows"),
        ("a window with a filter", "out(X) :- window(only p(_)) p(X).", "", "filter"),
    ),
    *_rows(
        "Aggregates",
        ("`count` at least", "out(X) :- p(X), count { T : window(3) p(X)@T } >= 2.", "", "aggregate"),
        ("`count`", "out(N) :- z, N = count { X : window(2) some p(X) }.", "aggregate", "aggregate"),
        ("`sum`", "out(N) :- z, N = sum { V, X, T : window(3) n(X, V)@T }.", "aggregate", "aggregate"),
        ("`avg`", "out(N) :- z, N = avg { V, X, T : window(3) n(X, V)@T }.", "aggregate", "aggregate"),
        (
            "`min` and `max`",
            "out(N) :- N = max { V : window(3) n(_, V) }, N > min { V : window(3) n(_, V) }.",
            "aggregate",
            "aggregate",
        ),
        ("`first`", "out(N) :- z, N = first { V, T : window(3) n(a, V)@T }.", "aggregate", "aggregate"),
        ("`last`", "out(N) :- z, N = last { V, T : window(3) n(a, V)@T }.", "aggregate", "aggregate"),
        ("groups", "out(X, N) :- N = count { V : window(3) some n(X, V) }.", "aggregate", "aggregate"),
    ),
    *_rows(
        "Heads",
        ("several atoms", "out(X), beside(X) :- p(X)."),
        ("`always`", "always[1,2] out(X) :- q(X)."),
        ("`historically`", "historically[0,1] out(X) :- q(X)."),
        ("a fact at a time", "out(a)@2."),
        ("a fact over an interval", "out(a)@[1,3]."),
        ("a fact at every time", "out(a)."),
        ("a predicate that is given and derived", "p(X) :- q(X). out(X) :- p(X)."),
    ),
    *_rows(
        "Recursion",
        ("through time", "out(X)@T :- p(X)@T. out(X)@T+1 :- out(X)@T, q(X)@T+1.", "recursion"),
        ("at one time", "out(X, Y) :- r(X, Y). out(X, Z) :- out(X, Y), r(Y, Z).", "recursion"),
    ),
    *_rows(
        "Invented values",
        ("`exists`", "exists Y: mid(X, Y) :- p(X). out(X) :- mid(X, _)."),
        ("`exists lasting`", "exists lasting Y: mid(X, Y) :- p(X). out(X) :- mid(X, _)."),
        (
            "`chase restricted`",
            "chase restricted. exists Y: mid(X, Y) :- p(X). out(X) :- mid(X, _).",
            "invented where needed",
            "invented",
        ),
    ),
    *_rows(
        "Other readings",
        ("an answer that keeps a variable", "out(X, Y) :- p(X), not r(X, Y)."),
        ("a constraint", "out(X) :- p(X). :- p(X), q(X)."),
        ("alternatives", "mid(X) | out(X) :- p(X). :- mid(X).", "several models", "several models"),
        (
            "a circle through `not`",
            "mid(X) :- p(X), not out(X). out(X) :- p(X), not mid(X). :- mid(X).",
            "circle",
            "several models",
        ),
        ("`reading now`", "reading now. out(X) :- window(2) some p(X).", "reading now"),
    ),
    *_rows(
        "Dense time",
        ("atom", "out(X) :- p(X)."),
        ("pin", "out(X)@T+1/2 :- p(X)@T."),
        ("two time variables", "out(X)@U :- p(X)@T, q(X)@U, T < U, U < T + 2.", "", "several times"),
        ("`once`", "out(X) :- once(0,3/2] p(X)."),
        ("`historically`", "out(X) :- historically[0,1/2] h(X)."),
        ("`eventually`", "out(X) :- p(X), eventually(0,2) q(X)."),
        ("`always`", "out(X) :- always[0,1) h(X)."),
        ("`since`", "out(X) :- h(X) since(0,3] p(X)."),
        ("`until`", "out(X) :- h(X) until(0,3] q(X)."),
        ("`until` after a fact of the same kind", "out(X) :- p(X), (not p(X)) until[0,2] q(X)."),
        ("`not`", "out(X) :- h(X), not p(X)."),
        ("`not` over an operator", "out(X) :- p(X), not once[0,1] z."),
        ("`or`", "out(X) :- p(X) or q(X)."),
        ("`always` in a head", "always(0,1) out(X) :- q(X)."),
        ("`some` in a window", "out(X) :- window(1) some p(X)."),
        ("`all` in a window", "out(X) :- window(1) all h(X)."),
        timeline="dense",
    ),
)


def gap(construct: Construct, engine: str) -> str:
    """Why an engine does not take a construct; nothing where it does."""
    if engine == "hypothetical" and construct.hypothetical:
        return NO_PATTERNS[construct.hypothetical]
    if engine == "explained" and construct.explained and not by_evidence(construct):
        return NOT_EXPLAINED[construct.explained]
    return ""


def by_evidence(construct: Construct) -> bool:
    """Whether answers are explained by their evidence in place of a proof: found by premise patterns, or what was
    counted."""
    return bool(construct.explained) and (not construct.hypothetical or construct.explained == "aggregate")
