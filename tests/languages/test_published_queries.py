"""The queries of CityBench and SRBench, shortened, in each dialect they are published in, against pyoxigraph.

They keep what each is about (github.com/CityBench/Benchmark, cqels_query and csparql_query, Q1 to Q12;
github.com/jpcik/srbench, queries/srbench, q1 to q7): which windows and graphs meet, how they are joined, filtered and
counted. Words and lengths are ours.
"""

from __future__ import annotations

import random
from typing import Any

import pyoxigraph as ox
import pytest

import presage
from presage.errors import PresageError
from tests.languages.test_rsp import PREFIX, ROUNDS, Facts, Query, Triple, Window, expected, iri, told

NEAR = "((?lat2 - ?lat1) * (?lat2 - ?lat1) + (?lon2 - ?lon1) * (?lon2 - ?lon1)) < 2"
FIRST, SECOND = "W1 { ?o1 :of ?p1 ; :value ?v1 }", "W2 { ?o2 :of ?p2 ; :value ?v2 }"
PLACED = "?e :at ?n . ?n :lat ?lat1 ; :lon ?lon1 ."
# What is asked for, and where; `W1` and `W2` are windows, `G` is a static graph.
CITY = {
    "Q1: two roads": ("?o1 ?o2 ?v1 ?v2", f"?p1 a :Congestion . ?p2 a :Congestion . {FIRST} {SECOND}"),
    "Q2: a road and the weather": (
        "?o1 ?o2 ?o3 ?v3",
        f"?p1 a :Congestion . {FIRST} W2 {{ ?o2 :of :p2 ; :value ?v2 . ?o3 :of :p1 ; :value ?v3 }}",
    ),
    "Q3: their average": ("?o1 ?o2 ?mean", f"{FIRST} {SECOND} BIND((?v1 + ?v2) / 2 AS ?mean) FILTER(?mean > 1)"),
    "Q4: events near somebody": ("?e ?o2", f"{PLACED} W1 {{ ?o2 :lat ?lat2 ; :lon ?lon2 }} FILTER({NEAR})"),
    "Q5: congestion near an event": (
        "?e ?o2 ?v1",
        f"G {{ {PLACED} }} W1 {{ ?o2 :lat ?lat2 ; :lon ?lon2 }} W2 {{ ?o1 :value ?v1 }} FILTER({NEAR} && ?v1 > 1)",
    ),
    "Q6: parking near somebody": (
        "?p1 ?o2 ?v1",
        f"?p1 :lat ?lat1 ; :lon ?lon1 . {FIRST} W2 {{ ?o2 :lat ?lat2 ; :lon ?lon2 }} FILTER({NEAR})",
    ),
    "Q7: a full car park": ("?o1 ?o2 ?v1 ?v2", f"?p1 a :Vacancy . {FIRST} {SECOND} FILTER(?v1 < 1)"),
    "Q8: parking at the library": (
        "?o1 ?o2 ?v1 ?v2",
        f"G {{ ?e :at ?n ; :value ?title }} {FIRST} {SECOND} FILTER(?v1 > 0 || ?v2 > 0)",
    ),
    "Q9: and where": ("?e ?n ?o1 ?v1", "G { ?e :at ?n ; :value ?title } W1 { ?o1 a ?kind ; :value ?v1 }"),
    "Q10: two places of measurement": ("?o1 ?o2", f"?p1 :lat ?lat1 . ?p2 :lat ?lat2 . {FIRST} {SECOND}"),
    "Q11: something was seen": (None, "W1 { ?o1 a ?kind ; :value ?v1 } FILTER(?v1 >= 2)"),
    "Q12: how often": (
        "(COUNT(?o1) AS ?n)",
        "?p1 a :Congestion . W1 { ?o1 :of ?p1 ; :value ?v1 ; :by ?by } FILTER(?v1 >= 0)",
        "GROUP BY ?by HAVING (COUNT(?o1) > 1)",
    ),
}
BY = "W1 { ?o1 :by ?by OPTIONAL { ?o1 :of ?p } }"
# CityBench groups by what it does not select; and a group of which nothing is counted is a group.
GROUPS = {
    "of groups": (
        "(SUM(?n) AS ?s)",
        "{ SELECT (COUNT(?o1) AS ?n) WHERE { W1 { ?o1 :of ?p ; :by ?by } } GROUP BY ?by }",
    ),
    "twice": ("(COUNT(?o1) AS ?n) (MAX(?v1) AS ?m)", "W1 { ?o1 :by ?by ; :value ?v1 }", "GROUP BY ?by"),
    "one of two": ("?by (SUM(?v1) AS ?m)", "W1 { ?o1 :by ?by ; :value ?v1 ; :of ?p }", "GROUP BY ?by ?p"),
    "of nothing": ("?by (COUNT(?p) AS ?n)", BY, "GROUP BY ?by"),
    "unseen, of nothing": ("(SUM(?n) AS ?s)", f"{{ SELECT (COUNT(?p) AS ?n) WHERE {{ {BY} }} GROUP BY ?by }}"),
}
HOT = "?obs :of :p1 ; :by ?sensor ; :value ?v"
# The window, what is asked for, and where.
WEATHER = {
    "q1": (10, 10, "?sensor ?obs", f"{HOT} FILTER(?v > 1)"),
    "q2": (1, 1, "?sensor ?obs", f"{HOT} FILTER(?v > 1)"),
    "q3": (4, 4, "?sensor ?obs ?v", f"{HOT} FILTER(?v > 0) FILTER(?v < 3)"),
    "q4": (4, 4, "(AVG(?v) AS ?mean)", f"{HOT} FILTER(?v > 1)"),
    "q5": (5, 1, "?sensor ?obs", f"{HOT} FILTER(?v > 1)"),
    "q6": (5, 5, "?sensor ?obs ?o2", f"{{ {HOT} }} {{ ?o2 :by ?sensor ; :value ?v2 }} FILTER(?v - ?v2 > 0.5)"),
    "q7": (5, 5, "?sensor ?obs", f"{{ {HOT} }} {{ ?o2 :by :s1 ; :value ?v2 }} FILTER(?v > ?v2)"),
}


