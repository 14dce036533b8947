"""Queries over RDF streams against pyoxigraph: its own SPARQL engine over the contents of the windows.

Queries and streams are random; what a window shows, and when a query is evaluated, is worked out here.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import presage

# `make fuzz` asks for more.
ROUNDS = 20 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 1
E = "http://e/"
XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIX = f"PREFIX : <{E}>\n"
Triple = tuple[Any, Any, Any]
Timed = tuple[int, str | None, Triple]  # time, stream (None: all), triple


def iri(name: str) -> ox.NamedNode:
    return ox.NamedNode(E + name)


def constant(term: Any) -> Any:
    """What a term is in answers, by the contract."""
    if term is None:
        return "undef"
    if isinstance(term, ox.Literal):
        kind = term.datatype.value.rpartition("#")[2]
        if kind in ("integer", "decimal", "double"):
            return Fraction(term.value)
        return term.value if kind == "string" else str(term)
    return str(term)


@dataclass(frozen=True)
class Window:
    name: str
    stream: str
    text: str
    back: int | None = None
    rows: int | None = None
    step: int = 1

    def shows(self, stream: list[Timed], now: int) -> list[Triple]:
        pivot = now // self.step * self.step
        order = sorted(
            (time, source is not None, [_key(each) for each in triple], triple)
            for time, source, triple in stream
            if source in (None, self.stream) and time <= pivot
        )
        # Facts of one time by predicate, `quad` before `triple`, then arguments.
        order.sort(key=lambda each: (each[0], not each[1], each[2]))
        if self.rows is not None:
            order = order[-self.rows :]
        return [each[3] for each in order if self.back is None or self.rows or each[0] >= pivot - self.back]


def _key(term: Any) -> tuple[int, Any]:
    value = constant(term)
    return (1, value) if isinstance(value, str) else (0, value)


@dataclass
class Query:
    """The same query for Presage, and as SPARQL with windows as graphs."""

    text: str
    sparql: str
    dialect: str
    mode: str = "RSTREAM"
    windows: list[Window] = field(default_factory=list)
    froms: list[str] = field(default_factory=list)


@dataclass
class Facts:
    stream: list[Timed]
    static: list[tuple[str | None, Triple]]


def solutions(query: Query, facts: Facts, now: int) -> set[Any]:
    store = ox.Store()
    for graph, triple in facts.static:
        if graph is None or graph in query.froms:
            store.add(ox.Quad(*triple))
        for name in ("g1", "g2"):
            if graph in (None, name):
                store.add(ox.Quad(*triple, iri(name)))
    for window in query.windows:
        for triple in window.shows(facts.stream, now):
            store.add(ox.Quad(*triple) if query.dialect == "C-SPARQL" else ox.Quad(*triple, iri(window.name)))
    found = store.query(query.sparql)
    if isinstance(found, ox.QueryBoolean):
        return {()} if found else set()
    if isinstance(found, ox.QueryTriples):
        return {tuple(constant(each) for each in triple) for triple in found}
    return {tuple(constant(row[name]) for name in found.variables) for row in found}


def expected(query: Query, facts: Facts, until: int) -> dict[int, set[Any]]:
    found: dict[int, set[Any]] = {now: set() for now in range(until + 1)}
    before: set[Any] = set()
    for now in range(until + 1):
        if query.dialect == "CQELS":
            streams = {each.stream for each in query.windows}
            due = any(time == now and (source is None or source in streams) for time, source, _ in facts.stream)
        else:
            due = any(now % each.step == 0 for each in query.windows)
        if not due:
            continue
        these = solutions(query, facts, now)
        found[now] = {"RSTREAM": these, "ISTREAM": these - before, "DSTREAM": before - these}[query.mode]
        before = these
    return found


def exact(value: Any) -> Any:
    return Fraction(value) if isinstance(value, (int, Fraction)) else value


def told(query: Query, facts: Facts, until: int) -> dict[int, set[Any]]:
    program = presage.parse(query.text, "query.rq")
    plain = [constant(each) for _, _, triple in facts.stream for each in triple]
    assert all(isinstance(each, (str, Fraction)) for each in plain)
    static: dict[str, list[Any]] = {"triple": [], "quad": []}
    for graph, triple in facts.static:
        args = tuple(constant(each) for each in triple)
        static["triple" if graph is None else "quad"].append(args if graph is None else (*args, f"<{E}{graph}>"))
    reasoner = presage.Reasoner(program, emit="confirmed", static=static)
    found: dict[int, set[Any]] = {now: set() for now in range(until + 1)}
    for now in range(until + 1):
        pushed: list[Any] = []
        for time, source, triple in facts.stream:
            if time == now:
                args = tuple(constant(each) for each in triple)
                pushed.append(("triple", args, now) if source is None else ("quad", (*args, f"<{E}{source}>"), now))
        for answer in reasoner.push(pushed, now=now):
            low, high = (answer.time, answer.time) if answer.time is not None else (answer.start, answer.end)
            for time in range(int(low), min(until, int(high) if high is not None else until) + 1):
                found[time].add(tuple(exact(value) for value in answer.arguments))
    return found


def a_triple(dice: random.Random) -> Triple:
    subject, predicate = iri(dice.choice("abc")), iri(dice.choice("pqr"))
    number = dice.randint(0, 3)
    return subject, predicate, dice.choice([iri(dice.choice("abc")), ox.Literal(number), ox.Literal(dice.choice("xy"))])


def some_facts(dice: random.Random, until: int) -> Facts:
    stream = {(dice.randint(0, until), dice.choice([None, "s1", "s2", "s1"]), a_triple(dice)) for _ in range(until * 2)}
    static = {(dice.choice([None, "g1", "g2"]), a_triple(dice)) for _ in range(5)}
    return Facts(sorted(stream, key=str), sorted(static, key=str))


class Draw:
    """A random query. Blocks about a window are written in the language's own way, and as graphs for the judge."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.dialect = dice.choice(["C-SPARQL", "CQELS", "RSP-QL"])
        self.windows: list[Window] = []
        for index in range(dice.choice([1, 1, 2])):
            n, m = dice.randint(1, 4), dice.randint(1, 4)
            stream = dice.choice(["s1", "s2"])
            step = "SLIDE" if self.dialect == "CQELS" else "STEP"
            self.windows.append(
                dice.choice(
                    [
                        Window(f"w{index}", stream, f"[RANGE {n}s {step} {m}s]", back=n, step=m),
                        Window(
                            f"w{index}",
                            stream,
                            f"[RANGE PT{n}S]" if self.dialect == "RSP-QL" else f"[RANGE {n}s]",
                            back=n,
                        ),
                        Window(f"w{index}", stream, f"[RANGE {n}s TUMBLING]", back=n, step=n),
                        Window(f"w{index}", stream, f"[RANGE TRIPLES {n}]", rows=n),
                    ]
                )
            )

    def term(self, names: str = "xyz") -> str:
        return self.dice.choice([f"?{self.dice.choice(names)}"] * 5 + [":a", ":b"])

    def object(self) -> str:
        return self.dice.choice([self.term()] * 6 + ["1", '"x"'])

    def property(self) -> str:
        roll = self.dice.random()
        if roll < 0.75:
            return self.dice.choice([":p", ":q", ":r"])
        return self.dice.choice([":p/:q", "^:p", ":p+", ":q|:r", "(:p/^:q)+", "^(:p/:r)", "?y", ":p*", ":q?"])

    def triples(self, most: int = 2) -> str:
        found = []
        for _ in range(self.dice.randint(1, most)):
            subject, path, other = self.term(), self.property(), self.object()
            if path.endswith(
                ("*", "?")
            ):  # the judge has no such path from what is in no graph to itself, as SPARQL has
                subject, other = f"?{self.dice.choice('xyz')}", f"?{self.dice.choice('xyz')}"
            found.append(f"{subject} {path} {other} .")
        return " ".join(found)

    def condition(self, depth: int = 0) -> str:
        name, other, roll = self.dice.choice("xyz"), self.dice.choice("xyz"), self.dice.random()
        if depth < 2 and roll < 0.3:
            return f"({self.condition(depth + 1)} {self.dice.choice(['&&', '||'])} {self.condition(depth + 1)})"
        if roll < 0.4:
            return f"!({self.condition(depth + 1)})"
        sign = self.dice.choice(["=", "!=", "<", ">", "<=", ">="])
        return self.dice.choice(
            [
                f"?{name} {sign} {self.dice.randint(0, 3)}",
                f"?{name} {sign} ?{other}",
                f"BOUND(?{name})",
                f'?{name} {sign} "x"',
                f'?{name} IN (1, :a, "y")',
                f"isIRI(?{name})",
                f"?{name} + 1 {sign} ?{other}",
                f"isLITERAL(?{name})",
                f"isNUMERIC(?{name})",
                f"?{name} NOT IN (2, :b)",
                f"EXISTS {{ {self.triples(1)} }}",
                f"NOT EXISTS {{ {self.triples(1)} }}",
            ]
        )

    def group(self, depth: int = 0) -> str:
        parts = [self.triples()]
        for _ in range(self.dice.choice([0, 1, 1, 2])):
            roll = self.dice.random()
            inner = self.triples() if depth else self.block(depth + 1)
            if roll < 0.25:
                parts.append(f"OPTIONAL {{ {inner} {self.filter() if self.dice.random() < 0.3 else ''} }}")
            elif roll < 0.4:
                parts.append(f"{{ {inner} }} UNION {{ {self.triples()} }}")
            elif roll < 0.5:
                parts.append(f"MINUS {{ {inner} }}")
            elif roll < 0.6:
                parts.append(f"BIND({self.dice.choice(['?x + 1', '?y * 2', '1', '?z'])} AS ?n{depth}{len(parts)})")
            elif roll < 0.65:
                parts.append("VALUES (?x ?y) { (:a 1) (:b UNDEF) }")
            elif roll < 0.7 and depth == 0:
                parts.append(f"{{ SELECT {self.dice.choice(['', 'DISTINCT '])}?x WHERE {{ {self.triples()} }} }}")
            else:
                parts.append(self.filter())
        return " ".join(parts)

    def filter(self) -> str:
        return f"FILTER({self.condition()})"

    def block(self, depth: int) -> str:
        return self.group(depth)

    def window(self, inner: str) -> str:
        """A block about one of the windows; `@w0@` is put in both languages later."""
        return f"@{self.dice.randrange(len(self.windows))}@ {{ {inner} }}"

    def body(self) -> str:
        if self.dialect == "C-SPARQL":
            return self.group()
        parts = [self.window(self.group(1)) for _ in self.windows]
        if self.dice.random() < 0.5:
            parts.append(
                self.dice.choice(
                    [
                        f"OPTIONAL {{ {self.triples()} }}",
                        self.triples(1),
                        f"GRAPH :g1 {{ {self.triples(1)} }}",
                        f"OPTIONAL {{ {self.window(self.triples(1))} }}",
                        self.filter(),
                    ]
                )
            )
        return " ".join(parts)

    def head(self, body: str) -> str:
        roll = self.dice.random()
        if roll < 0.15:
            return f"CONSTRUCT {{ ?x :made ?y . :c :also ?x }} @FROM@ WHERE {{ {body} }}"
        if roll < 0.4:
            keys = self.dice.choice([[], ["x"], ["y"], ["x", "z"]])
            made = [
                self.dice.choice(
                    ["COUNT(*)", "COUNT(?y)", "COUNT(DISTINCT ?x)", "MIN(?y)", "MAX(?z)", "SUM(?y)", "AVG(?z)"]
                )
                for _ in range(self.dice.choice([1, 2]))
            ]
            having = f" HAVING ({self.dice.choice(made)} > 1)" if self.dice.random() < 0.3 else ""
            shown = " ".join(
                [*(f"?{each}" for each in keys), *(f"({each} AS ?k{index})" for index, each in enumerate(made))]
            )
            grouped = " GROUP BY " + " ".join(f"?{each}" for each in keys) if keys else ""
            return f"SELECT {shown} @FROM@ WHERE {{ {body} }}{grouped}{having}"
        names = self.dice.sample("xyz", self.dice.randint(1, 3))
        shown = self.dice.choice(["", "DISTINCT "]) + " ".join(f"?{each}" for each in names)
        return f"SELECT {shown} @FROM@ WHERE {{ {body} }}"

    def query(self) -> Query:
        text = self.head(self.body())
        froms = self.dice.choice([[], ["g1"], ["g1", "g2"]])
        clauses = " ".join(f"FROM :{each}" for each in froms)
        mode, before = "RSTREAM", ""
        if self.dialect == "C-SPARQL":
            before = self.dice.choice(["", "REGISTER QUERY found AS "])
            clauses += " " + " ".join(f"FROM STREAM :{each.stream} {each.text}" for each in self.windows)
        elif self.dialect == "RSP-QL":
            mode = self.dice.choice(["RSTREAM", "ISTREAM", "DSTREAM"])
            before = f"REGISTER {mode} :out AS "
            clauses += " " + " ".join(
                f"FROM NAMED WINDOW :{each.name} ON :{each.stream} {each.text}" for each in self.windows
            )
        mine, judge, used = text.replace("@FROM@", clauses), text.replace("@FROM@", ""), set()
        for index, window in enumerate(self.windows):
            own = f"WINDOW :{window.name}" if self.dialect == "RSP-QL" else f"STREAM :{window.stream} {window.text}"
            if f"@{index}@" in mine:
                used.add(index)
            mine = mine.replace(f"@{index}@", own)
            judge = judge.replace(f"@{index}@", f"GRAPH :{window.name}")
        windows = [each for index, each in enumerate(self.windows) if self.dialect != "CQELS" or index in used]
        return Query(PREFIX + before + mine, PREFIX + judge, self.dialect, mode, windows, froms)


