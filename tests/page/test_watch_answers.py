"""`presage watch --answers`: the page over what a run or a pipeline writes elsewhere. And programs with several
models."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from presage.answers import Answer
from presage.cli import main
from presage.errors import PresageError
from presage.io.output import open_output
from presage.io.reading_back import read_answers
from presage.web.elsewhere import NO_PROOF
from presage.web.follow import answers_from, follow
from tests.conftest import ARTEFACTS
from tests.watching import ROOT, TURBINE_FACTS, TURBINES, watching, watching_words

ODD = "<img src=x onerror=alert(1)>"


def line(answer: str, now: Any = 0, status: str = "possible", **more: Any) -> dict[str, Any]:
    return {
        "now": now,
        "status": status,
        "answer": answer,
        "bindings": {"X": answer.split("(")[-1][:-3]},
        "time": 0,
        **more,
    }


@cache
def lines_of_a_run() -> list[dict[str, Any]]:
    command = ["-m", "presage", "run", str(TURBINES), "--facts", str(TURBINE_FACTS)]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=ROOT, check=True)
    return [json.loads(each) for each in done.stdout.splitlines()]


# Lines.


def test_lines_read_back_say_the_same() -> None:
    given = [
        *lines_of_a_run(),
        {"now": "1/3", "status": "confirmed", "answer": "p(a)@[0,1/3)", "key": "p(a)@0", "bindings": {"X": "a"},
         "from": 0, "to": "1/3", "bounds": "[)",
         "because": [], "needs": [], "unless": [], "decided_by": None, "confidence": None},
        {"now": 4, "status": "inconsistent"},
    ]  # fmt: skip
    for each in given:
        (answer,) = read_answers(each, "here")
        assert answer.to_json() == each
    (third,) = read_answers(given[-2], "here")
    assert third.now == Fraction(1, 3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pred": "temp"}, "this is not an answer line"),
        ([], "this is not an answer line"),
        ({"now": 0, "status": "odd"}, "this is not an answer line"),
        ({"now": 0, "status": "possible"}, "it has no `answer`"),
        (line("p(a)@0", now="soon"), "`now` is 'soon', which is not a time"),
        (line("p(a)@0", now=None), "`now` is empty"),
    ],
)
def test_what_is_no_answer_line_is_told(given: Any, message: str) -> None:
    with pytest.raises(PresageError, match="file:7") as told:
        list(read_answers(given, "file:7"))
    assert message in str(told.value)


# Sources.


class Quiet(Exception):
    """A source has nothing new."""


def seen(source: Iterator[Any]) -> list[Any]:
    """The steps that a source has right now."""

    def rest(_: float) -> None:
        raise Quiet

    found = []
    try:
        for step in follow(source, rest):
            found.append((step.now, [answer.answer for answer in step.answers]))
    except Quiet:
        pass
    return found


def test_a_file_is_read_as_it_grows(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    source = answers_from(str(path))
    assert seen(iter([next(source)])) == []
    text = "".join(json.dumps(line(f"p(a{each})@0", now=each // 2)) + "\n" for each in range(4))
    path.write_text(text[:-20])
    assert seen(islice(source, 2)) == [(0, ["p(a0)@0", "p(a1)@0"]), (1, ["p(a2)@0"])]
    with path.open("a") as more:
        more.write(text[-20:])
    assert seen(islice(source, 2)) == [(1, ["p(a3)@0"])]
    path.write_text(json.dumps(line("q(b)@0", now=5)) + "\n")
    assert seen(islice(source, 2)) == [(5, ["q(b)@0"])], "a file that was begun anew is read anew"


def test_a_folder_is_read_as_it_fills(tmp_path: Path) -> None:
    def write(name: str, now: int) -> None:
        with open_output(tmp_path / name, whole_times=True) as out:
            out.write(Answer(now, "confirmed", "p", ("a",), {"X": "a"}, time=now, because=("q(a)@0",)))

    (tmp_path / "_spark_metadata").mkdir()
    (tmp_path / "_spark_metadata" / "0.json").write_text("v1\n")
    write("part-1.parquet", 3)
    source = answers_from(str(tmp_path))
    assert seen(islice(source, 2)) == [(3, ["p(a)@3"])]
    (tmp_path / "part-2.parquet").write_bytes(b"PAR1 not yet whole")
    (tmp_path / "part-3.json").write_text(json.dumps(line("p(b)@0", now=2)) + "\n")
    assert seen(islice(source, 1)) == [(2, ["p(b)@0"])]
    write("part-2.parquet", 4)
    assert (4, ["p(a)@4"]) in seen(islice(source, 4))


def test_time_does_not_go_back_with_the_clocks_of_shards() -> None:
    answers = [each for now in (3, 2, 4) for each in read_answers(line(f"p(a)@{now}", now=now), "here")]
    assert [step.now for step in follow(iter([answers]))] == [3, 3, 4]


def test_snapshots_are_taken_apart() -> None:
    shot = {"now": 1, "query": "p(X)", "answers": [line("p(a)@0"), line("p(b)@0")]}
    assert [answer.answer for answer in read_answers(shot, "here")] == ["p(a)@0", "p(b)@0"]


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--answers", "/nowhere/answers.jsonl"], 1, "there is no folder /nowhere"),
        (["--answers", "answers.csv"], 1, "answers are a file of JSON lines"),
        (["--answers", "nothing.parquet"], 1, "there is no such file"),
        (["--answers", "-", "--until", "3"], 2, "go without it"),
        (["--facts", "facts.jsonl"], 2, "a PROGRAM and its --facts go together"),
    ],
)
def test_wrong_calls(words: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "--port", "0", "--no-browser", *words]) == status
    assert message in capsys.readouterr().err


# The server.


def test_a_run_that_is_piped_in() -> None:
    command = [sys.executable, "-m", "presage", "run", str(TURBINES), "--facts", str(TURBINE_FACTS)]
    runs = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert runs.stdout is not None
    with watching_words("--answers", "-", str(TURBINES), given=runs.stdout.fileno()) as watched:
        with watched.batches() as batches:
            state = next(batch["state"] for batch in batches if batch["state"]["finished"])
        last = {each["answer"]: each["status"] for each in lines_of_a_run()}
        assert state["statuses"]["confirmed"] == sum(status == "confirmed" for status in last.values())
        _, told = watched.get("api/state")
        assert {row["answer"]: row["status"] for row in told["rows"]} == last
        _, one = watched.get("api/answer", answer="malf(wt25)@0")
        assert one["no_proof"] == NO_PROOF and [rule["line"] for rule in one["rules"]] == [5, 6, 7, 8]
        _, about = watched.get("api/program")
        assert (about["queries"], about["keys"], about["facts"]) == (["malf"], ["X"], None)
    runs.wait(timeout=60)


def test_a_line_that_is_none_is_told_on_the_page(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(line("p(a)@0")) + "\nnonsense\n")
    with watching_words("--answers", str(path)) as watched, watched.batches() as batches:
        problem = next(batch["state"]["problem"] for batch in batches if batch["state"]["problem"])
    assert problem == f"{path}:2: this is not a line of JSON"


CHOOSING = """\
timeline discrete.
input hot(d).
input block(d).
call(X) | mail(X) :- hot(X).
told(X) :- call(X).
told(X) :- mail(X).
:- told(X), block(X).
query told(X).
"""


@pytest.fixture
def choosing(tmp_path: Path) -> tuple[Path, Path]:
    program, facts = tmp_path / "choosing.psg", tmp_path / "facts.jsonl"
    program.write_text(CHOOSING)
    given = [("hot", "a", 0), ("hot", "b", 1), ("block", "b", 1), ("hot", "c", 2)]
    facts.write_text("".join(json.dumps({"pred": p, "args": [x], "time": t}) + "\n" for p, x, t in given))
    return program, facts


def test_programs_with_several_models(choosing: tuple[Path, Path]) -> None:
    with watching(*choosing, "--speed", "0") as watched:
        with watched.batches() as batches:
            next(batch for batch in batches if batch["state"]["finished"])
        rows = {row["answer"]: row["status"] for row in watched.get("api/state")[1]["rows"]}
        assert rows["told(a)@0"] == "confirmed" and rows["no model@1"] == "inconsistent"
        _, about = watched.get("api/program")
        assert about["several_models"] and about["queries"] == ["told(X)"]
        _, one = watched.get("api/answer", answer="told(a)@0")
        assert "alternatives in heads" in one["no_proof"] and [rule["line"] for rule in one["rules"]] == [4, 5, 6]


def test_broken_constraints_have_their_proof(tmp_path: Path) -> None:
    program, facts = tmp_path / "p.psg", tmp_path / "facts.jsonl"
    program.write_text(
        "timeline discrete.\ninput p(x).\n:- p(X), X = b.\n:- p(X), X = c.\na(X) :- p(X).\nquery a(X).\n"
    )
    facts.write_text('{"pred": "p", "args": ["c"], "time": 0}\n')
    with watching(program, facts, "--speed", "0") as watched:
        with watched.batches() as batches:
            next(batch for batch in batches if batch["state"]["finished"])
        name = next(
            row["answer"] for row in watched.get("api/state")[1]["rows"] if row["answer"].startswith("violated")
        )
        _, one = watched.get("api/answer", answer=name)
        assert one["proof"]["line"] == 4 and one["query"].startswith("violated(4")


# The page.


def test_a_growing_file_in_the_browser(browser: Any, tmp_path: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    path = tmp_path / "answers.jsonl"
    with watching_words("--answers", str(path)) as watched:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        wrong: list[str] = []
        page.on("pageerror", lambda problem: wrong.append(str(problem)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.goto(watched.address)
        sync_api.expect(page.get_by_role("heading", level=1)).to_have_text(path.name)
        with path.open("w") as out:
            for each in lines_of_a_run():
                out.write(json.dumps(each) + "\n")
                out.flush()
        sync_api.expect(page.locator('[data-answer="malf(wt25)@0"]')).to_have_attribute("data-status", "confirmed")
        sync_api.expect(page.locator("#count-facts")).to_have_text("–")
        assert page.locator("#query-label").is_hidden()
        with path.open("a") as out:
            out.write(json.dumps(line(f"other({ODD})@0", now=9, because=[f"p({ODD})@0"], needs=["q(a)@12"])) + "\n")
            out.write(json.dumps({"now": 9, "status": "inconsistent"}) + "\n")
        # A query that was not heard of before can be filtered by.
        sync_api.expect(page.locator("#filter-query option")).to_have_text(["all", "malf", "other"])
        sync_api.expect(page.locator('[data-answer="no model@9"]')).to_have_attribute("data-status", "inconsistent")
        page.get_by_text("Filter and order").click()
        page.locator("#filter-query").select_option(label="other")
        sync_api.expect(page.locator('[data-answer="malf(wt25)@0"]')).to_have_count(0)
        page.locator(f"[data-answer={json.dumps(f'other({ODD})@0')}] button").first.click()
        sync_api.expect(page.locator("#details-body h2")).to_have_text(f"other({ODD})@0")
        page.get_by_text("Filter and order").click()
        page.locator("#filter-query").select_option(label="all")
        ARTEFACTS.mkdir(exist_ok=True)
        page.screenshot(path=ARTEFACTS / "watch-answers.png")
        assert not wrong
        page.close()


def test_open_times_stretches_and_states_are_drawn(browser: Any, tmp_path: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    path = tmp_path / "answers.jsonl"
    long = "a_device_with_a_very_long_name_in_hall_{}"
    ranges: list[dict[str, Any]] = [
        {"because": ["high(y)@4"], "needs": [needs], "unless": unless, "decided_by": 15, "confidence": None}
        for needs, unless in (("high(y)@[T-2,T]", ["T < 5", "T > 8"]), ("c(y)@T", ["T < 11", "T > 14"]))
    ]
    given = [
        line("alarm(x)@T", 3, time=None, because=["high(x)@3"], needs=["b(x)@T1", "not paid(x)@[3,10]"],
             unless=["T < 3", "T > 10", "T1 < 4", "T1 > 9", "T1 <= T"], decided_by=12),
        line("alarm(y)@T", 4, time=None, **ranges[0], ways=ranges),
        line("burst(u)@9", 4, time=9, because=["failed(u)@2"], needs=["2 of failed(u)@T1"],
             unless=["T1 < 4", "T1 > 9"], decided_by=10),
        {"now": 3, "status": "holds", "answer": "on(d)@3", "key": "on(d)@3", "from": 3, "to": None, "bounds": "[]"},
        {"now": 3, "status": "holds", "answer": "on(e)@1", "key": "on(e)@1", "from": 1, "to": None, "bounds": "[]"},
        {"now": 6, "status": "confirmed", "answer": "on(e)@[1,5]", "key": "on(e)@1", "from": 1, "to": 5,
         "bounds": "[]"},
        *(line(f"alarm({long.format(hall)})@2", 7, "refuted", time=2) for hall in (17, 18)),
    ]  # fmt: skip
    path.write_text("".join(json.dumps(each) + "\n" for each in given))
    with watching_words("--answers", str(path)) as watched:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        wrong: list[str] = []
        page.on("pageerror", lambda problem: wrong.append(str(problem)))
        page.goto(watched.address)

        def lane(answer: str) -> Any:
            return page.locator(f"[data-answer={json.dumps(answer)}]")

        def ends(marks: Any) -> list[tuple[float, float]]:
            boxes = [mark.bounding_box() for mark in marks.all()]
            return [(box["x"], box["x"] + box["width"]) for box in boxes]

        sync_api.expect(lane("alarm(x)@T").locator(".range.answer rect")).to_have_count(1)
        sync_api.expect(lane("alarm(y)@T").locator(".range.answer rect")).to_have_count(2), "one for each way"
        sync_api.expect(lane("burst(u)@9").locator(".times")).to_have_text("2")
        sync_api.expect(lane("on(e)@1")).to_have_count(0), "one lane, by its key"
        sync_api.expect(lane("on(e)@[1,5]")).to_have_attribute("data-status", "confirmed")
        page.get_by_role("button", name="Fit all").click()
        (state,) = ends(lane("on(e)@[1,5]").locator(".holds-bar"))
        (grows,) = ends(lane("on(d)@3").locator(".holds-bar.grows"))
        unit = (state[1] - state[0]) / 4
        assert grows[0] - state[0] == pytest.approx(2 * unit, abs=3), "from 3 on"
        assert grows[1] - grows[0] == pytest.approx(4 * unit, abs=5), "to now, which is 7"
        (range_of_x,) = ends(lane("alarm(x)@T").locator(".range.answer rect"))
        assert range_of_x[0] == pytest.approx(grows[0], abs=3) and range_of_x[1] - range_of_x[0] == pytest.approx(
            7 * unit, abs=5
        ), "from 3 to 10"
        (absent,) = ends(lane("alarm(x)@T").locator(".stretch.absence rect"))
        assert absent == pytest.approx(range_of_x, abs=3)
        for hall in (17, 18):
            tail = lane(f"alarm({long.format(hall)})@2").locator(".name .tail")
            assert str(hall) in (tail.text_content() or "") and tail.evaluate("each => each.offsetWidth") > 20
        assert not wrong
        page.close()
