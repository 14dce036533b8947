"""CQL against DuckDB: at every time point the relation that it computes over the contents of the windows.

Queries and streams are random; what a window shows is worked out here from its definition, and shares nothing with the
translation.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import duckdb
import pytest

import presage

# `make fuzz` asks for more.
ROUNDS = 20 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 1
STREAMS = {"s": (("a", "INT"), ("b", "INT"), ("c", "TEXT")), "r": (("b", "INT"), ("d", "FLOAT"))}
TABLES = {"g": (("a", "INT"), ("w", "INT"))}
SCHEMA = "".join(
    f"CREATE {kind} {name} ({', '.join(f'{column} {of}' for column, of in columns)});\n"
    for kind, found in (("STREAM", STREAMS), ("TABLE", TABLES))
    for name, columns in found.items()
)
Fact = tuple[str, tuple[Any, ...], int]


@dataclass(frozen=True)
class Window:
    stream: str
    text: str
    back: int | None = None
    rows: int | None = None
    by: tuple[int, ...] = ()
    slide: int = 1

    def shows(self, facts: list[Fact], now: int) -> list[tuple[Any, ...]]:
        pivot = now // self.slide * self.slide
        seen = sorted((time, values) for name, values, time in facts if name == self.stream and time <= pivot)
        if self.rows is None:
            return [values for time, values in seen if self.back is None or time >= pivot - self.back]
        last: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        for _, values in seen:
            last.setdefault(tuple(values[each] for each in self.by), []).append(values)
        return [values for group in last.values() for values in group[-self.rows :]]


def judged(sql: str, windows: list[Window], facts: list[Fact], static: list[tuple[Any, ...]], now: int) -> Counter[Any]:
    base = duckdb.connect()
    base.execute("set threads to 1")
    base.execute("create table g (a INT, w INT)")
    if static:
        base.executemany("insert into g values (?, ?)", static)
    for index, window in enumerate(windows):
        columns = ", ".join(f"{name} {'DOUBLE' if of == 'FLOAT' else of}" for name, of in STREAMS[window.stream])
        base.execute(f"create table w{index} ({columns})")
        rows = window.shows(facts, now)
        if rows:
            marks = ", ".join("?" for _ in rows[0])
            base.executemany(
                f"insert into w{index} values ({marks})",
                [[float(x) if isinstance(x, Fraction) else x for x in row] for row in rows],
            )
    return Counter(tuple(exact(value) for value in row) for row in base.execute(sql).fetchall() if None not in row)


def exact(value: Any) -> Any:
    return Fraction(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def told(text: str, facts: list[Fact], static: list[tuple[Any, ...]], until: int) -> dict[int, set[Any]]:
    """What Presage confirms, by time."""
    program = presage.parse(SCHEMA + text, "query.cql")
    reasoner = presage.Reasoner(program, emit="confirmed", static={"g": static})
    found: dict[int, set[Any]] = {now: set() for now in range(until + 1)}
    for now in range(until + 1):
        for answer in reasoner.push([each for each in facts if each[2] == now], now=now):
            low, high = (answer.time, answer.time) if answer.time is not None else (answer.start, answer.end)
            for time in range(int(low), min(until, int(high) if high is not None else until) + 1):
                found[time].add(tuple(exact(value) for value in answer.arguments))
    return found


def expected(
    sql: str, mode: str, windows: list[Window], facts: list[Fact], static: list[Any], until: int
) -> dict[int, set[Any]]:
    found, before = {}, Counter[Any]()
    for now in range(until + 1):
        relation = judged(sql, windows, facts, static, now)
        change = {"": relation, "Rstream": relation, "Istream": relation - before, "Dstream": before - relation}[mode]
        found[now] = set(change)
        before = relation
    return found


def a_window(dice: random.Random, stream: str) -> Window:
    n, m = dice.randint(1, 4), dice.randint(2, 5)
    columns = [name for name, _ in STREAMS[stream]]
    column = dice.randrange(len(columns))
    return dice.choice(
        [
            Window(stream, f"[Range {n}]", back=n),
            Window(stream, f"[Range {n} Slide {m}]", back=n, slide=m),
            Window(stream, "[Now]", back=0),
            Window(stream, "[Unbounded]"),
            Window(stream, f"[Range Unbounded Slide {m}]", slide=m),
            Window(stream, f"[Rows {n}]", rows=n),
            Window(stream, f"[Rows {n} Slide {m}]", rows=n, slide=m),
            Window(stream, f"[Partition By {columns[column]} Rows {n}]", rows=n, by=(column,)),
        ]
    )


class Draw:
    """A random query, as CQL and as SQL over the tables `w0`, `w1`, … that hold what its windows show."""

    def __init__(self, dice: random.Random) -> None:
        self.dice, self.windows = dice, list[Window]()

    def item(self, alias: str, depth: int = 0) -> tuple[str, str, list[tuple[str, str]]]:
        """Something in From: its CQL, its SQL, its columns."""
        roll = self.dice.random()
        if roll < 0.15:
            return f"g As {alias}", f"g As {alias}", list(TABLES["g"])
        if roll < 0.35 and depth < 1:
            cql, sql, columns = self.select(depth + 1)
            return f"({cql}) As {alias}", f"({sql}) As {alias}", columns
        window = a_window(self.dice, self.dice.choice(list(STREAMS)))
        self.windows.append(window)
        return (
            f"{window.stream} {window.text} As {alias}",
            f"w{len(self.windows) - 1} As {alias}",
            list(STREAMS[window.stream]),
        )

    def comparison(self, columns: list[tuple[str, str]]) -> str:
        name, of = self.dice.choice(columns)
        if of == "TEXT":
            return self.dice.choice([f"{name} = 'x'", f"{name} <> 'y'", f"{name} In ('x', 'z')", f"{name} >= 'y'"])
        others = [other for other, kind in columns if kind != "TEXT"]
        sign, value = self.dice.choice(["=", "<", ">", "<=", ">=", "<>"]), self.dice.randint(0, 4)
        return self.dice.choice(
            [
                f"{name} {sign} {value}",
                f"{name} + 1 {sign} {self.dice.choice(others)}",
                f"{name} {sign} {self.dice.choice(others)}",
                f"{name} Between {value - 1} And {value + 1}",
                f"{name} * 2 - 1 {sign} {value}",
            ]
        )

    def condition(self, columns: list[tuple[str, str]], depth: int = 0) -> str:
        roll = self.dice.random()
        if depth < 2 and roll < 0.4:
            parts = f" {self.dice.choice(['And', 'Or'])} ".join(self.condition(columns, depth + 1) for _ in range(2))
            return f"({parts})" if roll < 0.3 else f"Not ({parts})"
        return self.comparison(columns)

    def sources(self, depth: int) -> tuple[str, str, list[tuple[str, str]]]:
        items = [self.item(f"x{depth}{index}", depth) for index in range(self.dice.choice([1, 1, 2]))]
        columns = [(f"x{depth}{index}.{name}", of) for index, item in enumerate(items) for name, of in item[2]]
        where = ""
        if len(items) == 2 and self.dice.random() < 0.8:
            one, other = [[f"x{depth}{i}.{name}" for name, of in items[i][2] if of != "TEXT"] for i in (0, 1)]
            if one and other:
                where = f" Where {self.dice.choice(one)} = {self.dice.choice(other)}"
        if self.dice.random() < 0.6:
            where += (" And " if where else " Where ") + self.condition(columns)
        return (", ".join(each[0] for each in items) + where, ", ".join(each[1] for each in items) + where, columns)

    def select(self, depth: int = 0) -> tuple[str, str, list[tuple[str, str]]]:
        cql, sql, columns = self.sources(depth)
        chosen = self.dice.sample(columns, self.dice.randint(1, min(3, len(columns))))
        shown, names = [], []
        for index, (name, of) in enumerate(chosen):
            if of != "TEXT" and self.dice.random() < 0.2:
                name = f"{name} + {self.dice.randint(1, 2)}"
            shown.append(f"{name} As k{index}")
            names.append((f"k{index}", of))
        head = ("Select Distinct " if self.dice.random() < 0.2 else "Select ") + ", ".join(shown)
        return f"{head} From {cql}", f"{head} From {sql}", names

    def aggregate(self, columns: list[tuple[str, str]]) -> str:
        name, of = self.dice.choice(columns)
        if of == "TEXT":
            return self.dice.choice(["Count(*)", f"Count(Distinct {name})", f"Min({name})", f"Max({name})"])
        return self.dice.choice(
            [
                "Count(*)",
                f"Count({name})",
                f"Sum({name})",
                f"Sum(Distinct {name})",
                f"Min({name})",
                f"Max({name})",
                f"Sum({name} * 2 + 1)",
                f"Count(Distinct {name})",
            ]
        )

    def grouped(self) -> tuple[str, str]:
        cql, sql, columns = self.sources(0)
        keys = [name for name, _ in self.dice.sample(columns, self.dice.randint(0, min(2, len(columns))))]
        numbers = [name for name, of in columns if of != "TEXT"]
        if numbers and self.dice.random() < 0.2:
            keys.append(f"{self.dice.choice(numbers)} + 1")
        shown = [each for each in keys if self.dice.random() < 0.8]
        shown += [self.aggregate(columns) for _ in range(self.dice.randint(0 if shown else 1, 2))]
        head = "Select " + ", ".join(f"{each} As k{index}" for index, each in enumerate(shown))
        rest = " Group By " + ", ".join(keys) if keys else ""
        told = [f"Count(Distinct {columns[0][0]})", "Count(*)"]
        told += [f"Sum({numbers[0]})", f"Max({numbers[-1]})"] if numbers else []
        compared = [f"{name} {sign} {self.dice.randint(0, 4)}" for sign in ("<", ">=", "=") for name in told]
        if self.dice.random() < 0.5:
            having = self.dice.choice([" And ", " Or "]).join(self.dice.sample(compared, self.dice.randint(1, 2)))
            rest += f" Having {'Not ' if self.dice.random() < 0.2 else ''}({having})"
        return f"{head} From {cql}{rest}", f"{head} From {sql}{rest}"

    def nested(self) -> tuple[str, str]:
        """Joined with groups, compared with an aggregate, looked for in another query."""
        cql, sql = self.grouped()
        window = a_window(self.dice, "s")
        self.windows.append(window)
        one, other = f"s {window.text} As y", f"w{len(self.windows) - 1} As y"
        more, again, columns = self.select(1)
        names = [name for name, of in columns if of != "TEXT"]
        is_number = re.match(r"Select (Distinct )?(Count|Sum|Avg|\S*\b[abdw]\b)", cql)
        where = self.dice.choice(["Where q.k0 = y.a", "", "Where y.b < 3"]) if is_number else ""
        head = "Select y.a As k0, q.k0 As k1"
        roll = self.dice.random()
        if roll < 0.4 and names:
            where += (" And " if where else "Where ") + f"y.b {self.dice.choice(['In', 'Not In'])} "
            return (
                f"{head} From {one}, ({cql}) As q {where}(Select {names[0]} From ({more}) As z)",
                f"{head} From {other}, ({sql}) As q {where}(Select {names[0]} From ({again}) As z)",
            )
        if roll < 0.8 and names and "Min" not in more:
            where += (" And " if where else "Where ") + f"{self.dice.choice(['', 'Not '])}y.b > "
            return (
                f"{head} From {one}, ({cql}) As q {where}(Select Min({names[0]}) From ({more}) As z)",
                f"{head} From {other}, ({sql}) As q {where}(Select Min({names[0]}) From ({again}) As z)",
            )
        asked = f"Exists (Select * From g Where g.a = y.a And g.w {self.dice.choice(['>', '='])} y.b)"
        where += (" And " if where else "Where ") + self.dice.choice(["", "Not "]) + asked
        return f"{head} From {one}, ({cql}) As q {where}", f"{head} From {other}, ({sql}) As q {where}"

    def query(self) -> tuple[str, str]:
        cql, sql, columns = self.select()
        if self.dice.random() < 0.3:
            for _ in range(30):
                before = list(self.windows)
                more, other, kinds = self.select()
                if [of == "TEXT" for _, of in kinds] == [of == "TEXT" for _, of in columns]:
                    sign = self.dice.choice(["Union All", "Union", "Except", "Intersect"])
                    return f"{cql} {sign} {more}", f"{sql} {sign} {other}"
                self.windows = before
        return cql, sql


WRITTEN = [
    "Select Length(c), Sqrt(a * a), Power(a, 2), Upper(Concat(c, 'q')) From s [Range 2]",
    "Select Replace(c, 'x', 'zz'), Substring(c, 1, 1), Ceil(d) From s [Range 2], r [Range 2]",
    "Select a From s [Range 2] Where (a, b) In (Select w, w From g) And c ILike 'X%' And a Is Not Null",
    "Select a, Count(*) As n From s [Range 3] Group By a Having n > 1",
    "Select a, Sum(b) + 1 As n From s [Range 3] Group By a Having n > 2 Or a = 1",
    "Select a, Count(*) From s [Range 3] Group By a Having a = 1",
    "Select a, b, Count(*) From s [Range 3] Group By a, b Having a = b",
    "Select Count(*) From s [Range 3] Group By a Having a In (1, 2) And Count(*) < 3",
    "Select a, Count(*) From s [Range 3] Group By a Having a In (Select b From r [Range 2])",
    "Select a, Count(*) From s [Range 3] Group By a Having Min(b) < 1 And Max(b) > 1 Or Count(*) = 2",
    "(Select a From s [Range 2] Union Select b From r [Now]) Except Select w From g",
    "Select c From s [Range 3] Where c Not Like 'x%'",
    "Select c From s [Range 3] Where Not c Not ILike 'X'",
    "Select a, Case When a > 1 Then b End From s [Range 2]",
    "Select Sum(Case When a > 1 Then b End), Count(Case When a > 1 Then 1 Else Null End) From s [Range 2]",
    "Select c, Count(Case When a > 1 Then 1 End) From s [Range 3] Group By c",
    "Select a From s [Range 2] Where Not Case When a > 1 Then b End = 2",
    "Select Cast(d As INT) From r [Range 2]",
    "Select (a - 2) % 2, (a - 2) % (b - 4), Mod(1 - a, 2), Round((a - 2) / 2), Floor((a - 2) / 2) From s [Range 2]",
    "Select a % 2 As k, Count(*) From (Select a - 2 As a From s [Range 2]) As x Group By a % 2",
    "Select a + (Select Count(*) From r [Range 2]) From s [Now]",
    "Select a, (Select Max(y.b) From r [Range 2] As y Where y.b <= x.b) As m From s [Range 2] As x",
    "Select Count(*) From (Select a, (Select Sum(d) From r [Now]) As m From s [Range 2]) As t",
    "Select Count(*) From s [Range 3] As x Where x.a > 1 Or x.b >= (Select Max(y.b) From s [Range 9] As y)",
    "Select Count(*) From (Select Abs(a - 1) As k From s [Range 5]) As x Group By x.k",
    "Select Sum(Case When k > 0 Then 1 Else 0 End) From (Select a - 1 As k, Upper(c) As w From s [Range 3]) As x "
    "Group By w",
    "Select Avg(x.k), Count(*) From (Select Abs(a - 1) As k From s [Range 4]) As x, (Select Greatest(b, d) As m From r "
    "[Range 3]) As y Where x.k < y.m Group By x.k, y.m",
    "Select n From (Select Count(*) As n, Max(a) As m From s [Range 1]) As x",
    "With t (x) As (Select a From s [Range 2]), v As (Select Max(x) As m From t) Select x From t, v Where x = m",
]


@pytest.mark.parametrize("cql", WRITTEN)
def test_written_queries_agree_with_duckdb(cql: str) -> None:
    windows: list[Window] = []

    def table(found: re.Match[str]) -> str:
        lasts = 0 if found[2] == "Now" else int(found[2].split()[1])
        windows.append(Window(found[1], found[0], back=lasts))
        named = re.match(r" As [a-z]", cql[found.end() :])
        return f"w{len(windows) - 1}{'' if named else ' As ' + found[1]}"

    sql = re.sub(r"\b([sr]) \[([^]]*)\]", table, cql)
    for seed, mode in enumerate(["", "Istream", "Dstream"]):
        facts, static = a_stream(random.Random(seed), 9), [(each, each % 2) for each in range(3)]
        wanted = expected(sql, mode, windows, facts, static, 9)
        assert told(f"{mode}({cql});" if mode else f"{cql};", facts, static, 9) == wanted


def a_stream(dice: random.Random, until: int) -> list[Fact]:
    facts = set()
    for now in range(until + 1):
        for _ in range(dice.choice([0, 1, 1, 2])):
            if dice.random() < 0.6:
                facts.add(("s", (dice.randint(0, 3), dice.randint(0, 3), dice.choice("xyz")), now))
            else:
                facts.add(("r", (dice.randint(0, 3), Fraction(dice.randint(0, 8), 2)), now))
    return sorted(facts, key=lambda each: (each[2], each[0], str(each[1])))


def agrees(seed: int, draw: Any) -> None:
    dice = random.Random(seed)
    query = Draw(dice)
    cql, sql = draw(query)
    mode = dice.choice(["", "Istream", "Dstream", "Rstream"])
    text = f"{mode}({cql});" if mode else f"{cql};"
    until = 9
    facts, static = a_stream(dice, until), [(each, dice.randint(0, 3)) for each in range(3)]
    wanted = expected(sql, mode, query.windows, facts, static, until)
    assert told(text, facts, static, until) == wanted, text


@pytest.mark.parametrize("seed", range(24 * ROUNDS))
def test_random_queries_agree_with_duckdb(seed: int) -> None:
    agrees(seed, Draw.query)


@pytest.mark.parametrize("seed", range(12 * ROUNDS))
def test_random_groups_agree_with_duckdb(seed: int) -> None:
    agrees(seed, Draw.grouped)


@pytest.mark.parametrize("seed", range(8 * ROUNDS))
def test_random_nested_queries_agree_with_duckdb(seed: int) -> None:
    agrees(seed, Draw.nested)


def test_a_view_is_its_query() -> None:
    view = "CREATE VIEW v AS Select a, b + 1 As n From s [Range 2];\nIstream(Select a, Max(n) From v Group By a);"
    inner = "Istream(Select a, Max(n) From (Select a, b + 1 As n From s [Range 2]) As v Group By a);"
    facts = a_stream(random.Random(1), 9)
    found = told(view, facts, [], 9)
    assert found == told(inner, facts, [], 9) and any(found.values())


def test_explanations_quote_aggregates_as_they_are_written() -> None:
    program = presage.parse(SCHEMA + "Select a, Count(*) From s [Range 3] Group By a Having Count(*) > 1;", "q.cql")
    facts = [("s", (1, 2, "x"), 0), ("s", (1, 3, "x"), 2)]
    assert "Count(*) is 2" in presage.explain(program, facts, "answer(1, 2)@2").to_json()["says"]
