"""One reasoner for all programs: which engine it has, what is made when, and that every engine has all there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import presage
from presage.checking import check_text
from presage.engine.runtime import IntervalEngine
from presage.hypothesis.bulk.engine import Bulk
from presage.hypothesis.grid.engine import Grids
from presage.hypothesis.ranges.engine import Ranges
from presage.patterns.unfold import Unfolder
from presage.run.engines import engine_kind
from presage.run.reasoner import Reasoner

TURBINES = Path(__file__).parent.parent.parent / "presage/examples/turbines/turbines.psg"
STRATIFIED = "timeline discrete. input p(x) delay 1. q(X)@T+1 :- p(X)@T, p(X)@T+1. query q(X)."
SEVERAL = "timeline discrete. input p(x). a(X) | b(X) :- p(X). c(X) :- a(X). c(X) :- b(X). query c(X)."
NOW = "timeline discrete. reading now. input p(x). q(X) :- window(2) some p(X). query q(X)."
ROWS = "timeline discrete. input p(x). q(X) :- window(rows 2) some (p(X) and window(rows 1) p(X)). query q(X)."


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each engine is made, and how often a query is unfolded."""
    counted: Counter[str] = Counter()
    for kind in (IntervalEngine, Bulk, Grids, Ranges):
        _count(monkeypatch, counted, kind, "__init__", kind.__name__)
    _count(monkeypatch, counted, Unfolder, "_unfolded", "unfolded")
    yield counted


def _count(monkeypatch: pytest.MonkeyPatch, counted: Counter[str], kind: Any, method: str, name: str) -> None:
    real = getattr(kind, method)

    def counting(*given: Any, **named: Any) -> Any:
        counted[name] += 1
        return real(*given, **named)

    monkeypatch.setattr(kind, method, counting)


def test_turbines_are_unfolded_once_and_build_one_engine(made: Counter[str]) -> None:
    program = presage.parse(TURBINES.read_text(encoding="utf-8"), "turbines anew.psg")
    presage.check(program)
    reasoner = presage.Reasoner(program)
    for now in range(4):
        reasoner.push([("temp", ("wt25", "high"), now)], now=now)
    assert made == {"Bulk": 1, "unfolded": 1}
    assert reasoner.holds("flag").num_rows, "what is entailed is worked out when somebody asks"
    assert made == {"Bulk": 1, "unfolded": 1, "IntervalEngine": 1}


@pytest.mark.parametrize(
    ("text", "kind"), [(STRATIFIED, "interval"), (SEVERAL, "clingo"), (NOW, "clingo"), (ROWS, "interval")]
)
def test_every_engine_has_what_page_and_notebook_ask_for(text: str, kind: str) -> None:
    report = check_text(text)
    assert engine_kind(report) == kind
    reasoner = Reasoner(report.program, report=report)
    reasoner.push([("p", ("a",), 0)], now=0)
    reasoner.push([("p", ("a",), 1)], now=1)
    assert reasoner.now == 1 and reasoner.late == [] and reasoner.remembered >= 0
    assert reasoner.holds("p").column_names == ["x", "from", "to", "bounds"]
    assert "Reasoner of" in reasoner._repr_html_()
    assert isinstance(reasoner.next_decision(), (int, type(None))) and reasoner.longest_lag >= 0
    blob = reasoner.save()
    again = Reasoner.restore(report.program, blob)
    assert list(map(str, again.answers())) == list(map(str, reasoner.answers()))
    facts = [("p", ("a",), 2)]
    supposed = list(map(str, again.suppose([("p", ("a",), 1)])))
    assert supposed == list(map(str, reasoner.suppose([("p", ("a",), 1)])))
    assert list(map(str, again.push(facts, now=2))) == list(map(str, reasoner.push(facts, now=2)))


