"""Transitive closure, plain Datalog without time, against the rule engine Nemo and against Python sets."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pyarrow

import presage
from bench.common import Row, best_of, missing, peer, timed
from presage.answers import Answers

PROGRAM = """
timeline discrete.
input edge(from_node, to_node).
path(X, Y) :- edge(X, Y).
path(X, Z) :- path(X, Y), edge(Y, Z).
query path(X, Y).
"""
NODES, EDGES = 560, 1_080
Edges = list[tuple[str, str]]


def make_edges() -> Edges:
    chance = random.Random(1)
    return sorted({(f"n{chance.randrange(NODES)}", f"n{chance.randrange(NODES)}") for _ in range(EDGES)})


def by_push(edges: Edges) -> Answers:
    reasoner = presage.Reasoner(presage.parse(PROGRAM), emit="confirmed")
    ends = {"from_node": [edge[0] for edge in edges], "to_node": [edge[1] for edge in edges]}
    return reasoner.push({"edge": pyarrow.table({**ends, "time": [0] * len(edges)})}, now=0)


def by_sets(edges: Edges) -> set[tuple[str, str]]:
    after: dict[str, list[str]] = {}
    for start, end in edges:
        after.setdefault(start, []).append(end)
    paths, new = set(edges), list(edges)
    while new:
        found = []
        for start, middle in new:
            for end in after.get(middle, ()):
                if (start, end) not in paths:
                    paths.add((start, end))
                    found.append((start, end))
        new = found
    return paths


def measure() -> Iterator[Row]:
    edges = make_edges()
    by_push(edges)
    answers, our_time = best_of(3, lambda: by_push(edges))
    ours = {answer.arguments for answer in answers}
    paths, set_time = best_of(3, lambda: by_sets(edges))
    assert ours == paths, "different answers"
    work = f"transitive closure, {len(ours):,} facts derived"
    yield Row(work, f"{our_time:.2f} s", f"Python sets {set_time:.2f} s", set_time / our_time)
    nemo = peer("nmo_python")
    if nemo is None:
        yield missing(work, f"{our_time:.2f} s", "nemo-python")
        return
    rules = "path(?x, ?y) :- edge(?x, ?y) .\npath(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .\n@export path :- csv {} .\n"
    text = "".join(f"edge({start}, {end}) .\n" for start, end in edges) + rules
    times = []
    for _ in range(3):
        engine = nemo.NemoEngine(nemo.load_string(text))
        times.append(timed(engine.reason)[1])
    assert {tuple(map(str, row)) for row in engine.result("path")} == {(f"<{x}>", f"<{y}>") for x, y in ours}, (
        "different answers"
    )
    yield Row(work, f"{our_time:.2f} s", f"Nemo {min(times):.2f} s", min(times) / our_time, "theirs without loading")
