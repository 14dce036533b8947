"""Existential rules over streams: the two scenarios of [LARS+] Appendix D against the rule engine Nemo on rew(P).

Conveyor belts (S_A): at each time point Nemo gets the facts of the last six time points and those of now, as the
paper's prototype does with its chase engine; Presage is fed the facts of now. ChaseBench's deep100 as a stream (S_B):
all its facts at each time point, half of the rules' bodies below `window(4) all`, half below `window(4) some`. Rules
and facts are read from a directory if one is given (`scenarios/deep/100` of ChaseBench), otherwise some of the same
shape are made. Nemo's times are without loading.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow

import presage
from bench.common import Row, missing, peer, resident_bytes, silent, timed
from presage.checking import check_text
from presage.rewrite.existential import rewriting, rewritten_fact, time_points

BELTS = """
timeline discrete.
input belt(x). input bSpeed(x, s). input bTmp(x, t).
static slow(s). static high(t).
exists Y: bOpr(X, Y) :- belt(X).
exists Z: brkG(X, Z) :- window(5) some bSpeed(X, Y), slow(Y).
exists lasting Z: incId(Z, X) :- window(3) all bTmp(X, Y), high(Y).
assign(Y, Z) :- incId(Y, X), bOpr(X, Z).
block(X) :- window(3) all incId(Z, X).
query bOpr(X, Y). query brkG(X, Z). query incId(Z, X). query assign(Y, Z). query block(X).
"""
STATICS: dict[str, list[tuple[Any, ...]]] = {"slow": [("low",)], "high": [(7,), (8,), (9,)]}
CHANCES = (0.7, 0.7, 1.0)
# How many time points before now a prototype that starts afresh is given: enough for windows over windows.
LOOKS_BACK = 6
Facts = dict[str, list[tuple[Any, ...]]]


def by_metric(text: str) -> str:
    """The same without windows. It differs only where a window is clipped by the start of the stream."""
    text = re.sub(r"window\((\d+)\) some", r"once[0,\1]", text)
    return re.sub(r"window\((\d+)\) all", r"historically[0,\1]", text)


def belts(count: int, points: int) -> Iterator[Facts]:
    """Slow with the first chance; hot with the second, and then for four time points with the third."""
    slow, hot, long = CHANCES
    chance = random.Random(1)
    names = [f"b{number}" for number in range(count)]
    left, heat = [0] * count, [0] * count
    for _ in range(points):
        for number in range(count):
            if left[number]:
                left[number] -= 1
            elif chance.random() < hot:
                heat[number], left[number] = 9, 3 if chance.random() < long else 0
            else:
                heat[number] = chance.randint(1, 6)
        speeds = ["low" if chance.random() < slow else "fast" for _ in names]
        yield {
            "belt": [(name,) for name in names],
            "bSpeed": list(zip(names, speeds, strict=True)),
            "bTmp": list(zip(names, heat, strict=True)),
        }


@dataclass
class Stream:
    """Facts by time point, as tables for us and as rules' text for others."""

    text: str
    points: list[Facts]
    statics: Facts = field(default_factory=dict)

    def tables(self, time: int) -> dict[str, Any]:
        found = {}
        columns = {each.predicate: each.columns for each in self.program.inputs}
        for name, rows in self.points[time].items():
            given = {column.name: [row[place] for row in rows] for place, column in enumerate(columns[name])}
            found[name] = pyarrow.table({**given, "time": [time] * len(rows)})
        return found

    @property
    def program(self) -> presage.Program:
        return presage.parse(by_metric(self.text))

    def reasoner(self) -> presage.Reasoner:
        return presage.Reasoner(self.program, static=self.statics, emit="confirmed")

    def clauses(self) -> list[str]:
        found = check_text(self.text).findings
        assert found is not None
        return [str(clause) for clause in rewriting(found.subject.program)]

    def written(self, last: int) -> str:
        """The rewriting with the facts of the last time points."""
        lines = [*self.clauses(), *(rewritten_fact(n, row, None) for n, rows in self.statics.items() for row in rows)]
        first = max(0, last - LOOKS_BACK)
        lines += map(str, time_points(last)[first:])
        for time in range(first, last + 1):
            lines += [rewritten_fact(name, row, time) for name, rows in self.points[time].items() for row in rows]
        return "\n".join(lines)