def _about(dice: random.Random) -> list[Triple]:
    """What is said of one observation; now and then something is missing."""
    seen = iri(dice.choice("abcd"))
    said: list[tuple[str, Any]] = [
        ("of", iri(dice.choice(("p1", "p2")))), ("value", ox.Literal(dice.randint(0, 3))),
        ("by", iri(dice.choice(("s1", "s2")))), ("kind", None),
        ("lat", ox.Literal(dice.randint(0, 2))), ("lon", ox.Literal(dice.randint(0, 2))),
    ]  # fmt: skip
    kind = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    triples = [(seen, kind if value is None else iri(name), value or iri("Seen")) for name, value in said]
    return [each for each in triples if dice.random() < 0.9]


def _facts(dice: random.Random, until: int) -> Facts:
    kind = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    stream = set()
    for _ in range(6):
        now, source = dice.randint(0, until), dice.choice([None, "s1", "s2"])
        stream |= {(now, source, each) for each in _about(dice)}
    static: list[tuple[str | None, Triple]] = [
        (None, (iri("p1"), kind, iri("Congestion"))), (None, (iri("p2"), kind, iri("Vacancy"))),
        *((None, (iri("p1"), iri(axis), ox.Literal(0))) for axis in ("lat", "lon")),
        *((None, (iri("n"), iri(axis), ox.Literal(1))) for axis in ("lat", "lon")),
        *((graph, (iri("e"), iri("at"), iri("n"))) for graph in (None, "g1")),
        ("g1", (iri("e"), iri("value"), ox.Literal("concert"))), ("g2", (iri("n"), iri("lat"), ox.Literal(2))),
    ]  # fmt: skip
    return Facts(sorted(stream, key=str), static)


