"""The reasoner of a pipeline in one process: entries of the log in, numbered lines out.

Nothing but the entries decides what is told, and in which order: lines of one step are sorted. So a process that begins
again from a snapshot gives the lines after it the numbers they had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from presage.analysis.predicates import Predicate
from presage.answers import INCONSISTENT, Answer, Answers, json_value
from presage.checking import Report, check_program
from presage.io.facts import ISO, TICKS, Checker, Fact, exact, show_fact
from presage.io.line_texts import json_texts
from presage.io.moments import Moments, zone_called
from presage.io.reading_back import fact_again, fact_saved
from presage.io.unknown import Unknown
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.receivers.alerts import AlertRule, Alerts, alert_rules
from presage.receivers.told_lines import ALERT, ANSWER, LATE, ToldLine
from presage.run.arrivals import Incoming
from presage.run.changed_queries import QueryChange
from presage.run.hot_keys import KeyBudget, key_places
from presage.run.layers import Layer
from presage.run.reasoner import Reasoner, what_is_told
from presage.run.saving import program_of
from presage.serve.log import LogEntry
from presage.serve.messages import Message, MessageReader

FEW = 20
"""Answers up to which lines are made one by one: asking for columns costs as much."""


class Reasoning:
    def __init__(
        self,
        report: Report,
        emit: str,
        by_wall: bool,
        statics: Sequence[Fact] = (),
        alerts: Mapping[str, Mapping[str, Any]] | None = None,
        times: str | None = None,
        zone: str = "UTC",
        most_per_key: int | None = None,
    ) -> None:
        """`by_wall`: facts do not move the clock. `alerts`: what is said of them, by query. `times` says how times are
        shown, `ticks` or `iso`; otherwise as the first fact says its own."""
        self.report, self.by_wall, self.asked, self.zone = report, by_wall, times, zone
        self.statics, self.most_per_key = statics, most_per_key
        self.reasoner = Reasoner(report.program, emit=what_is_told(report, emit), report=report)
        self.reasoner.add_statics(statics)
        self._begin(alerts or {})

    def _begin(self, alerts: Mapping[str, Mapping[str, Any]]) -> None:
        self.alert_tables = alerts
        """What is said of alerts, by query."""
        self.alerts = Alerts(self._alert_rules(), self.reasoner.subject.discrete)
        self.incoming = self._incoming(self.reasoner)
        self.messages = MessageReader(self.reasoner.checker)
        self.entry = 0
        """The number of the last entry that was taken."""
        self.told = 0
        """The number of the last line."""
        self.positions: dict[str, Any] = {}
        self.late = 0
        self.changes: list[QueryChange] = []
        """What the last change of rules did to each query."""
        self.history: Callable[[int, int], Iterator[tuple[int, LogEntry]]] = lambda since, before: iter(())
        """The entries from a number on that came before another."""
        self.wants_answers = False
        """Whether lines are to have their answers, and not only their text."""
        self.moments: Moments | None = None
        """What times are shown as; `None`: as the numbers that they are."""
        self.times: str | None = None
        self._show_times(self.asked)

    def _alert_rules(self) -> list[AlertRule]:
        return alert_rules(self.alert_tables, self.reasoner.subject.queries, self.reasoner.checker)

    def _incoming(self, reasoner: Reasoner) -> Incoming:
        found = Incoming(reasoner)
        found.uncounted = []
        if self.most_per_key is not None:
            found.budget = KeyBudget(self.most_per_key, key_places(self.report))
        return found

    def _show_times(self, times: str | None) -> None:
        """Decides how times are shown, as soon as somebody says it."""
        if self.times is None and times is not None:
            self.times = times
            if times == ISO:
                units = self.reasoner.checker.units
                self.moments = Moments(self.reasoner.subject, units, zone_called(self.zone))
                self.alerts.moments = self.moments

    def take(self, number: int, entry: LogEntry, message: Message | None = None) -> Iterator[list[ToldLine]]:
        """The lines of each step that is due by an entry; `message` is what it says, if it has been read. To be used
        up."""
        if message is None:
            message = self.messages.again(entry.payload) if entry.payload else Message()
        self._show_times(entry.times)
        if entry.rules is not None:
            yield self._lines(self._change(number, entry.rules) if "program" in entry.rules else [])
            yield self._other_alerts(entry.rules.get("alerts", self.alert_tables))
        for answers in self._steps(self.incoming, message, entry):
            yield self._lines(answers)
        if entry.clock is not None:
            time = exact(entry.clock)
            if (due := self.alerts.due()) is not None and time is not None and due < time:
                yield self._passed(time)
        if entry.position is not None:
            self.positions[entry.source] = entry.position
        self.entry = number

    def _steps(self, incoming: Incoming, message: Message, entry: LogEntry) -> Iterator[Sequence[Answer]]:
        """The steps that are due by an entry. To be used up."""
        heard = not self.by_wall and not entry.held
        yield from incoming.take_together(message.facts, message.tables, is_heard=heard)
        if message.complete is not None and heard:
            yield from incoming.completed(message.complete)
        if entry.clock is not None:
            time = exact(entry.clock)
            assert time is not None
            yield from incoming.completed(time) if entry.complete else incoming.advance(time)

    # -- other rules ------------------------------------------------------------------------------

    def _change(self, number: int, rules: Mapping[str, Any]) -> Sequence[Answer]:
        """Goes on with other rules; what they say of history, and the end of what is gone."""
        program = program_of(rules["program"])
        report = check_program(program).or_raise()
        assert report.findings is not None
        known = report.findings.subject.predicates
        static: dict[str, list[tuple[Any, ...]]] = {}
        for fact in self.statics:
            if fact.predicate in known and known[fact.predicate].is_static:
                static.setdefault(fact.predicate, []).append(fact.arguments)
        since = rules.get("history")
        times = self.reasoner.checker.times

        def fed(layer: Layer, now: Number | None) -> Iterator[Answer]:
            if since is None:
                return
            layer.begin = None
            checker = Checker(report.program, known, layer.reasoner.subject.discrete)
            checker.unknown = Unknown(ignored=True)
            reader, incoming = MessageReader(checker), self._incoming(layer.reasoner)
            for _, entry in self.history(since, number):
                message = reader.again(entry.payload) if entry.payload else Message()
                message.facts = [fact for fact in message.facts if fact.predicate in layer.reads]
                message.tables = [table for table in message.tables if table.predicate in layer.reads]
                for answers in self._steps(incoming, message, entry):
                    yield from layer.told(answers)

        answers = self.reasoner.become(program, static, fed)
        self.report, self.changes = report, self.reasoner.replaced
        self.incoming.budget = self._incoming(self.reasoner).budget
        self.reasoner.checker.times = times
        self.messages = MessageReader(self.reasoner.checker)
        for time, (facts, tables) in list(self.incoming.waiting.items()):
            self.incoming.waiting[time] = (
                [fact for fact in facts if _fits(fact.predicate, len(fact.arguments), known)],
                [table for table in tables if _fits(table.predicate, len(table.arguments), known)],
            )
        if self.moments is not None:
            self.moments = Moments(self.reasoner.subject, self.reasoner.checker.units, zone_called(self.zone))
            self.alerts.moments = self.moments
        return answers

    def _other_alerts(self, tables: Mapping[str, Mapping[str, Any]]) -> list[ToldLine]:
        """Goes on with other alerts; the end of those that nobody is told any more."""
        self.alert_tables = tables
        return self._as_lines(self.alerts.become(self._alert_rules(), self.reasoner.now))

    def _passed(self, now: Number) -> list[ToldLine]:
        """The alerts that time alone changes, where the program has nothing to say."""
        return self._as_lines(self.alerts.passed(now))

    def _as_lines(self, alerts: Iterable[dict[str, Any]]) -> list[ToldLine]:
        found = []
        for alert in alerts:
            self.told += 1
            found.append(ToldLine.of(self.told, alert, ALERT))
        return found

    def _lines(self, answers: Sequence[Answer]) -> list[ToldLine]:
        now = self.reasoner.now
        if now is None:
            return []  # Rules were changed before anything came.
        found = self._by_columns(answers)
        if found is None:
            found = []
            for answer in sorted(answers, key=_order):
                self.told += 1
                found.append(ToldLine.of(self.told, self._shown(answer.to_json()), ANSWER, answer))
        if self.reasoner.late:
            self.late += len(self.reasoner.late)
            for fact in sorted(self.reasoner.late, key=show_fact):
                self.told += 1
                found.append(ToldLine.of(self.told, self._shown(_late_line(fact, now)), LATE))
            self.reasoner.late.clear()
        if self.alerts.rules:
            found += self._as_lines(self.alerts.take([line.answer for line in found if line.answer is not None], now))
        return found

    def _shown(self, line: dict[str, Any]) -> dict[str, Any]:
        return line if self.moments is None else self.moments.line(line)

    def _by_columns(self, answers: Sequence[Answer]) -> list[ToldLine] | None:
        """Lines whose answers nobody has made, where they come by the column and nobody asks for more."""
        if self.moments is not None:
            return None
        if self.alerts.rules or self.wants_answers or not isinstance(answers, Answers) or answers.columns is None:
            return None
        if len(answers) < FEW:
            return None
        tables = answers.columns.tables()
        if len(tables) != 1:
            return None
        texts = json_texts(tables[0], self.told + 1)
        if texts is None:
            return None
        found = [
            ToldLine(number, text, key, ANSWER, status)
            for number, (text, status, key) in enumerate(texts, self.told + 1)
        ]
        self.told += len(found)
        return found

    def uncounted(self) -> list[Fact]:
        """The facts that were left aside since somebody asked, since no engine counts their times."""
        found, self.incoming.uncounted = self.incoming.uncounted or [], []
        return found

    def beyond_budget(self) -> list[Fact]:
        """The facts that were left aside since somebody asked, since their keys had too many."""
        return [] if self.incoming.budget is None else self.incoming.budget.taken_aside()

    # -- what is known about it -------------------------------------------------------------------

    @property
    def open(self) -> int:
        return self.reasoner.open_count

    def due(self) -> Number | None:
        """The earliest time at which something is to be done though nothing comes."""
        waiting = min(self.incoming.waiting, default=None)
        wake = None if self.reasoner.now is None else self.reasoner.next_decision()
        return min((each for each in (waiting, wake, self.alerts.due()) if each is not None), default=None)

    def waits(self) -> tuple[Number | None, bool]:
        """The latest time heard of, and whether what has come waits for the clock to get there."""
        clock = self.incoming.clock
        latest = max([*self.incoming.waiting, *([] if clock is None else [clock])], default=None)
        return latest, latest is not None and latest != clock

    # -- snapshots --------------------------------------------------------------------------------

    def save(self) -> tuple[dict[str, Any], bytes]:
        incoming = self.incoming
        waiting = [
            [
                show_number(time),
                [fact_saved(fact) for fact in facts] + [fact_saved(f) for table in tables for f in table.facts()],
            ]
            for time, (facts, tables) in sorted(incoming.waiting.items())
        ]
        head = {
            "told": self.told, "late": self.late, "alerts": self.alerts.save(), "alert_tables": self.alert_tables,
            "positions": self.positions, "waiting": waiting, "times": self.times, "complete": incoming.complete,
            "clock": None if incoming.clock is None else show_number(incoming.clock),
            "last": show_number(incoming.last),
        }  # fmt: skip
        return head, self.reasoner.save(standing=False)

    @classmethod
    def restore(
        cls,
        report: Report,
        by_wall: bool,
        alerts: Mapping[str, Mapping[str, Any]],
        statics: Sequence[Fact],
        times: str | None,
        zone: str,
        number: int,
        head: dict[str, Any],
        body: bytes,
        most_per_key: int | None = None,
    ) -> Reasoning:
        found = cls.__new__(cls)
        found.report, found.by_wall, found.asked, found.zone = report, by_wall, times, zone
        found.statics, found.most_per_key = statics, most_per_key
        found.reasoner = Reasoner.restore(report.program, body)
        found._begin(alerts)
        found.alerts.restore(head["alerts"])
        found.entry, found.told, found.late = number, head["told"], head["late"]
        found.positions = head["positions"]
        # What facts said is what they say from now on; snapshots of before show numbers.
        found.reasoner.checker.times = known = head.get("times", TICKS if head["told"] else None)
        found._show_times(known)
        incoming = found.incoming
        incoming.clock = None if head["clock"] is None else exact(head["clock"])
        incoming.complete = head["complete"]
        incoming.last = exact(head["last"]) or 0
        for time, facts in head["waiting"]:
            incoming._at(exact(time) or 0)[0].extend(map(fact_again, facts))
        return found


def _fits(name: str, arity: int, known: Mapping[str, Predicate]) -> bool:
    """Whether what waits is a fact of the program's inputs."""
    return name in known and known[name].takes(arity)


def _order(answer: Answer) -> tuple[str, str]:
    return ("", "") if answer.status == INCONSISTENT else (answer.answer, answer.status)


def _late_line(fact: Fact, now: Number) -> dict[str, Any]:
    assert fact.low is not None
    line: dict[str, Any] = {
        "now": json_value(now), "pred": fact.predicate, "args": [json_value(value) for value in fact.arguments],
        "fact": show_fact(fact),
    }  # fmt: skip
    if fact.low == fact.high:
        return line | {"time": json_value(fact.low)}
    bounds = ("[" if fact.closed_low else "(") + ("]" if fact.closed_high else ")")
    return line | {
        "from": json_value(fact.low),
        "to": None if fact.high is None else json_value(fact.high),
        "bounds": bounds,
    }