def test_what_holds_in_some_models_only_can_be_saved() -> None:
    text = "timeline discrete. input p(x). a(X) | b(X) :- p(X). query a(X)."
    report = check_text(text)
    reasoner = Reasoner(report.program, brave=True)
    assert list(map(str, reasoner.push([("p", ("x",), 0)], now=0))) == ["possible a(x)@0"]
    again = Reasoner.restore(report.program, reasoner.save())
    assert list(map(str, again.answers())) == list(map(str, reasoner.answers())) == ["possible a(x)@0"]


def test_a_limit_of_invented_values_is_saved() -> None:
    program = presage.parse("timeline discrete. input p(x). exists Y: q(X, Y) :- p(X). query q(X, Y).")
    reasoner = Reasoner(program, chase_limit=5)
    reasoner.push([("p", ("a",), 0)], now=0)
    again = Reasoner.restore(program, reasoner.save())
    with pytest.raises(presage.PresageError, match="5"):
        again.push([("p", (f"a{number}",), 1) for number in range(9)], now=1)


OPEN = (
    "timeline discrete. input p(x). input r(x, y) delay 1. out(X, Y) :- p(X), not r(X, Y). d(X) :- out(X, b). "
    "query out(X, Y). query d(X)."
)


@pytest.mark.parametrize("emit", ["confirmed", "changes", "states", None])
def test_an_answer_that_keeps_a_variable_is_confirmed_for_all_values_at_once(emit: str | None) -> None:
    """Whatever is told: not for those values alone that somebody has named, and again when another is."""
    reasoner, sure = presage.Reasoner(presage.parse(OPEN), emit=emit), []
    for now in range(6):
        given = [("p", ("a",), 1), ("r", ("a", "b"), 1), ("r", ("c", "c"), 1), ("p", ("c",), 3)]
        changes = reasoner.push([fact for fact in given if fact[2] == now], now=now)
        sure += [(each.answer, each.unless) for each in changes if each.status == "confirmed"]
        assert reasoner.remembered >= 0
        reasoner = presage.Reasoner.restore(reasoner.program, reasoner.save())
    assert sorted(sure) == [("d(c)@3", ()), ("out(a, Y)@1", ("Y = b",)), ("out(c, Y)@3", ())]


def test_a_restored_reasoner_takes_the_steps_at_which_something_is_decided() -> None:
    """Also where nothing but looking says when that is, and nothing comes for a long time."""
    program = presage.parse(
        "timeline dense. input p(x) delay 2. input p(x) where x = a delay 3. "
        "d(X)@T+1 :- p(X)@T, not d(X)@T. query d(X)."
    )
    reasoner = presage.Reasoner(program, emit="confirmed")
    reasoner.push([("p", ("b",), 5)], now=4)
    again = presage.Reasoner.restore(program, reasoner.save())
    assert [each.answer for each in again.push([], now=13)] == ["d(b)@6"]
    assert [each.answer for each in reasoner.push([], now=13)] == ["d(b)@6"]


def test_what_a_filter_hides_is_no_reason_to_refuse() -> None:
    """Beside delays of single facts' own: `since` has no premise patterns there, but what it asks for is hidden."""
    program = presage.parse(
        "timeline discrete. input p(x). input p(x) where x = a delay 2. input q(x). input r(x, y). input n(x, y). "
        "d(X) :- historically(1,3] (window(only d(_)) all ((not n(a, X)) since[1,4) r(b, X))), "
        "(not p(a)) until[2,5] r(a, X), q(X). e(X) :- (not p(a)) until[2,5] r(a, X), q(X). query d(X). query e(X)."
    )
    reasoner, plain = presage.Reasoner(program, emit="changes"), presage.Reasoner(program, emit="confirmed")
    facts = {2: [("r", ("b", "x"), 2)], 5: [("q", ("x",), 5)], 8: [("r", ("a", "x"), 8)]}
    told, sure = [], []
    for now in range(14):
        told += reasoner.push(facts.get(now, []), now)
        sure += plain.push(facts.get(now, []), now)
    assert [each.answer for each in told if each.status == "confirmed"] == [each.answer for each in sure] == ["e(x)@5"]
    assert {each.answer for each in told} == {"e(x)@5"}
