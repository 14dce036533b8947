"""What the live page says about one answer, for programs of all kinds: every answer of every step is asked about."""

from __future__ import annotations

import argparse
import json
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from presage.cli.watch import prepare
from presage.web.board import BoardEntry
from presage.web.details import TOO_LONG, Details
from presage.web.replay import Replay

ROOT = Path(__file__).parent.parent.parent


def prepared(
    folder: Path, program: str, facts: list[tuple[Any, ...]], emit: str | None = None, until: str | None = None
) -> tuple[Replay, Details]:
    """A replay of facts given as (predicate, arguments, time[, arrival])."""
    names = ("pred", "args", "time", "arrives")
    (folder / "program.psg").write_text(program)
    lines = [json.dumps(dict(zip(names, fact, strict=False))) for fact in facts]
    (folder / "facts.jsonl").write_text("".join(f"{line}\n" for line in lines))
    options = argparse.Namespace(
        program=folder / "program.psg", facts=[folder / "facts.jsonl"], static=[], until=until, emit=emit, speed=0.0,
        history=1_000_000,
    )  # fmt: skip
    return prepare(options, options.program.read_text())


def told(replay: Replay, details: Details) -> dict[str, list[dict[str, Any]]]:
    """For each answer all that is said about it, step by step."""
    found: dict[str, list[dict[str, Any]]] = {}
    replay.play()
    while replay.tick() is not None:
        for key, entry in replay.board.rows.items():
            assert json.dumps(details.line(entry))
            found.setdefault(key, []).append(json.loads(json.dumps(details.of(entry))))
    assert not replay.problem
    return found


def statuses(said: list[dict[str, Any]]) -> list[str]:
    kept = [said[0]["line"]["status"]]
    for each in said:
        if each["line"]["status"] != kept[-1]:
            kept.append(each["line"]["status"])
    return kept


def test_ways_come_and_go(tmp_path: Path) -> None:
    program = """\
timeline discrete.
input temp(device, level) delay 1.
input ack(device) delay 1.
alarm(X)@T :- temp(X, high)@T, not ack(X)@T+1.
alarm(X)@T :- temp(X, high)@T, temp(X, crit)@T+2.
query alarm(X).
"""
    facts = [
        ("temp", ["a", "high"], 0),
        ("ack", ["a"], 1),
        ("temp", ["a", "crit"], 2),
        ("temp", ["b", "high"], 0),
        ("ack", ["b"], 1),
    ]
    said = told(*prepared(tmp_path, program, facts))
    a, b = said["alarm(a)@0"], said["alarm(b)@0"]
    assert statuses(a) == ["possible", "confirmed"] and statuses(b) == ["possible", "refuted"]
    assert [len(each["line"]["ways"]) for each in a[:2]] == [2, 1]
    assert [rule["line"] for rule in a[0]["rules"]] == [4, 5] and not a[0]["rules_are_certain"]
    assert [rule["line"] for rule in a[1]["rules"]] == [5], "the way by absence is gone"
    assert [rule["line"] for rule in a[-1]["rules"]] == [5] and a[-1]["rules_are_certain"]
    assert b[-1]["was"]["needs"] == ["temp(b, crit)@2"]


def test_several_queries_with_one_predicate(tmp_path: Path) -> None:
    program = "timeline discrete.\ninput p(x, y).\nq(X, Y) :- p(X, Y).\nquery q(a, Y).\nquery q(b, Y).\n"
    replay, details = prepared(tmp_path, program, [("p", ["a", 1], 0), ("p", ["b", 1], 0), ("p", ["c", 1], 0)])
    said = told(replay, details)
    assert {key: each[0]["query"] for key, each in said.items()} == {"q(a, 1)@0": "q(a, Y)", "q(b, 1)@0": "q(b, Y)"}
    assert details.about()["keys"] == ["Y"]


def test_static_facts_are_part_of_proofs(tmp_path: Path) -> None:
    program = "timeline discrete.\nstatic plan(x).\ninput p(x).\nq(X) :- p(X), plan(X).\nquery q(X).\n"
    replay, details = prepared(tmp_path, program, [("p", ["a"], 0), ("plan", ["a"])])
    ((said,),) = told(replay, details).values()
    kinds = {step["kind"] for step in said["proof"]["because"]}
    assert kinds == {"given", "known"}


def test_facts_that_come_too_late_are_counted_and_prove_nothing(tmp_path: Path) -> None:
    program = "timeline discrete.\ninput p(x).\nq(X) :- p(X).\nquery q(X).\n"
    replay, details = prepared(tmp_path, program, [("p", ["a"], 0, 3), ("p", ["b"], 1)])
    assert list(told(replay, details)) == ["q(b)@1"]
    assert replay.board.summary.late == 1 and replay.board.summary.facts == 2


