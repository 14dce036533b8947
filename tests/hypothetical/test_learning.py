"""Rates and delays that are left to the stream: read, estimated, saved; and what is said comes true as often."""

from __future__ import annotations

import random

import pytest

import presage
from bench.calibration import measured
from presage.errors import ProgramError
from presage.hypothesis.learning import Watched

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
