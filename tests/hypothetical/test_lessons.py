"""What is learned of a program serves all who run it: in this process, and in later ones."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

import presage
from presage.answers import Answer
from presage.hypothesis.courses import keeping, lessons
from presage.hypothesis.courses.lessons import Lessons
from presage.run.courses import CourseSupposing
from tests.random_courses import Case, make_case

MANY = """
timeline discrete.
input pos(v).
input moves(v).
stop(X) :- moves(X), once[1,2] pos(X), not moves(X)@0.
stop(X) :- moves(X), eventually[1,3] pos(X).
near(X)@T :- moves(X)@T, pos(X)@U, T < U, U <= T + 5.
query stop(X).
query near(X).
"""


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is known of any program, and folders are this test's."""
    monkeypatch.setattr(CourseSupposing, "few", 4)
    monkeypatch.setattr(CourseSupposing, "patience", math.inf)
    monkeypatch.setattr(lessons, "_of_programs", type(lessons._of_programs)())
    monkeypatch.setattr(keeping, "WORTH", 1)
    monkeypatch.setenv("PRESAGE_LESSONS", "on")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def run(program: str) -> tuple[list[Answer], CourseSupposing]:
    chance = random.Random(1)
    reasoner = presage.Reasoner(presage.parse(program))
    told: list[Answer] = []
    for now in range(30):
        facts = [(chance.choice(["pos", "moves"]), (f"v{chance.randrange(6)}",), now) for _ in range(3)]
        told += reasoner.push(facts, now)
    return told, of_courses(reasoner)


def of_courses(reasoner: presage.Reasoner) -> CourseSupposing:
    engine: Any = reasoner.engine
    assert isinstance(engine.supposing, CourseSupposing)
    assert engine.supposing.is_many
    return engine.supposing


def test_the_second_reasoner_of_a_program_learns_nothing() -> None:
    first, one = run(MANY)
    second, other = run(MANY)
    assert one.tracer.worked_out > 10
    assert other.tracer.worked_out == 0
    assert first == second


def test_so_does_one_of_a_later_process() -> None:
    first, one = run(MANY)
    keeping._keep_the_rest()
    lessons._of_programs.clear()
    second, other = run(MANY)
    assert other.lessons is not one.lessons
    assert other.tracer.worked_out == 0
    assert first == second


@pytest.mark.parametrize("seed", range(12))
def test_what_is_read_is_what_was_written(seed: int) -> None:
    case = make_case(seed)
    first, one = run_case(case)
    if one is None:
        pytest.skip("there are no individuals")
    keeping._keep_the_rest()
    again = Lessons()
    keeping.recall(again, one.mark)
    assert again.known == one.lessons.known
    assert again.hopeless == one.lessons.hopeless
    lessons._of_programs.clear()
    assert run_case(case)[0] == first


def run_case(case: Case) -> tuple[list[Answer], CourseSupposing | None]:
    reasoner = presage.Reasoner(presage.parse(case.text))
    told = [answer for now, facts in sorted(case.steps) for answer in reasoner.push(facts, now)]
    found = getattr(reasoner.engine, "supposing", None)
    return told, found if isinstance(found, CourseSupposing) and found.lessons.size else None


def test_damaged_lessons_are_passed_over(tmp_path: Path) -> None:
    first, one = run(MANY)
    keeping._keep_the_rest()
    (file,) = (tmp_path / "presage-lessons").iterdir()
    blob = file.read_bytes()
    for damaged in (b"", blob[:100], blob[:-1], bytes([*blob[:60], blob[60] ^ 1, *blob[61:]])):
        file.write_bytes(damaged)
        lessons._of_programs.clear()
        second, other = run(MANY)
        assert other.tracer.worked_out == one.tracer.worked_out
        assert first == second


def test_nothing_is_kept_where_nothing_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    first, _ = run(MANY)
    keeping._keep_the_rest()
    assert first


def test_only_so_many_files_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "MOST_FILES", 2)
    for wide in (5, 6, 7):
        run(MANY.replace("T + 5", f"T + {wide}"))
    keeping._keep_the_rest()
    assert len(list((tmp_path / "presage-lessons").iterdir())) == 2
