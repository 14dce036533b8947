"""Rules that change while a reasoner runs, and what would be if: each against reasoners that ran that way all along."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import presage
from presage.answers import Answer
from presage.cli import main
from presage.errors import PresageError

SETTINGS = "timeline discrete. input p(x) delay 2. input q(x) delay 1.\n"
A = "a(X) :- p(X), once[0,3] q(X).\n"
B = "b(X)@T+1 :- p(X)@T, p(X)@T+1.\n"
C = "c(X) :- q(X), not once[0,2] p(X).\n"


def program(*rules: str) -> presage.Program:
    queries = "".join(f"query {rule[0]}(X).\n" for rule in rules)
    return presage.parse(SETTINGS + "".join(rules) + queries)


def stream(seed: int, length: int = 10) -> list[list[tuple[str, tuple[str], int]]]:
    chance = random.Random(seed)
    return [
        [
            (chance.choice("pq"), (chance.choice("uvw"),), max(0, now - chance.randint(0, 1)))
            for _ in range(chance.randint(0, 3))
        ]
        for now in range(length)
    ]


def lines(answers: Any, *predicates: str) -> list[dict[str, Any]]:
    found = [answer.to_json() for answer in answers if not predicates or answer.predicate in predicates]
    return sorted(found, key=lambda line: str(line["answer"]))


@pytest.mark.parametrize("emit", ["changes", "confirmed"])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_unchanged_goes_on_as_if_nothing_had_happened(seed: int, emit: str) -> None:
    chance = random.Random(seed)
    turn = chance.randint(1, 7)
    both, alone = presage.Reasoner(program(A, B), emit=emit), presage.Reasoner(program(A), emit=emit)
    fresh = presage.Reasoner(program(C), emit=emit)
    for now, facts in enumerate(stream(seed)):
        if now == turn:
            closing = both.replace(presage.parse(SETTINGS + C + "query c(X).\nquery a(X).\n" + A))
            assert {(each.query, each.kind) for each in both.replaced} == {
                ("a(X)", "unchanged"),
                ("b(X)", "removed"),
                ("c(X)", "new"),
            }
            assert all(each.predicate == "b" and each.status == "unsupported" for each in closing)
            if seed % 2:
                both = presage.Reasoner.restore(both.program, both.save())
        told = both.push(facts, now=now)
        assert lines(told, "a") == lines(alone.push(facts, now=now), "a")
        if now >= turn:
            began = [each for each in fresh.step(fresh.given.facts(facts), now) if since(each, turn - 1)]
            assert lines(told, "c") == lines(began)
            assert not lines(told, "b")
    if emit == "changes":
        assert lines(both.answers(), "a") == lines(alone.answers())


def since(answer: Answer, begin: int) -> bool:
    return answer.time is None or answer.time >= begin


def test_what_was_open_is_closed() -> None:
    reasoner = presage.Reasoner(program(A, B), emit="changes")
    (told,) = [each for each in reasoner.push([("p", ("u",), 0)], now=0) if each.predicate == "b" and each.time == 1]
    assert told.status == "possible"
    closing = {each.answer: each.status for each in reasoner.replace(program(A))}
    assert closing["b(u)@1"] == "unsupported" and all(text.startswith("b") for text in closing)
    assert [each.kind for each in reasoner.replaced] == ["unchanged", "removed"]


@pytest.mark.parametrize("timeline", ["discrete", "dense"])
def test_what_goes_on_is_closed_as_far_as_the_run_went(timeline: str) -> None:
    head = f"timeline {timeline}. input p(x, y).\n"
    on, off = "on(X) :- once[0,2] p(X, high). query on(X).\n", "off(X) :- p(X, low). query off(X).\n"
    reasoner = presage.Reasoner(presage.parse(head + on + off), emit="states")
    (holds,) = reasoner.push([("p", ("u", "high"), 0)], now=0)
    assert not reasoner.push([("p", ("u", "high"), 1)], now=2)
    (closing,) = reasoner.replace(presage.parse(head + off))
    assert (holds.status, closing.status, closing.key) == ("holds", "confirmed", holds.key)
    assert (closing.start, closing.end, closing.bounds, closing.now) == (0, 2, "[]", 2)
    # And who goes on with other rules has an end, too.
    (begun,) = reasoner.push([("p", ("v", "low"), 4)], now=4)
    (ended,) = reasoner.end()
    assert (begun.status, ended.status, ended.key) == ("holds", "confirmed", begun.key)


def test_a_rule_below_counts_and_its_layout_does_not() -> None:
    reasoner = presage.Reasoner(presage.parse("input p(x). d(X) :- p(X). a(X) :- d(X). query a(X)."))
    reasoner.replace(presage.parse("input p(x).\n% the same\nquery a(X).\na(X) :- d(X).\nd(X) :-   p(X)."))
    assert [each.kind for each in reasoner.replaced] == ["unchanged"]
    reasoner.replace(presage.parse("input p(x). d(X) :- p(X), X != b. a(X) :- d(X). query a(X)."))
    (change,) = reasoner.replaced
    assert (change.kind, change.because) == ("changed", ("+ d(X) :- p(X), X != b.", "- d(X) :- p(X)."))
    assert [str(each) for each in reasoner.push([("p", ("b",), 0), ("p", ("c",), 0)], now=0)] == ["confirmed a(c)@0"]


def test_from_history() -> None:
    """What is new knows what came before where it is told so, and then stands as if it had always been there."""
    for seed in range(5):
        past, coming = stream(seed)[:6], stream(seed)[6:]
        always, changed = presage.Reasoner(program(B, C)), presage.Reasoner(program(B))
        for now, facts in enumerate(past):
            always.push(facts, now=now)
            changed.push(facts, now=now)
        history = [(name, row, time) for facts in past for name, row, time in facts]
        changed.replace(program(B, C), history=history)
        for now, facts in enumerate(coming, 6):
            assert lines(changed.push(facts, now=now)) == lines(always.push(facts, now=now))


def test_static_facts_stay() -> None:
    text = "input p(x). static s(x). a(X) :- p(X), s(X). query a(X)."
    reasoner = presage.Reasoner(presage.parse(text), static={"s": [("u",)]})
    reasoner.push([("p", ("u",), 0)], now=0)
    reasoner = presage.Reasoner.restore(reasoner.program, reasoner.save())
    reasoner.replace(presage.parse(text + " b(X) :- s(X), p(X), p(X). query b(X)."))
    found = {str(each) for each in reasoner.push([("p", ("u",), 1), ("p", ("v",), 1)], now=1)}
    assert found == {"confirmed a(u)@1", "confirmed b(u)@1"}


def test_static_facts_that_a_new_query_does_not_read_are_passed_over() -> None:
    text = "input p(x). static s(x). a(X) :- p(X), s(X). query a(X)."
    reasoner = presage.Reasoner(presage.parse(text), static={"s": [("u",)]})
    reasoner.push([("p", ("u",), 0)], now=0)
    more = presage.parse(text + " b(X) :- p(X). query b(X).")
    with pytest.raises(PresageError, match="no static `t`"):
        reasoner.replace(more, static={"t": [("u",)]})
    reasoner.replace(more, static={"s": [("u",)]})
    found = {str(each) for each in reasoner.push([("p", ("u",), 1), ("p", ("v",), 1)], now=1)}
    assert found == {"confirmed a(u)@1", "confirmed b(u)@1", "confirmed b(v)@1"}


def test_time_cannot_change() -> None:
    reasoner = presage.Reasoner(presage.parse("input p(x). a(X) :- p(X). query a(X)."))
    with pytest.raises(PresageError, match="cannot change"):
        reasoner.replace(presage.parse("tick 1s. input p(x). a(X) :- p(X). query a(X)."))
    assert [str(each) for each in reasoner.push([("p", ("u",), 0)], now=0)] == ["confirmed a(u)@0"]


def test_several_models_change_as_a_whole() -> None:
    text = "input g(x). s(X) | t(X) :- g(X). :- t(X), g(X). query s(X)."
    reasoner = presage.Reasoner(presage.parse(text))
    reasoner.push([("g", ("u",), 0)], now=0)
    reasoner.replace(presage.parse(text + " r(X) :- s(X). query r(X)."))
    assert {each.kind for each in reasoner.replaced} <= {"changed", "new"}
    found = {each.answer for now in (1, 2) for each in reasoner.push([("g", ("v",), now)], now=now)}
    assert {"s(v)@1", "r(v)@1"} <= found


# -- what if ---------------------------------------------------------------------------------------

KINDS = {
    "by columns": "input p(x) delay 2. b(X)@T+1 :- p(X)@T, p(X)@T+1. query b(X). input q(x).",
    "negation": "input p(x) delay 2. input q(x) delay 1. a(X)@T+1 :- p(X)@T, not q(X)@T+1. query a(X).",
    "past": SETTINGS + A + "query a(X).",
    "dense": "timeline dense. input p(x) delay 2. input q(x) delay 2. " + A + "query a(X).",
    "several models": "input p(x) delay 2. input q(x) delay 2. s(X) | t(X) :- p(X). :- t(X), q(X). query s(X).",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_what_would_be_is_what_is_where_it_came(kind: str, seed: int) -> None:
    """Against a reasoner that was given the supposed facts with those of the last step."""
    chance = random.Random(seed)
    made = presage.parse(KINDS[kind])
    emit = None if kind == "several models" else chance.choice(("changes", "confirmed"))
    asked, given = presage.Reasoner(made, emit=emit), presage.Reasoner(made, emit=emit)
    facts = stream(seed, 4)
    supposed = [("p", (chance.choice("uv"),), chance.randint(2, 5)), ("q", ("u",), chance.randint(3, 5))]
    confirmed: tuple[set[str], set[str]] = (set(), set())
    for now, step in enumerate(facts):
        confirmed[0].update(each.answer for each in asked.push(step, now=now) if each.status == "confirmed")
        more = [*step, *supposed] if now == 3 else step
        confirmed[1].update(each.answer for each in given.push(more, now=now) if each.status == "confirmed")
    before = lines(asked.answers()), asked.save()
    found = asked.suppose(supposed)
    assert (lines(asked.answers()), asked.save()) == before
    confirmed[0].update(each.answer for each in found if each.status == "confirmed")
    assert confirmed[0] == confirmed[1]
    stands = {each["answer"]: each for each in before[0] if each["status"] == "possible"}
    for each in found:
        stands.pop(each.answer, None)
        if each.status == "possible":
            stands[each.answer] = each.to_json()
    wanted = {each.answer: each.to_json() for each in given.answers() if each.status == "possible"}
    assert stands == wanted


def test_a_missing_premise_supposed() -> None:
    text = "input temp(x, y). flag(X) :- temp(X, high). cool(X)@T+1 :- flag(X)@T, flag(X)@T+1. query cool(X)."
    reasoner = presage.Reasoner(presage.parse(text))
    (told,) = reasoner.push([("temp", ("wt25", "high"), 0)], now=0)
    assert told.needs == ("temp(wt25, high)@1",)
    found = reasoner.suppose([("temp", ("wt25", "high"), 1)])
    assert next(str(each) for each in found) == "confirmed cool(wt25)@1"
    late = reasoner.suppose([("temp", ("wt26", "high"), 0)])
    assert list(late) == [] and late.late == (("temp", ("wt26", "high"), 0),)
    assert [str(each) for each in reasoner.push([], now=1)] == ["refuted cool(wt25)@1"]


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cool.psg").write_text(
        "input temp(x, y). flag(X) :- temp(X, high). cool(X)@T+1 :- flag(X)@T, flag(X)@T+1. query cool(X)."
    )
    (tmp_path / "facts.jsonl").write_text('{"pred": "temp", "args": ["wt25", "high"], "time": 0}\n')
    (tmp_path / "more.jsonl").write_text(
        '{"pred": "temp", "args": ["wt25", "high"], "time": 1}\n{"pred": "temp", "args": ["wt9", "high"], "time": 0}\n'
    )
    call = ["run", str(tmp_path / "cool.psg"), "--facts", str(tmp_path / "facts.jsonl")]
    assert main([*call, "--suppose", str(tmp_path / "more.jsonl"), "--json"]) == 0
    out, err = capsys.readouterr()
    found = [json.loads(line) for line in out.splitlines()]
    assert [(each["status"], each["answer"], each.get("supposed", False)) for each in found] == [
        ("possible", "cool(wt25)@1", False),
        ("confirmed", "cool(wt25)@1", True),
        ("possible", "cool(wt25)@2", True),
    ]
    assert "temp(wt9, high)@0 can no longer come" in err
    assert main([*call, "--suppose", str(tmp_path / "more.jsonl"), "--engine", "spark"]) == 2
    assert main([*call, "--suppose", str(tmp_path / "none.jsonl")]) == 1
