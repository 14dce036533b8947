"""`presage.Reasoner` for programs with none or several models, and with `reading now`."""

from __future__ import annotations

import pickle
import warnings

import pyarrow as pa
import pytest

import presage
from presage.errors import PresageError
from presage.io.facts import Fact
from presage.run.schedule import steps
from tests.answer_streams.test_ask_and_models import SEATS

NOW = """reading now. input r(x). input t. query a(X).
a(X) :- window(2) some r(X), not b(X). b(X) :- window(2) some r(X), not a(X), t."""


def texts(answers: presage.answers.Answers) -> list[str]:  # type: ignore[name-defined]
    return [str(answer) for answer in answers]


def test_steps_as_a_run() -> None:
    reasoner = presage.Reasoner(presage.parse(SEATS))
    assert texts(reasoner.push([("guest", ("ann",), 0)], now=0)) == []
    assert texts(reasoner.push([("guest", ("bob",), 0)], now=1)) == [
        "confirmed seated(ann)@0",
        "confirmed seated(bob)@0",
    ]
    assert texts(reasoner.answers()) == ["confirmed seated(ann)@0", "confirmed seated(bob)@0"]
    assert texts(reasoner.push({"guest": pa.table({"name": ["cid", "dan"], "time": [2, 0]})}, now=2)) == []
    assert [fact.arguments for fact in reasoner.late] == [("dan",)]
    assert texts(reasoner.push([], now=3)) == ["confirmed seated(cid)@2"]
    assert reasoner.holds("guest").to_pydict()["name"][-1] == "cid"
    reasoner.push([("guest", ("eve",), 4), ("banned", ("eve",), 4)], now=4)
    assert texts(reasoner.push([], now=5)) == ["inconsistent"]
    assert reasoner.answers()[0].status == "inconsistent"


def test_static_facts() -> None:
    text = "static s(x). input r. a(X) | b(X) :- r, s(X). c(X) :- a(X). c(X) :- b(X). query c(X)."
    reasoner = presage.Reasoner(presage.parse(text), static={"s": [("u",), ("v",)]})
    assert texts(reasoner.push([("r", (), 0)], now=0)) == ["confirmed c(u)@0", "confirmed c(v)@0"]
    with pytest.raises(PresageError, match="before the first step"):
        reasoner.add_statics([Fact("s", ("w",), None, None)])


@pytest.mark.parametrize("text", [SEATS, SEATS + "timeline discrete. ever :- once[0,inf) guest(_). query ever.", NOW])
def test_saved_and_restored(text: str) -> None:
    """Kept grounding, grounding anew, and evaluations of their own go on as if nothing had happened."""
    program = presage.parse(text)
    name = "r" if "reading now" in text else "guest"
    one, other = presage.Reasoner(program), presage.Reasoner(program)
    for now in range(6):
        facts = [(name, (f"g{now % 3}",), now)]
        found = texts(one.push(facts, now=now))
        assert texts(other.push(facts, now=now)) == found
        other = presage.Reasoner.restore(program, other.save())  # type: ignore[assignment]
        assert other.now == now
    assert found


def test_memory_of_another_program_or_of_nobody() -> None:
    program = presage.parse(SEATS)
    blob = presage.Reasoner(program).save()
    with pytest.raises(PresageError, match="another program"):
        presage.Reasoner.restore(presage.parse(NOW), blob)
    with pytest.raises(PresageError, match="damaged"):
        presage.Reasoner.restore(program, blob[:-5])
    magic, _, _ = blob.partition(b"\n")
    with pytest.raises(PresageError, match="damaged"):
        presage.Reasoner.restore(program, magic + b"\n" + pickle.dumps((print, {})))


def test_only_confirmed_answers() -> None:
    with pytest.raises(PresageError, match="confirmed"):
        presage.Reasoner(presage.parse(SEATS), emit="changes")
    assert presage.Reasoner(presage.parse(SEATS), emit="confirmed").now is None


def test_reading_now_is_read_now() -> None:
    """Not as rules that hold at every time."""
    reasoner = presage.Reasoner(presage.parse("reading now. input r. a@T :- r@T, not window(1) some r. query a."))
    assert [texts(reasoner.push([("r", (), 0)] if now == 0 else [], now=now)) for now in range(3)] == [
        [],
        [],
        ["confirmed a@0"],
    ]


