"""The network of [MTL] Example 1, in the normal form of Example 7, against MeTeoR.

Nodes monitor signals; one that receives a signal often enough tells its neighbours to monitor it too. Recursion over
time and topology, on the dense timeline.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow

import presage
from bench import meteor
from bench.common import Row, best_of, missing, timed
from bench.meteor import spans_of_answers
from presage.answers import Answers

PROGRAM = """
timeline dense.
input Signal(signal).
input Connect(node, other).
input Monit(node, signal).
Near(Z) :- once[0,2] Signal(Z).
Often(Z) :- historically[0,4] Near(Z).
Flag(X, Z) :- Monit(X, Z), Often(Z).
Told(X, Z) :- Flag(Y, Z), Connect(X, Y).
Monit(X, Z) :- once[0,3] Told(X, Z).
query Flag(X, Z).
"""
RULES = [
    "Near(Z):-Diamondminus[0,2]Signal(Z)",
    "Often(Z):-Boxminus[0,4]Near(Z)",
    "Flag(X,Z):-Monit(X,Z),Often(Z)",
    "Told(X,Z):-Flag(Y,Z),Connect(X,Y)",
    "Monit(X,Z):-Diamondminus[0,3]Told(X,Z)",
]
NODES, END = 50, 400
RUNS = 2
Fact = tuple[str, tuple[str, ...], tuple[int, int]]


def make_facts(size: int) -> list[Fact]:
    chance = random.Random(1)
    facts: list[Fact] = []
    for node in range(NODES):
        # Sparse, and from later nodes to earlier ones mostly: news travels, and not all over at once.
        for other in {(node + 1) % NODES, chance.randrange(NODES)} - {node}:
            facts.append(("Connect", (f"n{node}", f"n{other}"), (0, END)))
    readings = END // 4
    signals = max(1, (size - len(facts)) // (readings + 1))
    for signal in range(signals):
        begin = chance.randrange(20)
        facts.append(("Monit", (f"n{chance.randrange(NODES)}", f"s{signal}"), (begin, begin + 10)))
        for time in sorted(chance.sample(range(END), readings)):
            facts.append(("Signal", (f"s{signal}",), (time, time)))
    return facts


def in_steps(facts: list[Fact]) -> dict[int, list[Any]]:
    steps: dict[int, list[Any]] = {END + 20: []}
    for name, arguments, (low, high) in facts:
        steps.setdefault(low, []).append((name, arguments, low if low == high else (low, high, "[]")))
    return steps


def as_tables(steps: dict[int, list[Any]]) -> dict[int, dict[str, pyarrow.Table]]:
    """The same steps as Arrow tables, one for each predicate."""
    columns = {"Signal": ["signal"], "Connect": ["node", "other"], "Monit": ["node", "signal"]}
    tables: dict[int, dict[str, pyarrow.Table]] = {}
    for now, facts in steps.items():
        tables[now] = {}
        for name, titles in columns.items():
            own = [(arguments, when) for predicate, arguments, when in facts if predicate == name]
            if own:
                cells: dict[str, Any] = dict(
                    zip(titles, zip(*(arguments for arguments, _ in own), strict=True), strict=True)
                )
                if name == "Signal":
                    cells["time"] = [when for _, when in own]
                else:
                    cells |= {"from": [when[0] for _, when in own], "to": [when[1] for _, when in own]}
                tables[now][name] = pyarrow.table(cells)
    return tables


def by_push(steps: Mapping[int, Any]) -> list[Answers]:
    reasoner = presage.Reasoner(presage.parse(PROGRAM))
    return [reasoner.push(steps[now], now) for now in sorted(steps)]


def measure(size: int) -> Iterator[Row]:
    facts = make_facts(size)
    steps = in_steps(facts)
    tables = as_tables(steps)
    by_push(as_tables(in_steps(make_facts(1_000))))
    answers, from_tuples = best_of(RUNS, lambda: by_push(steps))
    same, from_tables = best_of(RUNS, lambda: by_push(tables))
    ours, making = timed(lambda: spans_of_answers(answers))
    assert ours == spans_of_answers(same)
    work = f"network of [MTL] in normal form, {len(facts):,} facts"
    if not meteor.is_installed():
        yield missing(work, _speed(facts, from_tuples), "meteor-reasoner")
        yield missing(work, _speed(facts, from_tables), "meteor-reasoner")
        return
    lines = [f"{name}({','.join(arguments)})@[{low},{high}]" for name, arguments, (low, high) in facts]
    theirs, their_time = meteor.materialise(lines, RULES, "Flag")
    assert ours == theirs, "different answers"
    intervals = f"{sum(len(spans) for spans in ours.values()):,} intervals of Flag, equal"
    for kind, our_time in (("tuples", from_tuples), ("Arrow tables", from_tables)):
        yield Row(
            work,
            _speed(facts, our_time),
            f"MeTeoR, batch {_speed(facts, their_time)}",
            their_time / our_time,
            f"{intervals}; ours in {len(steps)} steps from {kind}; theirs without loading, ours without making objects "
            f"of the answers ({making:.2f} s)",
        )


def _speed(facts: list[Fact], seconds: float) -> str:
    return f"{seconds:.2f} s ({len(facts) / seconds:,.0f} facts/s)"
