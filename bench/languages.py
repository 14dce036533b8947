"""Queries of other languages beside who else answers them: CQL beside DuckDB, RDF streams beside pyoxigraph, formulas
beside MonPoly where it is installed.

The peers evaluate the whole query anew at each step, over what the windows show then; a few steps of theirs are
measured and taken for all. What is found at the first of these is compared. The same query written by hand shows what
the translation costs.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow

import presage
from bench.common import Row, missing, peer, timed

# How wide a window is, and in how many steps the stream comes: what is evaluated anew costs the window, at each step.
SHAPES = ((10, 100), (100, 1000))


def join(back: int) -> tuple[str, str]:
    """The query, and the same by hand."""
    return (
        f"""
CREATE STREAM s (a INT, b INT);
CREATE STREAM r (b INT, c INT);
Select s.a, r.c From s [Range {back}], r [Range {back}] Where s.b = r.b;
""",
        f"""
timeline discrete.
input s(a: int, b: int).
input r(b: int, c: int).
answer(A, C) :- window({back}) some s(A, B), window({back}) some r(B, C).
query answer(A, C).
""",
    )


def count(back: int) -> tuple[str, str]:
    return (
        f"""
CREATE STREAM s (a INT, b INT);
Select a, Count(*) From s [Range {back}] Group By a;
""",
        f"""
