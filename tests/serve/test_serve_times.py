"""Times of a served pipeline come out as they went in: as timestamps where facts have them, after a crash too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import presage
from presage.checking import check_text
from presage.io.facts import FactError
from presage.run.arrivals import Incoming
from presage.run.reasoner import Reasoner
from presage.serve.messages import MessageReader
from tests.serving import LINES, LISTENING, TURBINES, Served, hot

PROGRAM = TURBINES.replace("discrete.", "discrete.\ntick 1m.\nstart 2026-03-02T00:00:00Z.")
ALERTS = """
[alerts.malf]
text = "{X} failed at {time}"
[sinks.alerts]
format = "lines"
path = "alerts.jsonl"
alerts = true
"""


def at(minute: int) -> str:
    return f"2026-03-02T00:{minute:02d}:00Z"


def test_timestamps_come_out_as_timestamps_also_after_a_crash(tmp_path: Path) -> None:
    served = Served(tmp_path, LINES + ALERTS, PROGRAM, LISTENING).start()
    try:
        served.post(hot(at(0)))
        served.post("".join(hot(at(1), f"d{number}") for number in range(20)) + hot(at(1)))
        served.kill()
        served.start()
        served.post(hot("2026-03-02T01:02:30+01:00") + json.dumps({"now": at(2)}))
        served.until(lambda: any(line["status"] == "confirmed" for line in served.lines))
        status, said = served.post(hot(3))
        assert status == 400 and "a number among timestamps" in said
        served.post(hot(at(0)) + json.dumps({"now": at(9)}))
    finally:
        assert served.stop() == 0
    first = served.lines[0]
    assert (first["now"], first["time"], first["decided_by"]) == (at(0), at(0), at(3))
    assert first["answer"] == first["key"] == f"malf(wt25)@{at(0)}"
    assert first["needs"] == [f"temp(wt25, high)@{at(1)}", f"temp(wt25, high)@{at(2)}"]
    confirmed = [line for line in served.lines if line["status"] == "confirmed"]
    assert [(line["answer"], line["now"]) for line in confirmed] == [(f"malf(wt25)@{at(0)}", at(2))]
    alerts = [json.loads(line) for line in (tmp_path / "alerts.jsonl").read_text().splitlines()]
    firing = next(line for line in alerts if line["state"] == "firing")
    assert (firing["text"], firing["since"], firing["now"]) == (f"wt25 failed at {at(0)}", at(0), at(2))


def test_the_file_may_say_how_times_are_shown(tmp_path: Path) -> None:
    zoned = LISTENING.replace("[serve]", 'zone = "Europe/Vienna"\n[serve]')
    served = Served(tmp_path, LINES, PROGRAM, zoned).start()
    try:
        served.post(hot(0) + '{"now": 0}')
        served.until(lambda: bool(served.lines))
    finally:
        assert served.stop() == 0
    (first,) = served.lines
    assert (first["time"], first["key"]) == ("2026-03-02T01:00:00+01:00", f"malf(wt25)@{at(0)}")


def test_many_timestamps_are_read_as_few_are() -> None:
    report = check_text(PROGRAM, "program.psg")

    def reader() -> MessageReader:
        return MessageReader(Reasoner(report.program, report=report).checker)

    def facts(found: Any) -> list[Any]:
        every = [*found.facts, *(fact for table in found.tables for fact in table.facts())]
        return sorted((fact.predicate, fact.arguments, fact.low) for fact in every)

    moments = [at(minute) for minute in range(30)]
    moments += ["2026-03-02T00:00:59.999999Z", "2026-03-02T05:00:00+02:00", "2026-03-02T05:00:00.5-01:30"]
    lines = (
        "".join(hot(moment, f"d{place}") for place, moment in enumerate(moments)) + json.dumps({"now": at(9)}) + "\n"
    )
    together, one_by_one = reader(), reader()
    found = together.read(lines.encode())
    assert found.tables and not found.facts, "they are taken by the column"
    assert facts(found) == facts(one_by_one._by_lines(lines.encode(), "line"))
    assert found.complete == 9 and together.checker.times == one_by_one.checker.times == "iso"


def reader_of(text: str) -> tuple[Reasoner, MessageReader]:
    reasoner = Reasoner(presage.parse(text))
    return reasoner, MessageReader(reasoner.checker)


@pytest.mark.parametrize(
    "said",
    [
        '{"pred": "p", "args": ["a"], "time": 1%s}' % ("0" * 400),
        '{"pred": "p", "args": ["a"], "time": 1000000000000000000}',
        '{"pred": "p", "args": ["a"], "from": 1, "to": 1000000000000000000}',
        '{"pred": "p", "args": ["a"], "time": 1, "arrives": 1000000000000000000}',
        '{"now": 1000000000000000000}',
    ],
)
def test_times_that_nobody_counts_are_refused_before_they_are_in_the_log(said: str) -> None:
    """Once there, every start would fail with them."""
    _, reader = reader_of("timeline discrete. input p(x). a(X) :- p(X). query a(X).")
    few = '{"pred": "p", "args": ["b"], "time": 1}\n'
    for message in (said, few * 20 + said):
        with pytest.raises(FactError, match="more than can be counted"):
            reader.read(message.encode())


def test_times_that_are_too_fine_beside_others_are_left_aside() -> None:
    reasoner, reader = reader_of("timeline dense. input p(x). a(X) :- once[0,1] p(X). query a(X).")
    incoming = Incoming(reasoner)
    incoming.uncounted = []
    found = []
    for part in (999_983, 999_979, 999_961, 7):
        message = reader.read(f'{{"pred": "p", "args": ["a{part}"], "time": "1/{part}"}}\n{{"now": 1}}'.encode())
        found += [answer for step in incoming.take_together(message.facts, []) for answer in step]
    found += [answer for step in incoming.completed(4) for answer in step]
    assert [fact.arguments for fact in incoming.uncounted] == [("a999961",)]
    assert {"a(a999983)", "a(a7)"} <= {answer.answer.split("@")[0] for answer in found}