def _of_city(dialect: str, asked: str | None, where: str, behind: str = "") -> Query:
    windows = [
        each for each in (Window(f"w{n}", f"s{n}", "", back=n + 1) for n in (1, 2)) if f"W{each.name[1]}" in where
    ]
    select = "ASK" if asked is None else f"SELECT {asked}"
    graphs = where.replace("G {", "GRAPH :g1 {")
    for each in windows:
        graphs = graphs.replace(f"W{each.name[1]} {{", f"GRAPH :{each.name} {{" if dialect == "CQELS" else "{")
    sparql = f"{PREFIX}{select} WHERE {{ {graphs} }} {behind}"
    if dialect == "CQELS":
        text = where.replace("G {", "GRAPH :g1 {")
        for each in windows:
            text = text.replace(f"W{each.name[1]} {{", f"STREAM :{each.stream} [RANGE {each.back}s] {{")
        named = "FROM NAMED :g1 " if "G {" in where else ""
        return Query(f"{PREFIX}{select} {named}WHERE {{ {text} }} {behind}", sparql, dialect, windows=windows)
    streams = " ".join(f"FROM STREAM :{each.stream} [RANGE {each.back}s STEP 1s]" for each in windows)
    named = " FROM NAMED :g1" if "G {" in where else ""
    text = f"{PREFIX}{select} {streams} FROM :g1{named} WHERE {{ {graphs} }} {behind}"
    return Query(text, sparql, dialect, windows=windows, froms=["g1"])


def _agree(query: Query, until: int = 6) -> None:
    for seed in range(30):
        facts = _facts(random.Random(seed), until)
        wanted = expected(query, facts, until)
        if any(wanted.values()):
            break
    assert any(wanted.values())
    assert told(query, facts, until) == wanted, query.text


DIALECTS = [(name, ("CQELS", "C-SPARQL")[(place + which) % 2]) for which in range(2) for place, name in enumerate(CITY)]


# In turns; `make fuzz` asks for each in both.
@pytest.mark.parametrize(("name", "dialect"), DIALECTS if ROUNDS > 1 else DIALECTS[: len(CITY)])
def test_citybench(name: str, dialect: str) -> None:
    _agree(_of_city(dialect, *CITY[name]))


@pytest.mark.parametrize("name", GROUPS)
def test_groups(name: str) -> None:
    for seed in range(3):
        query, facts = _of_city("CQELS", *GROUPS[name]), _facts(random.Random(seed), 6)
        assert told(query, facts, 6) == expected(query, facts, 6), seed


@pytest.mark.parametrize("name", WEATHER)
def test_srbench(name: str) -> None:
    back, step, asked, where = WEATHER[name]
    text = f"{PREFIX}SELECT {asked} FROM NAMED STREAM :s1 [NOW - {back} S SLIDE {step} S] WHERE {{ {where} }}"
    window = Window("w1", "s1", "", back=back, step=step)
    _agree(Query(text, f"{PREFIX}SELECT {asked} WHERE {{ {where} }}", "C-SPARQL", windows=[window]), until=11)


@pytest.mark.parametrize(
    ("window", "place", "said"),
    [
        ("FROM STREAM :s [RANGE 3000ms STEP 1500ms]", (1, 66), "the step is not a whole number of seconds"),
        ("FROM NAMED STREAM :s [NOW - 100 MS SLIDE 100 MS]", (1, 60), "the range is not a whole number of seconds"),
    ],
)
def test_what_is_refused_is_named_with_its_place(window: str, place: tuple[int, int], said: str) -> None:
    """CityBench has two variants with steps of 1500 ms (`csparql_query/*_parking_1`), SRBench seven queries with
    windows of 100 ms (`queries/ssn`)."""
    with pytest.raises(PresageError) as refused:
        presage.parse(f"PREFIX : <http://e/> SELECT ?x {window} WHERE {{ ?x :p ?y }}", "q.rq")
    assert f"q.rq:{place[0]}:{place[1]}: " in str(refused.value) and said in str(refused.value)
