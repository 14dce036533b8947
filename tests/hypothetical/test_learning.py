"""Rates and delays that are left to the stream: read, estimated, saved; and what is said comes true as often."""

from __future__ import annotations

import json
import random

import pytest

import presage
from bench.calibration import measured
from presage.errors import ProgramError
from presage.hypothesis.learning import Learned, Watched

TEXT = """timeline discrete. input a(x) delay 4 learned rate learned. input b(x) rate learned.
c(X)@T+1 :- a(X)@T, b(X)@T+1. query c(X)."""


def test_read_and_printed() -> None:
    program = presage.parse(TEXT)
    assert [each.learned for each in program.inputs] == [("delay", "rate"), ("rate",)]
    assert "input a(x) delay 4 learned rate learned." in str(program)
    assert presage.parse(str(program)) == program
    assert presage.Program.of_plain(program.plain()) == program
    # `learned` is no word of the language elsewhere.
    assert presage.check("input learned(x). learned2(X) :- learned(X), X != learned. query learned2(X).").ok


@pytest.mark.parametrize("wrong", ["delay {0: 0.5} learned", "delay learned"])
def test_what_is_not_learned(wrong: str) -> None:
    with pytest.raises(ProgramError):
        presage.parse(f"input a(x) {wrong}. c(X) :- a(X). query c(X).")


def test_estimates_approach_what_is() -> None:
    chance = random.Random(1)
    known = Watched(4.0)
    for now in range(2000):
        for name, rate in (("u", 0.8), ("v", 0.1)):
            if chance.random() < rate:
                known.arrived((name,), now, now + chance.choice((0, 0, 0, 2)))
        known.settle(now - 4)
    assert abs(known.rate(("u",)) - 0.8) < 0.05 and abs(known.rate(("v",)) - 0.1) < 0.05
    assert 0.1 < known.rate(("never seen",)) < 0.8
    assert abs(known.by(0) - 0.75) < 0.06 and abs(known.by(2) - 1) < 0.06 and known.by(4) == 1.0
    for now in range(2000, 5000):  # and follow where it changes
        if chance.random() < 0.3:
            known.arrived(("u",), now, now)
        known.settle(now - 4)
    assert abs(known.rate(("u",)) - 0.3) < 0.06


def watched(chance: random.Random, rates: list[float], known: Watched, begin: int = 0) -> list[float]:
    """What is said of one fact's rate at each time, while it comes as often as the rates say."""
    said = []
    for now, rate in enumerate(rates, begin):
        if chance.random() < rate:
            known.arrived(("u",), now, now)
        known.settle(now)
        said.append(known.rate(("u",)))
    return said


@pytest.mark.parametrize(("before", "after"), [(0.8, 0.2), (0.1, 0.7), (0.95, 0.0)])
def test_what_contradicts_what_was_learned_is_believed_soon(before: float, after: float) -> None:
    """Half of what was remembered would be left after 500 time points."""
    for seed in range(20):
        said = watched(random.Random(seed), [before] * 1500 + [after] * 100, Watched(0.0))
        assert abs(said[1499] - before) < 0.1 and abs(said[-1] - after) < 0.25


@pytest.mark.parametrize("rate", [0.002, 0.05, 0.5, 0.98])
def test_chance_is_no_contradiction(rate: float) -> None:
    """Also where something rare comes, which is far from its rate then."""
    for seed in range(20):
        known = Watched(0.0)
        watched(random.Random(seed), [rate] * 2000, known)
        assert all(each.points > 300 for each in known.own.values())


def test_what_was_learned_lately_is_saved_and_states_of_before_are_read() -> None:
    def learned() -> Learned:
        found = Learned.__new__(Learned)
        found.watched = {"a": Watched(0.0)}
        return found

    first, chance = learned(), random.Random(3)
    watched(chance, [0.9] * 500, first.watched["a"])
    saved = json.loads(json.dumps(first.saved(lambda value: value)))
    older = json.loads(json.dumps(saved))
    older["a"]["own"] = [row[:4] for row in older["a"]["own"]]
    found = []
    for given in (None, saved, older):
        now = first if given is None else learned()
        if given is not None:
            now.load(given, lambda value: value)
        found.append(watched(random.Random(4), [0.1] * 200, now.watched["a"], 500))
    assert found[0] == pytest.approx(found[1]) and abs(found[2][-1] - 0.1) < 0.2


def test_nothing_but_confidence_changes_and_it_is_saved() -> None:
    plain = presage.parse(TEXT.replace(" learned", "", 1).replace("rate learned", ""))
    learned = presage.parse(TEXT)
    chance = random.Random(2)
    reasoners = presage.Reasoner(plain, emit="changes"), presage.Reasoner(learned, emit="changes")
    again = reasoners[1]
    confidences = set()
    for now in range(60):
        facts = [(chance.choice("ab"), (chance.choice("uv"),), now) for _ in range(chance.randint(0, 2))]
        facts = [(name, row, max(0, time - (chance.randint(0, 3) if name == "a" else 0))) for name, row, time in facts]
        told = [list(each.push(facts, now=now)) for each in (reasoners[0], again)]
        for first, second in zip(*told, strict=True):
            lines = [{**each.to_json(), "confidence": None, "ways": None} for each in (first, second)]
            assert lines[0] == lines[1]
            if second.status == "possible":
                assert second.confidence is not None and 0 <= second.confidence <= 1
                confidences.add(round(second.confidence, 3))
        if now == 30:
            saved = again.save()
            again = presage.Reasoner.restore(learned, saved)
    assert len(confidences) > 10


def test_what_is_said_comes_true_as_often() -> None:
    for drifts, most in ((False, 0.06), (True, 0.12)):
        rows, error = measured(drifts, range(1), 600)
        assert sum(count for count, _, _ in rows) > 300
        assert error < most