def agrees(seed: int) -> None:
    dice = random.Random(seed)
    query = Draw(dice).query()
    facts = some_facts(dice, 8)
    assert told(query, facts, 8) == expected(query, facts, 8), query.text


@pytest.mark.parametrize("seed", range(24 * ROUNDS))
def test_random_queries_agree_with_pyoxigraph(seed: int) -> None:
    agrees(seed)


EXPRESSIONS = [
    *("ABS(?x - 2)", "CEIL(?x / 2)", "FLOOR(?x / 2)", "ROUND(?x / 2)", "COALESCE(?x + 1, 0)", "COALESCE(?q, ?x)"),
    *('IF(?x > 1, "more", "less")', "IF(BOUND(?q), 1, 2)", "IF(?x > 1 && ?x < 3, ?x, ?s)", "STRLEN(STR(?x))"),
    *('UCASE(CONCAT(STR(?x), "a"))', "LCASE(STR(?s))", "SUBSTR(STR(?s), 3)", "SUBSTR(STR(?s), 2, 4)"),
]
WHERES = [
    *(f"SELECT ?s ?n WHERE {{ @0@ {{ ?s :p ?x }} BIND({each} AS ?n) }}" for each in EXPRESSIONS),
    'SELECT ?s WHERE { @0@ { ?s :p ?x } FILTER(REGEX(?x, "^x")) }',
    'SELECT ?s WHERE { @0@ { ?s ?y ?x } FILTER(REGEX(STR(?x), "/A$", "i")) }',
    "SELECT ?s ?x WHERE { @0@ { ?s :p ?x } } ORDER BY DESC(?x)",
    "SELECT ?s (COUNT(*) AS ?n) WHERE { @0@ { ?s ?p ?x } } GROUP BY ?s ORDER BY ?n",
    "SELECT ?s (SUM(?x) / COUNT(?x) AS ?n) WHERE { @0@ { ?s :p ?x } } GROUP BY ?s",
    "SELECT ?s (IF(COUNT(*) > 1, 1, 0) AS ?n) WHERE { @0@ { ?s :p ?x } } GROUP BY ?s",
    "SELECT ?s (COUNT(?q) AS ?n) (COUNT(DISTINCT ?q) AS ?m) WHERE { @0@ { ?s :p ?x } } GROUP BY ?s",
    "SELECT (COUNT(?q) AS ?n) (COUNT(*) AS ?m) WHERE { @0@ { ?s :p ?x } }",
    "SELECT (AVG(?x) AS ?n) (AVG(?x) AS ?m) WHERE { @0@ { ?s :q ?x } }",
    'SELECT ?s WHERE { @0@ { ?s ?y ?x } FILTER(STRSTARTS(?x, "x") || STRENDS(?x, "y") || CONTAINS(STR(?x), "e/a")) }',
    "SELECT ?s WHERE { @0@ { ?s :p ?x } FILTER(sameTerm(?x, :a) || isBLANK(?s) || sameTerm(?s, ?x)) }",
    f"SELECT ?s ?n WHERE {{ @0@ {{ ?s :p ?x }} BIND(<{XSD}integer>(?x) AS ?n) BIND(<{XSD}string>(?x) AS ?m) }}",
    "SELECT (SUM(DISTINCT ?x) AS ?n) (AVG(DISTINCT ?x) AS ?m) (SAMPLE(1) AS ?k)"
    " WHERE { @0@ { ?s :p ?x FILTER(?x >= 0) } }",
    "SELECT ?s ?x WHERE { @0@ { ?s :p ?x ; :q ?y, ?z . [ :r ?x ] :p ?y } }",
    "SELECT REDUCED ?s WHERE { @0@ { ?s a ?x . } } VALUES ?s { :a :b }",
    "SELECT ?s ?x WHERE { @0@ { ?s :p ?x } } VALUES (?s ?x) { (:a UNDEF) (UNDEF 1) }",
    # What is known while the query is read.
    'SELECT ?v WHERE { VALUES ?v { :a 1 "t" } @0@ { ?s :p ?x } FILTER(isNUMERIC(?v)) }',
    'SELECT ?v WHERE { VALUES ?v { :a 1 "t" } @0@ { ?s :p ?x } FILTER(?v + 1 = 2 || isLITERAL(?v) && ?s = :a) }',
    'SELECT ?v ?n WHERE { VALUES ?v { :a 1 "t" } @0@ { ?s :p ?x } BIND(-?v * ?x AS ?n) }',
    'SELECT ?v ?n WHERE { VALUES ?v { :a 1 "t" } @0@ { ?s :p ?x } BIND(+?x AS ?n) FILTER(!(+?v = 7)) }',
    "SELECT ?g ?s ?y WHERE { @0@ { ?s :p ?x } GRAPH ?g { ?s :q ?y } }",
]