def by_push(stream: Stream, first: int) -> tuple[float, list[dict[str, int]], presage.Reasoner]:
    """CPU seconds a time point from `first` on, and how many answers of each predicate each time point has."""
    reasoner, counts, spent = stream.reasoner(), [], 0.0
    tables = [stream.tables(time) for time in range(len(stream.points))]
    for time, table in enumerate(tables):
        answers, seconds = timed_push(reasoner, table, time)
        spent += seconds if time >= first else 0.0
        found: dict[str, int] = {}
        for answer in answers if time == len(tables) - 1 else ():
            found[answer.predicate] = found.get(answer.predicate, 0) + 1
        counts.append(found)
    return spent / (len(tables) - first), counts, reasoner


def timed_push(reasoner: presage.Reasoner, table: dict[str, Any], time: int) -> tuple[Any, float]:
    # Without collecting garbage first, as `timed` does: that would take longer than the step.
    import time as clock

    begin = clock.process_time()
    answers = reasoner.push(table, now=time)
    return answers, clock.process_time() - begin


def by_nemo(nemo: Any, stream: Stream, times: list[int], asked: list[str]) -> tuple[float, dict[str, int]]:
    """CPU seconds a time point, and how many facts of each predicate the last one has."""
    spent, counts = 0.0, dict.fromkeys(asked, 0)
    exports = "".join(f"\n@export all_{name} :- csv {{}} ." for name in asked)
    for time in times:
        with silent():
            engine = nemo.NemoEngine(nemo.load_string(stream.written(time) + exports))
            spent += timed(engine.reason)[1]
    for name in asked:
        counts[name] = sum(1 for *_, size, at in engine.result(f"all_{name}") if size == 0 and at == times[-1])
    return spent / len(times), {name: count for name, count in counts.items() if count}


# Source predicates, predicates, and rules among the latter, as in deep100.
SOURCES, TARGETS, INNER = 1_000, 300, 100
Shape = tuple[str, list[str], list[tuple[str, list[str]]]]
"""A rule: its body's predicate and variables, and its head."""


def made_rules() -> Iterator[Shape]:
    """Chains as in deep100: from each source into three predicates, and on to later ones."""
    chance = random.Random(3)
    body = ["X1", "X2", "X7", "X8"]
    rest = [["X2", "X3", "X9", "X10"], ["X3", "X4", "X11", "X12"], ["X0", "X1", "X5", "X6"]]
    for number in range(SOURCES):
        targets = [f"m{chance.randrange(TARGETS)}" for _ in rest]
        yield f"v{number}", body, list(zip(targets, [body, *rest[:2]], strict=True))
    for number in range(INNER):
        targets = [f"m{chance.randrange(number + 1, TARGETS)}" for _ in rest]
        yield f"m{number}", body, list(zip(targets, rest, strict=True))


def read_rules(folder: Path) -> Iterator[Shape]:
    atom = re.compile(r"(\w+)\(([^)]*)\)")
    for name in ("deep.st-tgds.txt", "deep.t-tgds.txt"):
        for line in (folder / "dependencies" / name).read_text(encoding="utf-8").splitlines():
            (body, values), *heads = [(name, each.replace("?", "").split(",")) for name, each in atom.findall(line)]
            yield body, values, heads


def deep(folder: Path | None, points: int) -> Stream:
    rules = list(made_rules() if folder is None else read_rules(folder))
    chance, lines = random.Random(2), ["timeline discrete."]
    sources = {body: values for body, values, _ in rules if body.startswith("v")}
    lines += [
        f"input {name}({', '.join(f'c{place}' for place, _ in enumerate(each))})." for name, each in sources.items()
    ]
    for body, values, heads in rules:
        invented = list(dict.fromkeys(each for _, terms in heads for each in terms if each not in values))
        atoms = ", ".join(f"{name}({', '.join(terms)})" for name, terms in heads)
        exists = f"exists {', '.join(invented)}: " if invented else ""
        lines.append(f"{exists}{atoms} :- window(4) {chance.choice(['all', 'some'])} {body}({', '.join(values)}).")
    # All is derived whoever asks; what must arrive for one query is soon said, for all of them it takes minutes.
    last, terms = rules[-1][2][-1]
    lines.append(f"query {last}({', '.join('ABCDEF'[: len(terms)])}).")
    facts: Facts = {name: [tuple(f"x{each[1:]}" for each in values)] for name, values in sources.items()}
    if folder is not None:
        given = {path.stem: path.read_text(encoding="utf-8").split() for path in (folder / "data").glob("*.csv")}
        facts = {name: [tuple(re.findall(r'"([^"]*)"', row)) for row in rows] for name, rows in given.items()}
    return Stream("\n".join(lines), [facts] * points)