def test_a_reasoner_steps_like_a_run() -> None:
    reasoner = presage.Reasoner(presage.parse(SEATS))
    facts = [Fact("guest", ("ann",), 0, 0), Fact("guest", ("bob",), 3, 3)]
    found = [str(answer) for answers in steps(reasoner, facts, None) for answer in answers]
    assert found == ["confirmed seated(ann)@0", "confirmed seated(bob)@3"]


def test_mistakes() -> None:
    reasoner = presage.Reasoner(presage.parse(SEATS))
    reasoner.push([], now=3)
    with pytest.raises(PresageError, match="time goes forward"):
        reasoner.push([], now=3)
    with pytest.raises(PresageError, match="no input `gest`"):
        reasoner.push([("gest", ("a",), 4)], now=4)
    with pytest.raises(PresageError, match="no predicate `x`"):
        reasoner.holds("x")
    with pytest.raises(PresageError, match="whole number"):
        reasoner.push([], now=4.5)


@pytest.mark.parametrize("cut", range(5))
def test_what_is_worked_out_from_the_whole_stream_goes_on_when_restored(cut: int) -> None:
    program = presage.parse(
        """timeline discrete. chase restricted. input r(x). input s(x).
        exists lasting Z: tag(X, Z) :- r(X), window(rows 1) all r(Y).
        query tag(X, Z)."""
    )
    stream = [[("r", ("u",), 0)], [("r", ("v",), 1)], [("s", ("u",), 2)], [("r", ("u",), 3)], [("r", ("w",), 4)]]
    told: list[list[str]] = []
    for interrupted in (False, True):
        reasoner = presage.Reasoner(program)
        told.append([])
        for now, facts in enumerate(stream):
            if interrupted and now == cut:
                reasoner = presage.Reasoner.restore(program, reasoner.save())
            told[-1].extend(map(str, reasoner.push(facts, now=now)))
    assert told[0] == told[1] and any("_:2" in each for each in told[0])


def test_a_reasoner_that_looks_at_the_whole_stream_shows_itself_as_others_do() -> None:
    program = presage.parse(
        "timeline discrete. input p(x). h(X) :- window(rows 2) some (p(X) and window(rows 1) p(X))."
    )
    reasoner = presage.Reasoner(program, emit="confirmed")
    assert reasoner.runs_as_a_whole
    reasoner.push([("p", ("a",), 0)], now=0)
    assert reasoner.remembered > 0
    assert "in memory" in reasoner._repr_html_()


def test_late_facts_are_in_what_push_returns_and_warned_of_once() -> None:
    reasoner = presage.Reasoner(presage.parse("timeline discrete. input p(x). h(X) :- p(X)."))
    assert reasoner.push([("p", ("a",), 4)], now=4).late == ()
    with pytest.warns(UserWarning, match="too late"):
        changes = reasoner.push([("p", ("a",), 1), ("p", ("b",), 5)], now=5)
    assert [answer.answer for answer in changes] == ["h(b)@5"]
    assert changes.late == (("p", ("a",), 1),)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = pa.table({"x": ["a", "b"], "time": [1, 2]})
        assert reasoner.push({"p": table}, now=6).late == (("p", ("a",), 1), ("p", ("b",), 2))
    assert reasoner.push([], now=7).late == ()


@pytest.mark.parametrize("body", ["q(Y, Y)@T", "some q(Y, Y)"])
def test_a_time_that_nothing_bounds(body: str) -> None:
    """It may lie anywhere: what follows is confirmed for all times as soon as it is entailed; absence never is."""
    rules = f"timeline discrete. input q(x, y). input p(y). u(Y) :- {body}. query u(Y)."
    reasoner = presage.Reasoner(presage.parse(rules), emit="confirmed")
    assert reasoner.push([("q", ("b", "a"), 1)], now=1) == []
    (answer,) = reasoner.push([("q", ("a", "a"), 2)], now=2)
    assert (answer.arguments, answer.start, answer.end) == (("a",), 0, None)
    with pytest.raises(PresageError, match="without end"):
        presage.Reasoner(presage.parse(f"{rules} h(Y) :- p(Y), not u(Y). query h(Y)."), emit="confirmed")