timeline discrete.
input s(a: int, b: int).
answer(A, N) :- N = count {{ B, T : window({back}) s(A, B)@T }}.
query answer(A, N).
""",
    )


ROADS = """
PREFIX : <http://city.example/>
REGISTER RSTREAM :busy AS
SELECT ?o1 ?o2 ?v1 ?v2
FROM NAMED WINDOW :w1 ON :north [RANGE PT3S STEP PT1S]
FROM NAMED WINDOW :w2 ON :south [RANGE PT3S STEP PT1S]
WHERE {
  WINDOW :w1 { ?o1 :property ?p1 ; :value ?v1 }
  WINDOW :w2 { ?o2 :property ?p2 ; :value ?v2 }
  ?p1 :of ?road . ?p2 :of ?road .
  FILTER(?v1 > 90 && ?v2 > 90)
}
"""
ROADS_AS_GRAPHS = """
PREFIX : <http://city.example/>
SELECT DISTINCT ?o1 ?o2 ?v1 ?v2 WHERE {
  GRAPH :w1 { ?o1 :property ?p1 ; :value ?v1 }
  GRAPH :w2 { ?o2 :property ?p2 ; :value ?v2 }
  ?p1 :of ?road . ?p2 :of ?road .
  FILTER(?v1 > 90 && ?v2 > 90)
}
"""
# The shapes of joins that MonPoly's authors measure with, beside a policy with a negation and one with SINCE.
FORMULAS = {
    "star": "((ONCE[0,10) A(a,b)) AND B(a,c)) AND EVENTUALLY[0,10) C(a,d)",
    "linear": "((ONCE[0,10) A(a,b)) AND B(b,c)) AND EVENTUALLY[0,10) C(c,d)",
    "triangle": "((ONCE[0,10) A(a,b)) AND B(b,c)) AND EVENTUALLY[0,10) C(c,a)",
    "not once": "B(a,b) AND 500 < b AND NOT ONCE[2,21) (EXISTS c. A(a,c))",
    "since": "C(a,b) AND ((NOT A(a,b)) SINCE[0,10) B(a,b))",
}
Columns = dict[str, np.ndarray[Any, Any]]


def measure(
    tuples: int = 1_000_000, counted: int = 1_000_000, triples: int = 100_000, events: int = 50_000
) -> Iterator[Row]:
    yield from _formulas(events)
    duckdb, oxigraph = peer("duckdb"), peer("pyoxigraph")
    if peer("sqlglot") is None:
        yield missing("CQL", "", "sqlglot")
        return
    for back, steps in SHAPES:
        each = tuples // 2 // steps
        joined = [
            {"s": _pairs(step, each, ("a", "b"), each * 200), "r": _pairs(step + steps, each, ("b", "c"), each * 200)}
            for step in range(steps)
        ]
        work = f"CQL, join of windows of {back}, {tuples:,} tuples in {steps:,} steps"
        sql = "select distinct s.a, r.c from s, r where s.b = r.b"
        yield from _cql(work, *join(back), joined, sql, back, duckdb)
        each = counted // steps
        grouped = [{"s": _pairs(step, each, ("a", "b"), each)} for step in range(steps)]
        work = f"CQL, count by group in a window of {back}, {counted:,} tuples in {steps:,} steps"
        yield from _cql(work, *count(back), grouped, "select a, count(*) from s group by a", back, duckdb)
    if peer("rdflib") is None or oxigraph is None:
        yield missing("RDF streams", "", "rdflib or pyoxigraph")
        return
    yield from _roads(triples, oxigraph)


def _pairs(seed: int, size: int, names: tuple[str, str], of: int) -> Columns:
    chance = np.random.default_rng(seed)
    return {name: chance.integers(0, of, size) for name in names}


def _run(text: str, name: str, steps: list[dict[str, Any]], static: dict[str, Any] | None = None) -> list[int]:
    reasoner = presage.Reasoner(presage.parse(text, name), emit="confirmed", static=static)
    return [len(reasoner.push(dict(tables), now=now)) for now, tables in enumerate(steps)]


def _tables(steps: list[dict[str, Columns]]) -> list[dict[str, Any]]:
    return [
        {
            name: pyarrow.table({**columns, "time": np.full(len(next(iter(columns.values()))), now)})
            for name, columns in tables.items()
        }
        for now, tables in enumerate(steps)
    ]


def _cql(
    work: str, text: str, by_hand: str, steps: list[dict[str, Columns]], sql: str, back: int, duckdb: Any
) -> Iterator[Row]:
    tables = _tables(steps)
    _run(text, "query.cql", tables[:3])  # kernels are compiled once
    _, ours = timed(lambda: _run(text, "query.cql", tables))
    _, hand = timed(lambda: _run(by_hand, "query.psg", tables))
    size = sum(len(next(iter(columns.values()))) for step in steps for columns in step.values())
    yield Row(work, f"{size / ours:,.0f}/s", f"{size / hand:,.0f}/s by hand", hand / ours)
    if duckdb is None:
        yield missing(work, f"{size / ours:,.0f}/s", "duckdb")
        return
    looked = range(back, len(steps), len(steps) // 5)

    def evaluated() -> list[int]:
        base = duckdb.connect()
        base.execute("set threads to 1")
        found = []
        for now in looked:
            for name in steps[0]:
                seen = pyarrow.concat_tables([each[name] for each in tables[max(0, now - back) : now + 1]])
                base.register(name, seen.drop(["time"]))
            found.append(len(base.execute(sql).fetchall()))
        return found

    counts, seconds = timed(evaluated)
    theirs = seconds / len(looked) * len(steps)
    _check(text, tables, looked, counts)
    yield Row(work, f"{size / ours:,.0f}/s", f"{size / theirs:,.0f}/s DuckDB, each step anew", theirs / ours)


def _check(text: str, tables: list[dict[str, Any]], looked: range, counts: list[int]) -> None:
    """What holds at the first of the peer's steps is as much as it found."""
    reasoner = presage.Reasoner(presage.parse(text, "query.cql"), emit="confirmed")
    told = [reasoner.push(dict(tables[now]), now=now) for now in range(looked[0] + 1)]
    assert _holding(told, looked[0]) == counts[0], (_holding(told, looked[0]), counts[0])


def _holding(told: Iterable[Iterable[Any]], at: int) -> int:
    """How many answers hold at the last of some steps."""
    there = set()
    for answer in (each for answers in told for each in answers):
        last = answer.time if answer.time is not None else answer.end
        if last is None or last >= at:
            there.add(answer.arguments)
    return len(there)


