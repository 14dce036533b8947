"""The network of [MTL] Example 1, in the normal form of Example 7, against MeTeoR.

Nodes monitor signals; one that receives a signal often enough tells its neighbours to monitor it too. Recursion over
time and topology, on the dense timeline.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import presage
from bench import meteor
from bench.common import Row, missing, timed
from bench.meteor import Spans, coalesced

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


def by_push(facts: list[Fact]) -> Spans:
    reasoner = presage.Reasoner(presage.parse(PROGRAM), emit="confirmed")
    steps: dict[int, list[tuple[str, tuple[str, ...], int | tuple[int, int, str]]]] = {END + 20: []}
    for name, arguments, (low, high) in facts:
        steps.setdefault(low, []).append((name, arguments, low if low == high else (low, high, "[]")))
    found: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for now in sorted(steps):
        for answer in reasoner.push(steps[now], now):
            span = (answer.start, answer.end) if answer.time is None else (answer.time, answer.time)
            found.setdefault(answer.arguments, []).append(span)  # type: ignore[arg-type]
    return {entity: coalesced(spans) for entity, spans in found.items()}


def measure(size: int) -> Iterator[Row]:
    by_push(make_facts(1_000))
    facts = make_facts(size)
    ours, our_time = timed(lambda: by_push(facts))
    work = f"network of [MTL] in normal form, {len(facts):,} facts"
    speed = f"{our_time:.2f} s ({len(facts) / our_time:,.0f} facts/s)"
    if not meteor.is_installed():
        yield missing(work, speed, "meteor-reasoner")
        return
    lines = [f"{name}({','.join(arguments)})@[{low},{high}]" for name, arguments, (low, high) in facts]
    theirs, their_time = meteor.materialise(lines, RULES, "Flag")
    assert ours == theirs, "different answers"
    yield Row(
        work,
        speed,
        f"MeTeoR, batch {their_time:.2f} s ({len(facts) / their_time:,.0f} facts/s)",
        their_time / our_time,
        f"{sum(len(spans) for spans in ours.values()):,} intervals of Flag, equal",
    )