def in_memory(reasoner: presage.Reasoner, now: int) -> dict[str, int]:
    """How many facts of each derived predicate hold now."""
    found = {}
    for name, predicate in reasoner.subject.predicates.items():
        held = reasoner.interval_engine.relations[name].contents()
        count = int(((held.low <= now) & (held.high >= now)).sum())
        if predicate.kind == "derived" and count:
            found[name] = count
    return found


def measure_deep(folder: Path | None) -> Iterator[Row]:
    stream = deep(folder, 12)
    our_time, _, reasoner = by_push(stream, LOOKS_BACK)
    counts = in_memory(reasoner, 11)
    kind = "deep100 as a stream" if folder is not None else "a stream like deep100"
    total = sum(counts.values())
    work, ours = f"S_B, {kind}, a time point ({total:,} facts)", f"{1000 * our_time:.0f} ms"
    nemo = peer("nmo_python")
    if nemo is None:
        yield missing(work, ours, "nemo-python")
        return
    nemo_time, theirs = by_nemo(nemo, stream, [11], sorted(counts))
    # Nemo invents nothing where a value that is there already would do: it has no more facts than we have, but some of
    # each predicate that we have any of.
    assert set(counts) == set(theirs), "different answers"
    assert all(counts[name] >= theirs[name] for name in theirs), "different answers"
    yield Row(work, ours, f"Nemo {1000 * nemo_time:.0f} ms", nemo_time / our_time, "theirs without loading")


def measure(folder: Path | None = None) -> Iterator[Row]:
    yield from measure_belts()
    yield from measure_deep(folder)
    yield from measure_memory()
    yield from measure_growth()


def measure_belts() -> Iterator[Row]:
    stream = Stream(BELTS, list(belts(100, 100)), STATICS)
    runs = [by_push(stream, LOOKS_BACK) for _ in range(4)]
    our_time, counts = min(spent for spent, _, _ in runs), runs[0][1]
    work, ours = "S_A, 100 belts, a time point", f"{1000 * our_time:.2f} ms"
    nemo = peer("nmo_python")
    if nemo is None:
        yield missing(work, ours, "nemo-python")
        return
    asked = ["bOpr", "brkG", "incId", "assign", "block"]
    nemo_time, theirs = by_nemo(nemo, stream, [60, 80, 99], asked)
    assert counts[-1] == theirs, f"different answers: {counts[-1]}, {theirs}"
    yield Row(work, ours, f"Nemo {1000 * nemo_time:.0f} ms", nemo_time / our_time, "theirs without loading")


def measure_growth() -> Iterator[Row]:
    before = None
    for count, points in ((100, 60), (1_000, 40), (10_000, 20), (100_000, 12)):
        spent, _, _ = by_push(Stream(BELTS, list(belts(count, points)), STATICS), LOOKS_BACK)
        each = 1e6 * spent / count
        note = "" if before is None else f"{before / each:.1f} times cheaper a belt than with a tenth of the belts"
        yield Row(f"S_A, {count:,} belts, a time point", f"{1000 * spent:.2f} ms", f"{each:.2f} µs a belt", None, note)
        before = each


def measure_memory() -> Iterator[Row]:
    reasoner, sizes, points = Stream(BELTS, []).reasoner(), [], 10_000
    for rows in STATICS.items():
        entries = [{"pred": rows[0], "args": list(row)} for row in rows[1]]
        reasoner.add_statics([reasoner.checker.fact(entry, "static") for entry in entries])
    for time, facts in enumerate(belts(20, points)):
        reasoner.push([(name, row, time) for name, rows in facts.items() for row in rows], now=time)
        if time % 1000 == 999:
            sizes.append((resident_bytes(), len(reasoner.interval_engine.symbols)))
    work = f"S_A, 20 belts, memory after {points:,} time points"
    before, after = sizes[1][0], sizes[-1][0]
    note = f"{(after - before) / 1e6:+.1f} MB; {max(size for _, size in sizes):,} symbols at most"
    yield Row(work, f"{after / 1e6:.0f} MB", f"{before / 1e6:.0f} MB after 2,000", after / before, note)