@pytest.mark.parametrize("where", WHERES)
def test_functions_groups_and_graphs_agree_with_pyoxigraph(where: str) -> None:
    window = Window("w0", "s1", "[RANGE 3s STEP 2s]", back=3, step=2)
    clauses = f"FROM NAMED WINDOW :w0 ON :s1 {window.text} FROM NAMED :g1 FROM NAMED :g2 WHERE"
    text = "REGISTER RSTREAM :out AS " + where.replace("WHERE", clauses).replace("@0@", "WINDOW :w0")
    # The judge's store has the window among its graphs; `GRAPH ?g` is about the others.
    judge = where.replace("@0@", "GRAPH :w0").replace("?g {", "?g { FILTER(?g != :w0)")
    query = Query(PREFIX + text, PREFIX + judge, "RSP-QL", windows=[window])
    for seed in range(3):
        facts = some_facts(random.Random(seed), 8)
        assert told(query, facts, 8) == expected(query, facts, 8), seed


def test_a_star_is_what_patterns_bind_in_the_order_it_is_written() -> None:
    where = "WHERE { ?s :p ?x OPTIONAL { ?y :q ?x } MINUS { ?s :q ?m } FILTER NOT EXISTS { ?s :r ?n } BIND(1 AS ?k) }"
    program = presage.parse(f"{PREFIX}SELECT * FROM STREAM :s1 [NOW] {where}", "query.rq")
    assert [getattr(each, "name", "") for each in program.queries[0].atom.arguments] == ["S", "X", "Y", "K"]


