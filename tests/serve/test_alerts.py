"""Alerts: when they are pending, fire, keep silent and are resolved; and what receivers get of them."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import presage
from presage.answers import Answer
from presage.io.facts import Checker
from presage.pipeline.checking import check_pipeline
from presage.receivers.alerts import AlertRule, Alerts
from tests import alertmanager
from tests.commands.test_cli import presage as command
from tests.serving import LINES, LISTENING, TURBINES, Receiver, Served, hot, lines_in

PROGRAM = "timeline discrete. input p(x, s). on(X, S) :- p(X, S). query on(X, S)."


def rules(tone: str = "", **said: Any) -> list[AlertRule]:
    findings = presage.check(PROGRAM).findings
    assert findings is not None
    watched = findings.watched
    checker = Checker(watched.program, watched.predicates, True)
    return [AlertRule.of("on", {"text": "{X} of {S} at {time}", **said}, checker, tone)]


def alerts(tone: str = "", dense: bool = False, **said: Any) -> Alerts:
    return Alerts(rules(tone, **said), not dense)


def answer(status: str, at: int, x: str = "a", s: str = "west", **more: Any) -> Answer:
    return Answer(at, status, "on", (x, s), {"X": x, "S": s}, time=at, **more)


def told(found: Alerts, now: int, *answers: Answer) -> list[tuple[str, str]]:
    return [(line["state"], line["text"]) for line in found.take(answers, now)]


def test_an_alert_fires_once_and_is_resolved_when_nothing_more_is_heard() -> None:
    found = alerts()
    assert told(found, 3, answer("confirmed", 3)) == [("firing", "a of west at 3")]
    assert told(found, 4, answer("confirmed", 4)) == [] and found.due() == 5
    assert told(found, 5) == [("resolved", "a of west at 4")] and found.groups == {} and found.due() is None
    assert told(found, 6, answer("confirmed", 6)) == [("firing", "a of west at 6")]


def test_what_was_over_does_not_go_on_with_answers_that_come_later() -> None:
    """Also where nobody has looked in between."""
    found = alerts()
    lines = [line for now in (3, 50) for line in found.take([answer("confirmed", now)], now)]
    assert [(line["state"], line["now"]) for line in lines] == [("firing", 3), ("resolved", 4), ("firing", 50)]


@pytest.mark.parametrize("seed", range(400))
def test_alerts_do_not_hang_on_when_somebody_looks(seed: int) -> None:
    """At every time, or only when answers come."""
    chance = random.Random(seed)
    said: dict[str, Any] = {
        "cooldown": str(chance.choice([0, 0, 3, 8])), "for": str(chance.choice([0, 0, 2, 4])),
        "resolve_after": str(chance.choice([1, 2, 5])), "pending": chance.random() < 0.5,
    }  # fmt: skip
    if chance.random() < 0.5:
        said["group"] = ["S"]
    steps: dict[int, list[Answer]] = {}
    lasting: dict[str, int] = {}
    for now in sorted(chance.sample(range(40), chance.randint(1, 10))):
        for _ in range(chance.randint(1, 3)):
            x, s = chance.choice("ab"), chance.choice("pq")
            match chance.choice(["possible", "refuted", "confirmed", "confirmed", "holds"]):
                case "possible":
                    found = answer("possible", now + 2, x, s, decided_by=now + 4)
                case "refuted":
                    found = answer("refuted", now + 1, x, s)
                case "confirmed":
                    found = answer("confirmed", now, x, s)
                case _:
                    begin = lasting.pop(x + s, None)
                    more = {"bindings": {"X": x, "S": s}, "start": now if begin is None else begin, "bounds": "[]"}
                    found = Answer(now, "confirmed", "on", (x, s), **more, end=now - 1)
                    if begin is None or begin == now:
                        found, lasting[x + s] = Answer(now, "holds", "on", (x, s), **more), now
            steps.setdefault(now, []).append(found)

    def run(looks: bool) -> list[Any]:
        alert, lines = alerts(**said), []
        for now in range(60):
            if now in steps or looks:
                lines += alert.take(steps.get(now, ()), now)
        return [*lines, *alert.passed(60)]

    assert run(True) == run(False)


def test_it_must_be_so_for_long_enough() -> None:
    found = alerts(**{"for": "2"})
    assert [told(found, now, answer("confirmed", now)) for now in (3, 4)] == [[], []]
    assert told(found, 5, answer("confirmed", 5)) == [("firing", "a of west at 5")]
    found = alerts(**{"for": "2"})
    assert told(found, 3, answer("confirmed", 3)) == told(found, 4) == told(found, 5, answer("confirmed", 5)) == []
    assert told(found, 6, answer("confirmed", 6)) == [], "a gap begins it anew"


def test_what_holds_on_fires_when_its_time_has_come_and_ends_with_its_end() -> None:
    found = alerts(**{"for": "4"})
    beginning = Answer(3, "holds", "on", ("a", "west"), {"X": "a", "S": "west"}, start=3, bounds="[)")
    assert told(found, 3, beginning) == [] and found.due() == 7
    assert told(found, 7) == [("firing", "a of west at 3")] and told(found, 50) == []
    end = Answer(60, "confirmed", "on", ("a", "west"), {"X": "a", "S": "west"}, start=3, end=59, bounds="[]")
    end.text = beginning.answer
    assert told(found, 60, end) == [] and told(found, 61) == [("resolved", "a of west at 3")]


def test_a_group_is_one_alert_and_keeps_silent_for_a_while() -> None:
    found = alerts(group=["S"], cooldown="10", text="{S}: {count}")
    assert told(found, 1, answer("confirmed", 1, "a"), answer("confirmed", 1, "b")) == [("firing", "west: 2")]
    assert told(found, 2, answer("confirmed", 2, "c", "east")) == [("firing", "east: 1"), ("resolved", "west: 2")]
    assert told(found, 3) == [("resolved", "east: 1")]
    assert told(found, 5, answer("confirmed", 5, "c")) == [] and told(found, 6) == [] and found.groups
    assert told(found, 11, answer("confirmed", 11, "c")) == [("firing", "west: 1")]


def test_what_is_pending_keeps_silent_for_as_long() -> None:
    found = alerts(cooldown="10")
    assert told(found, 1, answer("confirmed", 1)) == [("firing", "a of west at 1")]
    assert told(found, 2, answer("possible", 9, decided_by=40)) == [("resolved", "a of west at 1")]
    assert told(found, 5) == [] and found.due() == 11, "nothing more happens, and yet it is to be told"
    assert told(found, 11) == [("pending", "a of west at 9")] and found.due() is None


def test_answers_of_one_step_are_heard_in_the_order_of_their_times() -> None:
    """Not of their texts: a stretch from 8 to 11 has no gap."""
    found = alerts(**{"for": "3"})
    assert told(found, 11, *(answer("confirmed", at) for at in (10, 11, 8, 9))) == [("firing", "a of west at 11")]


def test_on_dense_time_every_gap_is_one() -> None:
    found = alerts(dense=True, **{"for": "2"})
    for first, last in ((0, 1), (Fraction(3, 2), 3)):
        stretch = Answer(3, "confirmed", "on", ("a", "west"), {"X": "a", "S": "west"}, start=first, end=last)
        stretch.bounds = "[]"
        assert told(found, 3, stretch) == []


def test_numbers_and_texts_are_not_one_alert() -> None:
    found = alerts()
    one = Answer(1, "confirmed", "on", (1, "a, S=b"), {"X": 1, "S": "a, S=b"}, time=1)
    other = Answer(1, "confirmed", "on", ("1", "a, S=b"), {"X": "1", "S": "a, S=b"}, time=1)
    keys = {line["key"]: line["bindings"] for line in found.take([one, other], 1)}
    assert keys == {'on(X=1, S="a, S=b")': one.bindings, 'on(X="1", S="a, S=b")': other.bindings}


def test_other_rules_of_alerts() -> None:
    before = alerts(severity="page", text="{X}")
    told(before, 1, answer("confirmed", 1), answer("possible", 1, "b", decided_by=5))
    saved = before.save()

    def become(now: int = 1, **said: Any) -> list[tuple[str, str, str]]:
        found = alerts(severity="page", text="{X}")
        found.restore(saved)
        return [(line["state"], line["severity"], line["text"]) for line in found.become(rules(**said), now)]

    assert become(severity="page", text="other") == become(severity="page", cooldown="20") == []
    assert become(severity="low", text="other") == [
        ("resolved", "page", "a"), ("firing", "low", "other"), ("resolved", "page", "b"), ("pending", "low", "other"),
    ]  # fmt: skip
    assert become(severity="page", group=["S"]) == [("resolved", "page", "a"), ("resolved", "page", "b")]
    found = alerts(severity="page")
    found.restore(saved)
    assert [line["state"] for line in found.become([], 1)] == ["resolved", "resolved"] and not found.groups


def test_a_stretch_is_counted_once() -> None:
    found = alerts(text="{count}")
    beginning = Answer(3, "holds", "on", ("a", "west"), {"X": "a", "S": "west"}, start=3, bounds="[)")
    assert told(found, 3, beginning) == [("firing", "1")]
    end = Answer(9, "confirmed", "on", ("a", "west"), {"X": "a", "S": "west"}, start=3, end=8, bounds="[]")
    end.text = beginning.answer
    assert told(found, 9, end) == [] and told(found, 10) == [("resolved", "1")]


def test_possible_answers_are_pending_with_their_deadline() -> None:
    found = alerts(text="{X} by {deadline}")
    lines = list(found.take([answer("possible", 1, decided_by=7, needs=("p(a, west)@2",))], 1))
    assert [(line["state"], line["deadline"], line["text"]) for line in lines] == [("pending", 7, "a by 7")]
    assert told(found, 2, answer("possible", 1, decided_by=9)) == []
    assert told(found, 7, answer("refuted", 1)) == [("resolved", "a by none")] and found.groups == {}
    assert told(found, 8, answer("possible", 8, decided_by=9)) == [("pending", "a by 9")]
    assert [state for state, _ in told(found, 9, answer("confirmed", 8))] == ["firing"]
    assert told(alerts(pending=False), 1, answer("possible", 1, decided_by=7)) == []


@pytest.mark.parametrize(("tone", "severity"), [("bad", "critical"), ("good", "info"), ("", "warning")])
def test_how_severe_it_is_says_the_query(tone: str, severity: str) -> None:
    (line,) = alerts(tone).take([answer("confirmed", 3)], 3)
    (other,) = alerts(tone, severity="page").take([answer("confirmed", 3)], 3)
    assert (line["severity"], other["severity"]) == (severity, "page")


def test_alerts_are_saved() -> None:
    found = alerts(cooldown="10")
    told(found, 1, answer("confirmed", 1), answer("possible", 1, "b", decided_by=3))
    again = alerts(cooldown="10")
    again.restore(found.save())
    for now, answers in ((2, [answer("refuted", 1, "b")]), (4, []), (5, [answer("confirmed", 5)]), (20, [])):
        assert told(found, now, *answers) == told(again, now, *answers)


def test_wrong_tables_of_alerts_are_told_by_their_place(tmp_path: Path) -> None:
    wrong = '[alerts.malv]\ntext = "x"\n[alerts.malf]\ntext = "{Y} failed"\ngroup = ["Z"]\nfor = "5m"\n'
    wrong += 'labels = { "a-b" = "c" }\n'
    Served(tmp_path, LINES + wrong)
    done = command("serve", "--check", tmp_path / "pipeline.toml")
    assert done.returncode == 1
    for said in (
        "did you mean `malf`?",
        "the text names `Y`",
        "`Z` is no binding",
        "needs a `tick`",
        "`a-b` is no label",
    ):
        assert said in done.stderr


def test_alerts_that_nobody_is_told_are_warned_of(tmp_path: Path) -> None:
    table = '[alerts.malf]\ntext = "x"\n'
    served = Served(tmp_path, LINES + table)
    found = check_pipeline(tmp_path / "pipeline.toml", {}, live=True)
    assert found.ok and "nobody is told of alerts" in found.text() and "alerts = true" in found.text()
    file = served.folder / "pipeline.toml"
    text = file.read_text().replace('format = "lines"', 'format = "console"\nalerts = true')
    file.write_text(text)
    assert "nobody is told" not in check_pipeline(file, {}, live=True).text()


def test_alertmanager_and_a_webhook_get_alerts(tmp_path: Path) -> None:
    manager, hook = Receiver(), Receiver()
    sinks = f"""
