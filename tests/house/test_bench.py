"""The comparisons of bench/ compare like with like: small versions give the same answers. Nothing is timed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from bench import (
    aggregates,
    breadth,
    by_hand,
    closure,
    existential,
    growth,
    hypothetical,
    memory,
    network,
    peer_classes,
    peers,
    shortstop,
    windows,
)
from bench.meteor import spans_of_answers


def test_the_loop_by_hand() -> None:
    stream = by_hand.make_stream(50, 20)
    assert by_hand.by_engine(50, stream)[0] == by_hand.by_hand(50, stream)[0] > 0


@pytest.mark.parametrize(
    ("rules", "by_hand"),
    [
        (aggregates.SUMS, aggregates.sums_by_hand),
        (aggregates.ENOUGH, aggregates.enough_by_hand),
        (aggregates.GREATEST, aggregates.greatest_by_hand),
    ],
)
def test_aggregates(rules: str, by_hand: Callable[[aggregates.KeyedStream, int], aggregates.Told]) -> None:
    stream = aggregates.make_stream(400, 10, 7)
    told = by_hand(stream, 4)
    assert aggregates.by_engine(rules.format(back=4), stream.table) == len(told) > 0


def test_idioms_of_aggregates() -> None:
    stream = aggregates.make_stream(200, 10, 7)
    assert len(list(aggregates.idioms(stream))) == len(aggregates.IDIOMS)
    assert len(list(aggregates.with_possible_answers(stream))) == 2 * len(aggregates.HYPOTHETICAL)


def test_aggregates_by_duckdb() -> None:
    pytest.importorskip("duckdb")
    stream = aggregates.make_stream(200, 10, 7)
    names = [set(some) for _, some, _ in stream.steps()]
    rows = sum(len(set().union(*names[max(0, now - 4) : now + 1])) for now in range(len(names)))
    assert aggregates.sums_by_duckdb(stream, 4) == rows


def test_tuples_and_tables_of_shortstop(tmp_path: Path) -> None:
    steps = shortstop.in_steps(list(islice(shortstop.make_stream(), 3000)))
    found = spans_of_answers(shortstop.by_push(steps))
    assert found == spans_of_answers(shortstop.by_push(shortstop.as_tables(steps))) and found
    assert len(shortstop.read_stream(tmp_path)) == len(shortstop.read_stream(None))


def test_closure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closure, "NODES", 40)
    monkeypatch.setattr(closure, "EDGES", 60)
    edges = closure.make_edges()
    assert {answer.arguments for answer in closure.by_push(edges)} == closure.by_sets(edges)


def test_network_flags_what_is_often_received() -> None:
    facts: list[network.Fact] = [
        ("Connect", ("b", "a"), (0, 50)),
        ("Monit", ("a", "s"), (0, 12)),
        *(("Signal", ("s",), (time, time)) for time in (0, 2, 4, 6, 8, 20)),
    ]
    # Received from 0 to 8, so near until 10 and often from 4 on; b is told at 4 and hears of it until 3 later.
    steps = network.in_steps(facts)
    for given in (steps, network.as_tables(steps)):
        assert spans_of_answers(network.by_push(given)) == {("a", "s"): [(4, 10)], ("b", "s"): [(4, 10)]}


def test_filled_reasoners_remember_what_they_were_given() -> None:
    assert memory.filled(np.arange(500)).remembered >= 500


@pytest.mark.parametrize("each", breadth.CLASSES, ids=lambda each: each.name)
def test_ordinary_programs_by_hand(each: breadth.Class, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breadth, "KEYS", 40)
    monkeypatch.setattr(breadth, "STEPS", 10)
    stream = each.stream()
    assert breadth.ours(each, stream, (0,))[0] == each.by_hand(breadth.as_lists(stream))


@pytest.mark.parametrize("each", peer_classes.CLASSES, ids=lambda each: each.name)
def test_patterns_by_the_definition_and_by_peers(
    each: peer_classes.PatternClass, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, small in (("KEYS", 20), ("MANY_KEYS", 40), ("STEPS", 800), ("FACTS", 4_000)):
        monkeypatch.setattr(peer_classes, name, small)
    events = each.stream()
    want = each.matches(events)
    assert want > 0
    for pushed in (False, True):
        assert [taken.matches for taken in peers.ours(each, events, pushed=pushed, times=2)] == [want, want]
    for peer in peers.PEERS:
        if peer.statement(each) and any((peers.FETCHED / peer.harness).glob("classes/*.class")):
            taken = peers.by_peer(peer, peers.class_path(peer), each, events, 2)
            assert [found.matches for found in taken] == [want, want]


def test_peers_that_count_otherwise_fail() -> None:
    right, wrong = peers.Taken(3, 1.0), peers.Taken(2, 2.0)
    assert peers.compared("patterns", 10, 3, right, right, "Esper").ratio == 1
    row = peers.compared("patterns", 10, 3, right, wrong, "Esper")
    assert row.ratio is None and row.note == "FAILED: Esper counted 2, of 3 matches"
    assert peers.best([right, right, right, wrong]).matches < 0


@pytest.mark.parametrize("delay", [0, 3])
def test_turbines_by_hand_and_by_columns(delay: int) -> None:
    stream = hypothetical.make_stream(200, 12, delay)
    assert hypothetical.by_columns(hypothetical.turbines(delay), stream)[0] == hypothetical.by_hand(delay, stream)[0]


def test_state_follows_what_arrives_not_the_subsets_of_premises() -> None:
    assert hypothetical.state_of(6, values=50) <= 3 * hypothetical.state_of(3, values=50)


def test_hospital_has_answers() -> None:
    facts, changes, _ = hypothetical.hospital(20, 5)
    assert facts and changes


def test_windows_by_hand_and_by_tables() -> None:
    stream = windows.make_stream(50, 25, 100)
    found = windows.by_push(windows.RULES, windows.as_tables(stream))
    assert found == windows.by_sets(stream) and any(found)


def test_belts_and_their_rewriting() -> None:
    nemo = pytest.importorskip("nmo_python", reason="nemo-python is not installed (the bench extra has it)")
    stream = existential.Stream(existential.BELTS, list(existential.belts(8, 12)), existential.STATICS)
    _, counts, _ = existential.by_push(stream, existential.LOOKS_BACK)
    asked = ["bOpr", "brkG", "incId", "assign", "block"]
    assert counts[-1] == existential.by_nemo(nemo, stream, [11], asked)[1]
    assert set(counts[-1]) == set(asked)


def test_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "KEYS", 400)
    assert growth.hot_keys(1)[0] == growth.hot_keys(3)[0] > 0
    for formula in growth.FORMULAS:
        for timeline in ("discrete", "dense"):
            assert len({growth.with_range(formula, span, timeline)[0] for span in growth.SPANS}) == 1
    monkeypatch.setattr(growth, "MANY", 2_000)
    assert growth.step_among(2_000) > 0