def _roads(triples: int, oxigraph: Any) -> Iterator[Row]:
    """Observations of two streams, joined by the roads their properties are of; so many triples each second."""
    seconds, back = 12, 3
    base = "http://city.example/"
    rows = triples // 4
    roads = 20_000
    steps, graphs = [], []
    for now in range(seconds):
        chance = np.random.default_rng(now)
        both = []
        for stream, name in (("north", "a"), ("south", "b")):
            sensor, value = chance.integers(0, roads, rows), chance.integers(0, 100, rows)
            observed = [f"<{base}{name}{now}_{index}>" for index in range(rows)]
            properties = [f"<{base}{name}{index}>" for index in sensor]
            both.append((stream, observed, properties, value))
        subjects = [each for _, observed, _, _ in both for each in (*observed, *observed)]
        streams = [f"<{base}{stream}>" for stream, observed, _, _ in both for _ in range(2 * rows)]
        names = [each for _ in both for each in (*[f"<{base}property>"] * rows, *[f"<{base}value>"] * rows)]
        objects = [str(each) for _, _, properties, value in both for each in (*properties, *value)]
        graphs.append((subjects, names, objects, streams))
        facts = [
            ("quad", (s, p, int(o) if p.endswith("value>") else o, g), now)
            for s, p, o, g in zip(subjects, names, objects, streams, strict=True)
        ]
        steps.append(facts)
    static = [
        (f"<{base}{name}{index}>", f"<{base}of>", f"<{base}road{index}>") for index in range(roads) for name in "ab"
    ]

    def ours(steps: list[Any] = steps) -> list[Any]:
        reasoner = presage.Reasoner(presage.parse(ROADS, "query.rq"), emit="confirmed", static={"triple": static})
        told = [reasoner.push(facts, now=now) for now, facts in enumerate(steps)]
        assert all(len(answers) for answers in told[back:])
        return told

    ours([facts[:10] for facts in steps[:2]])  # kernels are compiled once
    found, own = timed(ours)
    node = oxigraph.NamedNode

    def quads(step: int) -> Iterator[Any]:
        for s, p, o, g in zip(*graphs[step], strict=True):
            value = node(o[1:-1]) if o.startswith("<") else oxigraph.Literal(int(o))
            yield oxigraph.Quad(
                node(s[1:-1]), node(p[1:-1]), value, node(base + ("w1" if g.endswith("north>") else "w2"))
            )

    def store_of(steps: range) -> Any:
        store = oxigraph.Store()
        store.bulk_extend(oxigraph.Quad(node(s[1:-1]), node(p[1:-1]), node(o[1:-1])) for s, p, o in static)
        for step in steps:
            store.bulk_extend(quads(step))
        return store

    def asked(store: Any) -> int:
        return sum(1 for _ in store.query(ROADS_AS_GRAPHS))

    last = seconds - 1
    there = _holding(found, last)
    counted, anew = timed(lambda: asked(store_of(range(last - back, seconds))))
    assert counted == there, (counted, there)
    kept = store_of(range(last - back - 1, last))

    def moved() -> int:
        for quad in quads(last - back - 1):
            kept.remove(quad)
        kept.bulk_extend(quads(last))
        return asked(kept)

    counted, on = timed(moved)
    assert counted == there, (counted, there)
    work, rate = f"RDF streams, {triples:,} triples/s", triples * seconds / own
    for seconds_each, note in ((anew, "each step anew"), (on, "a store that is kept, and asked at each step")):
        other = triples / seconds_each
        yield Row(work, f"{rate:,.0f}/s", f"{other:,.0f}/s pyoxigraph, {note}", rate / other)


def _formulas(events: int) -> Iterator[Row]:
    """A log of so many events, a thousand at each time point, as MonPoly's generator makes them."""
    rate = min(1000, events)
    chance = random.Random(1)
    steps = [
        [(chance.choice("ABC"), (chance.randrange(10_000), chance.randrange(10_000)), now) for _ in range(rate)]
        for now in range(events // rate)
    ]
    monitor = shutil.which("monpoly")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "f.sig").write_text("A(int,int)\nB(int,int)\nC(int,int)\n")
        lines = (
            f"@{now} " + " ".join(f"{predicate}({x},{y})" for predicate, (x, y), _ in facts)
            for now, facts in enumerate(steps)
        )
        (folder / "f.log").write_text("\n".join(lines) + "\n")
        for shape, formula in FORMULAS.items():
            (folder / "f.mfotl").write_text(formula)
            program = presage.load(folder / "f.mfotl")

            def ours(program: Any = program) -> int:
                reasoner = presage.Reasoner(program)
                found = sum(len(reasoner.push(facts, now=now)) for now, facts in enumerate(steps))
                return found + len(reasoner.push([], now=len(steps) + 100))

            _, own = timed(ours)
            work, speed = f"MonPoly's formulas, {shape}, {events:,} events", f"{events / own:,.0f}/s"
            if monitor is None:
                yield missing(work, speed, "monpoly")
                continue
            words = [monitor, "-sig", "f.sig", "-formula", "f.mfotl", "-log", "f.log"]
            _, theirs = timed(partial(subprocess.run, words, cwd=folder, capture_output=True, check=True))
            yield Row(work, speed, f"{events / theirs:,.0f}/s MonPoly", theirs / own)
