"""Answers read back: lines that a run or a pipeline has written, and what a reasoner has saved, as answers again.

An answer that was read from a line keeps its text as it was written; nothing is made of its arguments. One that was
saved is as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from presage.answers import INCONSISTENT, Answer, LateFact, inconsistent
from presage.errors import PresageError
from presage.io.facts import Fact, exact, exact_float
from presage.model.printer import show_number
from presage.model.terms import Number, Variable

STATUSES = ("possible", "unsupported", "holds", "confirmed", "refuted", INCONSISTENT)


def read_answers(line: Any, where: str) -> Iterator[Answer]:
    """The answers of a line, which may be a snapshot with many; raises what is wrong with it."""
    if isinstance(line, Mapping) and isinstance(line.get("answers"), list):
        for each in line["answers"]:
            yield _answer(each, where)
    else:
        yield _answer(line, where)


def _answer(line: Any, where: str) -> Answer:
    if not isinstance(line, Mapping) or "now" not in line or line.get("status") not in STATUSES:
        found = ", ".join(map(str, line)) if isinstance(line, Mapping) else type(line).__name__
        raise PresageError(
            f"{where}: this is not an answer line, as `presage run` writes them: it has no `now` and `status` ({found})"
        )
    now = _time(line["now"], "now", where)
    if now is None:
        raise PresageError(f"{where}: `now` is empty")
    if line["status"] == INCONSISTENT:
        return inconsistent(now)
    text = line.get("answer")
    if not isinstance(text, str) or not text:
        raise PresageError(f"{where}: this is not an answer line: it has no `answer`")
    given = line.get("bindings") or {}
    bindings = dict(given) if isinstance(given, (Mapping, list)) else {}
    is_open = line.get("time") is None and line.get("from") is None and line["status"] in ("possible", "unsupported")
    answer = Answer(
        now,
        line["status"],
        text.split("(", 1)[0].split("@", 1)[0],
        (),
        bindings,
        time=_time(line.get("time"), "time", where),
        start=_time(line.get("from"), "from", where),
        end=_time(line.get("to"), "to", where),
        bounds=line.get("bounds") or "",
        ways_left_out=line.get("ways_left_out") or 0,
        ways=tuple(_way(way, where) for way in line.get("ways") or ()),
        open_time=text.rpartition("@")[2] if is_open else "",
        # What is not made of the arguments is kept as it was written.
        more=(("key", line["key"]),) if isinstance(line.get("key"), str) else (),
        **_way(line, where),
    )
    answer.text = text
    return answer


def _way(line: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The five fields that lines and their ways have."""
    lists = {name: tuple(map(str, line.get(name) or ())) for name in ("because", "needs", "unless")}
    likely = line.get("confidence")
    confidence = float(likely) if isinstance(likely, (int, float)) else None
    return {**lists, "decided_by": _time(line.get("decided_by"), "decided_by", where), "confidence": confidence}


def _time(given: Any, name: str, where: str) -> Number | None:
    try:
        if given is None or isinstance(given, int):
            return given
        found = exact_float(given) if isinstance(given, float) else exact(given)
    except (TypeError, ValueError):
        found = None
    if found is None:
        raise PresageError(f"{where}: `{name}` is {given!r}, which is not a time")
    return found


def saved(answer: Answer) -> dict[str, Any]:
    """A confirmed answer in JSON, such that `again` gives it back."""
    return {
        "now": written(answer.now), "status": answer.status, "predicate": answer.predicate,
        "arguments": [written(each) for each in answer.arguments],
        "bindings": {name: written(value) for name, value in answer.bindings.items()},
        "times": [written(each) for each in (answer.time, answer.start, answer.end)],
        "bounds": answer.bounds, "because": answer.because, "unless": answer.unless, "open_time": answer.open_time,
        "more": [list(each) for each in answer.more],
    }  # fmt: skip


def again(given: dict[str, Any]) -> Answer:
    time, start, end = map(read, given["times"])
    return Answer(
        read(given["now"]), given["status"], given["predicate"], tuple(map(read, given["arguments"])),
        {name: read(value) for name, value in given["bindings"].items()},
        time=time, start=start, end=end, bounds=given["bounds"], because=tuple(given["because"]),
        unless=tuple(given["unless"]), open_time=given["open_time"],
        more=tuple((name, value) for name, value in given.get("more", ())),
    )  # fmt: skip


def static_saved(fact: Fact) -> list[Any]:
    """A static fact in JSON."""
    return [fact.predicate, [written(each) for each in fact.arguments]]


def static_again(given: Any) -> Fact:
    name, arguments = given
    return Fact(str(name), tuple(map(read, arguments)), None, None)


def fact_saved(fact: Fact) -> list[Any]:
    """A fact in JSON, with its times."""
    times = [None if time is None else show_number(time) for time in (fact.low, fact.high, fact.arrives)]
    return [fact.predicate, [written(value) for value in fact.arguments], times, fact.closed_low, fact.closed_high]


def fact_again(given: list[Any]) -> Fact:
    name, arguments, times, closed_low, closed_high = given
    low, high, arrives = (None if time is None else exact(time) for time in times)
    return Fact(name, tuple(map(read, arguments)), low, high, closed_low, closed_high, arrives)


def written(value: Any) -> Any:
    """A value in JSON, such that `read` gives it back."""
    if isinstance(value, Fraction):
        return {"number": str(value)}
    return {"variable": value.name} if isinstance(value, Variable) else value


def read(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return Variable(value["variable"]) if "variable" in value else Fraction(value["number"])


def as_pushed(fact: Fact) -> LateFact:
    """A fact as one would push it."""
    if fact.low is not None and fact.low == fact.high:
        return fact.predicate, fact.arguments, fact.low
    bounds = ("[" if fact.closed_low else "(") + ("]" if fact.closed_high else ")")
    return fact.predicate, fact.arguments, (fact.low, fact.high, bounds)