def test_sparqlstream_means_what_c_sparql_means() -> None:
    """SRBench's queries are written so (github.com/jpcik/srbench, queries/srbench)."""
    where = "WHERE { ?obs :procedure ?sensor ; :result ?r . ?r :floatValue ?v FILTER(?v > 80) }"
    pairs = {
        "SELECT ?sensor ?obs FROM NAMED STREAM :o [NOW- 10 S SLIDE 5 S]": "[RANGE 10s STEP 5s]",
        "SELECT ?sensor ?obs FROM NAMED STREAM :o [NOW - 1 HOURS TO NOW SLIDE 1 HOURS]": "[RANGE 1h STEP 1h]",
        "SELECT ?sensor ?obs FROM NAMED STREAM :o [NOW - 3 s]": "[RANGE 3s STEP 1s]",
        "SELECT ?sensor ?obs FROM NAMED STREAM :o [NOW]": "[NOW]",
    }
    for first, window in pairs.items():
        one = presage.parse(f"PREFIX : <http://e/>\n{first}\n{where}", "one.rq")
        other = presage.parse(f"PREFIX : <http://e/>\nSELECT ?sensor ?obs FROM STREAM :o {window}\n{where}", "two.rq")
        assert one == other, first
    told = presage.parse(
        f"PREFIX : <http://e/>\nSELECT ISTREAM DISTINCT ?obs FROM NAMED STREAM :o [NOW - 3 S]\n{where}", "q.rq"
    )
    same = presage.parse(
        f"PREFIX : <http://e/>\nREGISTER ISTREAM :answer AS SELECT ?obs FROM NAMED WINDOW :w ON :o [RANGE 3s]\n"
        f"WHERE {{ WINDOW :w {where.removeprefix('WHERE')} }}",
        "q.rq",
    )
    assert [each.head_atoms for each in told.rules[-2:]] == [each.head_atoms for each in same.rules[-2:]]


