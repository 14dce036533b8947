"""The DatalogMTL reasoner MeTeoR as a peer: facts in its notation, materialised semi-naively."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from bench.common import peer, silent, timed
from presage.answers import Answers

Spans = dict[tuple[str, ...], list[tuple[int, int]]]
"""For each tuple the closed intervals, coalesced, over which it holds."""


def is_installed() -> bool:
    return peer("meteor_reasoner") is not None


def materialise(facts: list[str], rules: list[str], wanted: str, count: int = 1) -> tuple[Spans, float]:
    """What holds of a predicate, and the shortest time of several runs, without that for reading the facts."""
    loader = peer("meteor_reasoner.utils.loader")
    materialize = peer("meteor_reasoner.materialization.materialize")
    times = []
    with silent():
        for _ in range(count):
            # Reasoning changes the data, so each run has its own.
            data = loader.load_dataset(facts)
            times.append(timed(lambda data=data: _reason(materialize, data, loader.load_program(rules)))[1])  # type: ignore[misc]
    return spans_of(data[wanted].items()), min(times)


def _reason(materialize: Any, data: Any, rules: Any) -> None:
    materialize.coalescing_d(data)
    complete = materialize.materialize(data, rules, mode="seminaive", K=10_000)
    assert complete, "no fixpoint"


def spans_of(found: Iterable[tuple[Any, Any]]) -> Spans:
    spans: Spans = {}
    for entity, intervals in found:
        closed = []
        for interval in intervals:
            assert not interval.left_open and not interval.right_open
            closed.append((int(interval.left_value), int(interval.right_value)))
        spans[tuple(term.name for term in entity)] = coalesced(closed)
    return spans


def spans_of_answers(steps: list[Answers]) -> Spans:
    """The same for our answers, given step by step."""
    found: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for answers in steps:
        for answer in answers:
            span = (answer.start, answer.end) if answer.time is None else (answer.time, answer.time)
            found.setdefault(answer.arguments, []).append(span)  # type: ignore[arg-type]
    return {entity: coalesced(spans) for entity, spans in found.items()}


def coalesced(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Closed intervals of the dense timeline, joined where they overlap or touch."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(intervals):
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], high))
        else:
            joined.append((low, high))
    return joined


def main() -> None:
    """A cold run: a file of facts, a file of rules, the predicate that is asked for."""
    facts, rules, wanted = sys.argv[1:]
    with open(facts, encoding="utf-8") as fact_lines, open(rules, encoding="utf-8") as rule_lines:  # noqa: PTH123
        spans, _ = materialise(list(fact_lines), [line for line in rule_lines if line.strip()], wanted)
    for entity, intervals in spans.items():
        for low, high in intervals:
            print(f"{wanted}({','.join(entity)})@[{low},{high}]")


if __name__ == "__main__":
    main()
