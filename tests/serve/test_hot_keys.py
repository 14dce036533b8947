"""A budget for hot keys: one that floods a stream loses facts, others none, however they come."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from presage.checking import check_text
from presage.io.facts import Fact
from presage.run.hot_keys import KeyBudget, key_places
from presage.run.schedule import Arrival
from presage.serve.log import LogEntry
from presage.serve.messages import Message, MessageReader
from presage.serve.reasoning import Reasoning
from tests.serving import LISTENING, Served

PROGRAM = "timeline discrete. input seen(device, what). both(X, A) :- seen(X, A). query both(X, A)."


def said(device: str, what: int, time: int = 0) -> str:
    return f'{{"pred": "seen", "args": ["{device}", "w{what}"], "time": {time}}}'


def read(lines: list[str], together: int) -> Message:
    """Messages of so many lines: short ones are read one by one, long ones by the column."""
    found = Message()
    reader = MessageReader(Reasoning(check_text(PROGRAM), "changes", False).reasoner.checker)
    for at in range(0, len(lines), together):
        part = reader.read("\n".join(lines[at : at + together]).encode())
        found.facts += part.facts
        found.tables += part.tables
    return found


@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_aside_does_not_hang_on_how_it_came(seed: int) -> None:
    chance = random.Random(seed)
    lines = [said("hot", what) for what in range(30)] + [said(f"d{each}", 0) for each in range(40)]
    kept: set[frozenset[Fact]] = set()
    for together in (1, 10, 17, 100):
        chance.shuffle(lines)
        budget = KeyBudget(5, key_places(check_text(PROGRAM)))
        found = read(lines, together)
        taken = budget.within(Arrival(0, found.facts, found.tables))
        facts = {*taken.facts, *(fact for table in taken.tables for fact in table.facts())}
        assert len(facts) == 45 and {fact.arguments[0] for fact in budget.taken_aside()} == {"hot"}
        kept.add(frozenset(facts))
    assert len(kept) == 1


def test_repeated_facts_count_once() -> None:
    budget = KeyBudget(5, key_places(check_text(PROGRAM)))
    found = read([said("hot", what % 5) for what in range(30)], 100)
    taken = budget.within(Arrival(0, found.facts, found.tables))
    assert len(taken.facts) == 5 and not budget.taken_aside()


def test_a_reasoning_that_goes_on_from_its_snapshot_leaves_aside_the_same() -> None:
    report = check_text(PROGRAM)
    entries = [
        LogEntry("in", "\n".join(said("hot", 10 * part + what) for what in range(10)).encode()) for part in range(3)
    ]
    entries.append(LogEntry("in", b'{"now": 0}'))
    told = []
    for cut in range(len(entries)):
        reasoning = Reasoning(report, "changes", False, most_per_key=4)
        lines = []
        for number, entry in enumerate(entries, 1):
            lines += [line.text for some in reasoning.take(number, entry) for line in some]
            if number == cut:
                again = reasoning.save()
                reasoning = Reasoning.restore(report, False, {}, (), None, "UTC", number, *again, 4)
        told.append(lines)
        assert len(reasoning.beyond_budget()) == 26
    assert len(told[0]) == 4 and all(each == told[0] for each in told)


def test_a_served_pipeline_counts_them(tmp_path: Path) -> None:
    sinks = '[sinks.out]\nformat = "lines"\npath = "out.jsonl"\n'
    file = LISTENING.replace("[serve]", "most_per_key = 3\n[serve]")
    served = Served(tmp_path, sinks, PROGRAM, file).start()
    served.post("\n".join([*(said("hot", what) for what in range(20)), said("cold", 1), '{"now": 0}']))
    served.until(lambda: len(served.lines) >= 4)
    assert 'presage_skipped_rows_total{pipeline="pipeline"} 17' in served.get("/metrics")[1]
    assert served.stop() == 0 and "more facts of one key than `most_per_key` at one time" in served.said
    (tmp_path / "pipeline.toml").write_text((tmp_path / "pipeline.toml").read_text().replace("most_per_key = 3\n", ""))
    served.start(wait=False)
    assert served.process is not None and served.process.wait(60) == 1 and "`most_per_key` changed" in served.said