[alerts.malf]
severity = "critical"
text = "{{X}} failed at {{time}}"
labels = {{ team = "west" }}
[sinks.manager]
format = "alertmanager"
url = "{manager.url}"
token_env = "MANAGER"
[sinks.hook]
format = "webhook"
url = "{hook.url}/alerts"
alerts = true
"""
    program = "tick 1s.\n" + TURBINES
    served = Served(tmp_path, sinks, program, LISTENING, MANAGER="s3cret-of-the-manager").start()
    try:
        served.post(hot(0) + '{"now": 0}\n')
        served.until(lambda: bool(manager.got))
        served.post(hot(1) + hot(2) + '{"now": 2}\n')
        served.post('{"now": 9}\n')
        served.until(lambda: sum(len(body["lines"]) for _, body, _ in hook.got) >= 5)
        posted = [line for _, body, _ in hook.got for line in body["lines"]]
        states = [
            (line["state"], line["text"], line["deadline"]) for line in posted if line["answer"] == "malf(wt25)@0"
        ]
        assert states[0] == ("pending", "wt25 failed at 0", 3)
        assert [(line["state"], line["now"]) for line in posted] == [
            ("pending", 0), ("firing", 2), ("resolved", 3), ("pending", 3), ("resolved", 4)
        ]  # fmt: skip
        served.until(lambda: any("alertstate" not in each["labels"] for _, body, _ in manager.got for each in body))
        path, _, headers = manager.got[0]
        assert path == "/api/v2/alerts" and headers["Authorization"] == "Bearer s3cret-of-the-manager"
        sent = [alert for _, body, _ in manager.got for alert in body]
        assert all({"labels", "annotations", "startsAt", "endsAt"} == alert.keys() for alert in sent)
        firing = [alert for alert in sent if "alertstate" not in alert["labels"]]
        assert firing[0]["labels"] == {
            "alertname": "malf", "severity": "critical", "pipeline": "pipeline", "X": "wt25", "team": "west",
        }  # fmt: skip
        assert firing[0]["annotations"]["summary"] == "wt25 failed at 0"
        assert firing[0]["startsAt"].startswith("1970-01-01T00:00:00")
        first = manager.got[0][1][0]
        assert first["labels"]["alertstate"] == "pending" and first["annotations"]["deadline"] == "3"
    finally:
        assert served.stop() == 0
        manager.close()
        hook.close()
    assert "s3cret" not in served.said


def test_alerts_that_change_take_no_number_from_what_is_told_again(tmp_path: Path) -> None:
    """Alerts are numbered like answers: after a kill those of before work off the log, then they change."""
    table = '[alerts.malf]\nseverity = "critical"\ntext = "{X} failed"\n'
    sinks = LINES + '[sinks.told]\nformat = "lines"\npath = "alerts.jsonl"\nalerts = true\n'
    served = Served(tmp_path, sinks + table).start()
    try:
        served.post(hot(0) + hot(1) + hot(2) + '{"now": 2}\n')
        served.until(lambda: len(lines_in(tmp_path / "alerts.jsonl")) >= 2)
        served.kill()
        file = tmp_path / "pipeline.toml"
        file.write_text(file.read_text().replace(table, ""))
        served.start()
        served.post(hot(3) + '{"now": 3}\n')
        served.until(lambda: any(line["now"] == 3 for line in served.lines))
    finally:
        assert served.stop() == 0
    told = lines_in(tmp_path / "alerts.jsonl")
    assert [(line["state"], line["now"]) for line in told] == [("pending", 0), ("firing", 2), ("resolved", 2)]
    assert sorted(line["seq"] for line in [*told, *served.lines]) == list(range(1, len(told) + len(served.lines) + 1))
    assert (3, "confirmed", "malf(wt25)@1") in {(each["now"], each["status"], each["answer"]) for each in served.lines}


@pytest.mark.skipif(bool(alertmanager.why_not()), reason=alertmanager.why_not())
def test_a_real_alertmanager(tmp_path: Path) -> None:
    """What fires stands there until it is over; without a `tick`, and with times that are no calendar's."""
    for name, tick, first in (("plain", "", 0), ("far", "tick 1d.\n", 10**9)):
        with alertmanager.manager(tmp_path / name) as manager:
            sinks = f'[alerts.malf]\ntext = "{{X}} failed"\n[sinks.m]\nformat = "alertmanager"\nurl = "{manager.url}"\n'
            served = Served(tmp_path / name, LINES + sinks, tick + TURBINES, LISTENING).start()
            try:
                served.post(hot(first) + hot(first + 1) + f'{{"now": {first + 1}}}\n')
                served.until(lambda: manager.standing() == [("pending", "wt25 failed")])
                served.post(hot(first + 2) + f'{{"now": {first + 2}}}\n')
                served.until(lambda: manager.standing() == [("", "wt25 failed")])
                served.kill()
                served.start()
                served.post(f'{{"now": {first + 9}}}\n')
                served.until(lambda: manager.standing() == [])
                served.until(served.is_ready)
            finally:
                assert served.stop() == 0
            assert not (tmp_path / name / "state/refused-m.jsonl").exists()