def test_windows_alike_show_triples_once() -> None:
    """What belongs to every stream is asked for once for each kind of window: more only multiplies the ways."""
    text = "SELECT ?x FROM STREAM <s:1> [RANGE 3s STEP 1s] FROM STREAM <s:2> [RANGE 3s STEP 1s] WHERE { ?x <e:p> ?y }"
    program = presage.parse(text, "q.rq")
    bodies = [each.body for each in program.rules]
    assert len(bodies) == len(set(bodies))


@pytest.mark.parametrize("suffix", [".nq", ".trig", ".jsonld", ".nt", ".ttl"])
def test_what_is_constructed_is_written_as_rdf_and_read_again(suffix: str, tmp_path: Path) -> None:
    from presage.cli import main
    from presage.io.rdf import entries

    query, facts, out = tmp_path / "q.rq", tmp_path / "f.trig", tmp_path / f"out{suffix}"
    query.write_text(
        "PREFIX : <http://e/>\nREGISTER ISTREAM :alarms AS CONSTRUCT { ?r :alarm ?v . ?r :name ?n }\n"
        "FROM NAMED WINDOW :w ON :s [RANGE PT2S STEP PT1S]\n"
        "WHERE { WINDOW :w { ?x :in ?r ; :value ?v } OPTIONAL { ?r :name ?n } }"
    )
    facts.write_text(
        "@prefix : <http://e/> . @prefix p: <http://www.w3.org/ns/prov#> . @prefix d: <http://purl.org/dc/terms/> .\n"
        ':k :name "K\\"e"@de , "plain" . :g p:generatedAtTime 1 ; d:isPartOf :s .\n'
        ':g { :o :in :k ; :value 41.5 , "x"^^:t }'
    )
    assert main(["run", str(query), "--facts", str(facts), "--out", str(out)]) == 0
    form = ox.RdfFormat.from_extension(suffix[1:])
    written = [
        (each["pred"], each["args"][2], each.get("time"))
        for each in entries(list(ox.parse(out.read_bytes(), form)), "out")
    ]
    timed = suffix not in (".nt", ".ttl")
    said = [Fraction(83, 2), '"x"^^<http://e/t>', '"K\\"e"@de', "plain"]
    assert sorted(written, key=str) == sorted(
        (("quad", each, 1) if timed else ("triple", each, None) for each in said), key=str
    )


def test_other_answers_are_no_rdf(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from presage.cli import main

    query, facts = tmp_path / "q.rq", tmp_path / "f.jsonl"
    query.write_text("SELECT ?x FROM STREAM <s:1> [NOW] WHERE { ?x <e:p> ?y }")
    facts.write_text('{"pred": "triple", "args": ["<a:a>", "<e:p>", 1], "time": 0}\n')
    assert main(["run", str(query), "--facts", str(facts), "--out", str(tmp_path / "out.nq")]) == 1
    assert "only the answers of a CONSTRUCT" in capsys.readouterr().err