def test_dense_time_and_intervals(tmp_path: Path) -> None:
    program = "timeline dense.\ninput p(x).\nq(X) :- once(0,1/3] p(X).\nquery q(X).\n"
    replay, details = prepared(tmp_path, program, [("p", ["a"], "1/2")], until="2")
    ((said, *_),) = told(replay, details).values()
    assert said["line"]["answer"] == "q(a)@(0.5,5/6]"
    assert said["proof"] is not None, said["no_proof"]


def test_premises_with_open_ends_are_shown(tmp_path: Path) -> None:
    program = """\
timeline dense.
input beat(machine) delay 1.
running(X) :- once[0,10] beat(X).
lost(X) :- running(X), historically[0,5] not beat(X).
query lost(X).
"""
    replay, details = prepared(tmp_path, program, [("beat", ["press"], 0), ("beat", ["press"], 2)])
    said = told(replay, details)["lost(press)@T"]
    assert any("T]" in need for each in said for way in each["line"]["ways"] for need in way["needs"])
    assert all(way.get("proof") is None for each in said for way in each["line"]["ways"] if "T]" in str(way["needs"]))


def test_what_refuted_an_answer_is_a_sentence(tmp_path: Path) -> None:
    program = """\
timeline discrete.
input temp(device, level) delay 1.
input ack(device).
alarm(X)@T :- temp(X, high)@T, temp(X, high)@T+1, not ack(X)@T+2.
query alarm(X).
"""
    facts = [("temp", [name, "high"], time) for name, time in (("a", 0), ("b", 0), ("b", 1))]
    said = told(*prepared(tmp_path, program, [*facts, ("ack", ["b"], 2)]))
    assert said["alarm(a)@0"][-1]["why"] == "temp(a, high)@1 did not arrive by 2"
    assert said["alarm(b)@0"][-1]["why"] == "ack(b)@2 arrived at 2"
    assert not any(each["why"] for each in said["alarm(a)@0"] if each["line"]["status"] == "possible")


def test_what_goes_on_is_one_answer_where_nothing_can_be_foretold(tmp_path: Path) -> None:
    program = """\
timeline discrete.
input temp(device, celsius: int).
hot(B) :- temp(B, C), C >= 70.
exists I: incident(B, I) :- hot(B), not once[1] hot(B).
incident(B, I)@T+1 :- incident(B, I)@T, hot(B)@T+1.
query incident(B, I).
"""
    heat = [("temp", ["b1", celsius], time) for time, celsius in enumerate([60, 71, 72, 73, 60, 75])]
    said = told(*prepared(tmp_path, program, heat))
    assert list(said) == ["incident(b1, _:1)@1", "incident(b1, _:2)@5"]
    assert statuses(said["incident(b1, _:1)@1"]) == ["holds", "confirmed"]
    assert said["incident(b1, _:1)@1"][-1]["line"]["answer"] == "incident(b1, _:1)@[1,3]"
    assert statuses(said["incident(b1, _:2)@5"]) == ["holds", "confirmed"], "it ends with the run"
    assert "_:1" in said["incident(b1, _:1)@1"][0]["no_proof"]


def test_what_goes_on_has_a_proof(tmp_path: Path) -> None:
    program = "timeline discrete.\ninput temp(device, celsius: int).\nhot(D) :- temp(D, C), C >= 70.\nquery hot(D).\n"
    heat = [("temp", ["b1", celsius], time) for time, celsius in enumerate([60, 71, 72, 60])]
    first = told(*prepared(tmp_path, program, heat, emit="states"))["hot(b1)@1"][0]
    assert first["line"]["status"] == "holds" and first["proof"]["holds"] == "hot(b1)@1"


def test_a_chain_of_reasons_that_is_too_long(tmp_path: Path) -> None:
    program = """\
timeline discrete.
input begin(x).
input go.
s(X) :- begin(X).
s(X)@T+1 :- s(X)@T, go@T.
query s(X).
"""
    length = 400
    facts = [("begin", ["a"], 0), *(("go", [], time) for time in range(length))]
    replay, details = prepared(tmp_path, program, facts, emit="confirmed", until="500")
    replay.play()
    while replay.tick() is not None:
        pass

    def of(time: int) -> BoardEntry:
        return next(each for each in replay.board.rows.values() if time in (each.answer.time, each.answer.start))

    assert details.of(of(50))["proof"]
    long = details.of(of(length))
    assert long["proof"] is None and long["no_proof"] == TOO_LONG
    assert [rule["line"] for rule in long["rules"]] == [4, 5]


@pytest.mark.parametrize("file", sorted((ROOT / "presage/web/page").iterdir()), ids=lambda file: file.name)
def test_the_page_is_part_of_the_package(file: Path) -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["presage"]
    assert any(fnmatch(str(file.relative_to(ROOT / "presage")), pattern) for pattern in declared)
