"""Alerts a person can live with: of many answers about one thing, when it begins and when it is over.

Answers of a query are one alert by their group. It is pending as soon as one of them is possible, fires when it has
been confirmed for long enough, is silent for a while after it has fired, and is resolved when it is over. All of it
goes by the time of the stream, so that the same answers give the same alerts, whenever they are worked off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

from presage.answers import Answer, json_value, show_value, shown_name
from presage.colours import tone_of
from presage.io.facts import Checker, exact
from presage.io.moments import Moments
from presage.model.printer import show_number
from presage.model.statements import Query
from presage.model.terms import Number

_PLACE = re.compile(r"\{([^{}]*)\}")
PENDING, FIRING, RESOLVED = "pending", "firing", "resolved"


SEVERITIES = {"bad": "critical", "": "warning", "good": "info"}
"""How severe alerts are where the pipeline does not say: as the program calls their query."""


@dataclass(frozen=True, slots=True)
class AlertRule:
    """What is said of the alerts of a query."""

    query: str
    severity: str
    text: str
    least: Number
    """How long it must be so."""
    cooldown: Number
    group: tuple[str, ...] | None
    pending: bool
    resolved: bool
    resolve_after: Number
    labels: Mapping[str, str]

    @classmethod
    def of(cls, query: str, said: Mapping[str, Any], checker: Checker, tone: str = "") -> AlertRule:
        """`tone` is what the program calls the query: `bad`, `good` or nothing."""

        def length(name: str, otherwise: Number) -> Number:
            return checker.length(str(said[name]), name) if name in said else otherwise

        return cls(
            query, str(said.get("severity", SEVERITIES[tone])), str(said.get("text", "{answer}")), length("for", 0),
            length("cooldown", 0), tuple(said["group"]) if "group" in said else None, bool(said.get("pending", True)),
            bool(said.get("resolved", True)), length("resolve_after", 1), dict(said.get("labels", {})),
        )  # fmt: skip

    def plain(self) -> dict[str, Any]:
        return {**asdict(self), **{name: show_number(getattr(self, name)) for name in _LENGTHS}}

    @classmethod
    def of_plain(cls, said: Mapping[str, Any]) -> AlertRule:
        lengths = {name: exact(said[name]) or 0 for name in _LENGTHS}
        group = None if said["group"] is None else tuple(said["group"])
        return cls(**{**said, **lengths, "group": group})


_LENGTHS = ("least", "cooldown", "resolve_after")


@dataclass(slots=True)
class AlertGroup:
    """How one alert stands."""

    rule: str
    bindings: dict[str, Any]
    state: str = ""
    """What was told last: nothing, `pending`, `firing`."""
    possible: dict[str, Any] = field(default_factory=dict)
    """The possible answers, each with its deadline, its text and what the alert's text may name of it."""
    lasting: list[str] = field(default_factory=list)
    """The answers that hold on and have no end yet."""
    since: str | None = None
    """From when on it has been so without a gap."""
    until: str | None = None
    """Up to when it is known to be so."""
    heard: str | None = None
    """When it was heard of last."""
    fired: str | None = None
    """When it fired last."""
    count: int = 0
    """Confirmed answers since it began."""
    answer: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    """What the text may name of the last answer that was told of."""


def alert_rules(said: Mapping[str, Mapping[str, Any]], queries: Iterable[Query], checker: Checker) -> list[AlertRule]:
    """What a pipeline file says of alerts, by query."""
    tones = {shown_name(each.atom.predicate): tone_of(each) for each in reversed([*queries])}
    return [AlertRule.of(query, each, checker, tones.get(query, "")) for query, each in said.items()]


class Alerts:
    def __init__(self, rules: Iterable[AlertRule], discrete: bool = True) -> None:
        self.rules = {rule.query: rule for rule in rules}
        self._next = 1 if discrete else 0
        """How far one time may be from another with none in between."""
        self.groups: dict[str, AlertGroup] = {}
        self._timed: set[str] = set()
        """Those that time alone may change."""
        self.moments: Moments | None = None
        """What times are shown as."""

    # -- what happens -----------------------------------------------------------------------------

    def take(self, answers: Iterable[Answer], now: Number) -> Iterator[dict[str, Any]]:
        """The alerts that change by the answers of a step, and by the time that has passed until then."""
        # What was over before these answers is over, and does not go on with them, however long nobody has looked.
        yield from self.passed(now)
        yield from self._step(answers, now)

    def passed(self, now: Number) -> Iterator[dict[str, Any]]:
        """The alerts that time alone changes before a time."""
        at: Number | None = None
        while (due := self.due()) is not None and due < now:
            # What ends may let something be told that was due before, and silent: it is told when it may.
            at = due if at is None else max(at, due)
            yield from self._step([], at)
            if self.due() == due:
                return

    def _step(self, answers: Iterable[Answer], now: Number) -> Iterator[dict[str, Any]]:
        looked_at = set(self._timed)
        for answer in sorted(answers, key=_when):
            rule = self.rules.get(shown_name(answer.predicate))
            if rule is None:
                continue
            key, group = self._group(rule, answer)
            looked_at.add(key)
            self._hear(group, answer, now)
        for key in sorted(looked_at):
            group = self.groups[key]
            yield from self._look(key, group, now)
            if self._is_over(group, now):
                del self.groups[key]
                self._timed.discard(key)
            elif group.since is not None or group.fired is not None:
                self._timed.add(key)

    def _group(self, rule: AlertRule, answer: Answer) -> tuple[str, AlertGroup]:
        names = rule.group if rule.group is not None else tuple(answer.bindings)
        known = {name: answer.bindings[name] for name in names if name in answer.bindings}
        bindings = {name: json_value(value) for name, value in known.items()}
        # As in answers: the number 1 is not the text "1".
        key = f"{rule.query}({', '.join(f'{name}={show_value(value)}' for name, value in known.items())})"
        return key, self.groups.setdefault(key, AlertGroup(rule.query, bindings))

    def _hear(self, group: AlertGroup, answer: Answer, now: Number) -> None:
        line = answer.to_json()
        key = str(line.get("key", line["answer"]))
        if answer.status == "possible":
            group.possible[key] = [line["decided_by"], answer.answer, _fields(line)]
            return
        group.possible.pop(key, None)
        if answer.status not in ("confirmed", "holds"):
            return
        low = answer.time if answer.time is not None else answer.start
        high = answer.time if answer.time is not None else answer.end
        group.answer, group.fields = answer.answer, _fields(line)
        group.heard = show_number(now)
        if key in group.lasting:
            group.lasting.remove(key)  # Its end: it has been counted.
        else:
            group.count += 1
        if answer.status == "holds":
            group.lasting.append(key)
        begin: Number = low if low is not None else now
        end: Number = high if high is not None else now
        known = _time(group.until)
        if group.since is None or (known is not None and begin > known + self._next and not group.lasting):
            group.since = show_number(begin)
        group.until = show_number(end if known is None else max(end, known))

    def _look(self, key: str, group: AlertGroup, now: Number) -> Iterator[dict[str, Any]]:
        rule = self.rules[group.rule]
        if group.state == FIRING:
            if self._ends(group, rule) is not None and now >= (self._ends(group, rule) or 0):
                yield from self._tell(rule, key, group, RESOLVED, now, rule.resolved)
                group.state, group.since, group.until, group.count = "", None, None, 0
        elif group.since is not None:
            ends = self._ends(group, rule)
            if ends is not None and now >= ends and group.heard != show_number(now):
                # It was over before it had been so for long enough, or while everybody had enough of it.
                group.since, group.until, group.count = None, None, 0
            elif self._fires_at(group, rule, now):
                yield from self._tell(rule, key, group, FIRING, now, True)
                group.state, group.fired = FIRING, show_number(now)
        if group.state == "" and group.possible and rule.pending and self._may_speak(group, rule, now):
            yield from self._tell(rule, key, group, PENDING, now, True)
            group.state = PENDING
        elif group.state == PENDING and not group.possible and group.since is None:
            yield from self._tell(rule, key, group, RESOLVED, now, rule.resolved)
            group.state = ""

    def _fires_at(self, group: AlertGroup, rule: AlertRule, now: Number) -> bool:
        since, until = _time(group.since), _time(group.until)
        assert since is not None and until is not None
        reached = max(until, now) if group.lasting else until
        return reached - since >= rule.least and self._may_speak(group, rule, now)

    def _may_speak(self, group: AlertGroup, rule: AlertRule, now: Number) -> bool:
        """Whether it is long enough ago that it fired."""
        fired = _time(group.fired)
        return fired is None or now >= fired + rule.cooldown

    def _ends(self, group: AlertGroup, rule: AlertRule) -> Number | None:
        """When an alert is over, if nothing more is heard; not while something holds on."""
        heard = _time(group.heard)
        return None if group.lasting or heard is None else heard + rule.resolve_after

    def _is_over(self, group: AlertGroup, now: Number) -> bool:
        idle = not group.state and not group.possible and group.since is None
        return idle and self._may_speak(group, self.rules[group.rule], now)

    def due(self) -> Number | None:
        """The earliest time at which time alone changes an alert."""
        found: list[Number] = []
        for group in (self.groups[key] for key in self._timed):
            rule, fired, since = self.rules[group.rule], _time(group.fired), _time(group.since)
            ends = self._ends(group, rule)
            if since is not None and ends is not None:
                found.append(ends)
            if group.state != FIRING and since is not None:
                until, speaks = _time(group.until), since if fired is None else fired + rule.cooldown
                if group.lasting:
                    found.append(max(since + rule.least, speaks))
                elif until is not None and until - since >= rule.least:
                    found.append(speaks)
            if group.state == "" and group.possible and rule.pending and fired is not None:
                found.append(fired + rule.cooldown)
        return min(found, default=None)

    def become(self, rules: Iterable[AlertRule], now: Number | None) -> Iterator[dict[str, Any]]:
        """Goes on with other rules. What stands under one that is gone, or whose groups are others, is over; where
        only its labels are others it is over under these, and begins under those."""
        before, self.rules = self.rules, {rule.query: rule for rule in rules}
        for key, group in sorted(self.groups.items()):
            was, rule = before[group.rule], self.rules.get(group.rule)
            if rule is not None and (was.severity, was.labels, was.group) == (rule.severity, rule.labels, rule.group):
                continue
            if group.state and now is not None:
                yield from self._tell(was, key, group, RESOLVED, now, was.resolved)
            group.state, group.fired = "", None
            if rule is None or was.group != rule.group:
                del self.groups[key]
                self._timed.discard(key)
            elif now is not None:
                yield from self._look(key, group, now)

    # -- what is told -----------------------------------------------------------------------------

    def _tell(
        self, rule: AlertRule, key: str, group: AlertGroup, state: str, now: Number, is_told: bool
    ) -> Iterator[dict[str, Any]]:
        if is_told:
            yield self._line(rule, key, group, state, now)

    def _line(self, rule: AlertRule, key: str, group: AlertGroup, state: str, now: Number) -> dict[str, Any]:
        soonest = min(group.possible.values(), key=lambda each: _sortable(each[0]), default=None)
        deadline = None
        if state == PENDING and soonest is not None:
            deadline, group.answer, group.fields = soonest
        since = _time(group.since)
        fields, answer, bindings = dict(group.fields), group.answer, group.bindings
        if self.moments is not None:
            shown = self.moments.line({"answer": answer, "bindings": dict(group.bindings)})
            answer, bindings = shown["answer"], shown["bindings"]
            fields |= {name: self._moment(fields[name]) for name in ("time",) if name in fields}
            fields |= {name: value for name, value in bindings.items() if name in fields}
        deadline = self._moment(deadline)
        known = {
            **bindings, **fields, "answer": answer, "status": state, "severity": rule.severity,
            "now": self._moment(json_value(now)), "count": group.count, "deadline": deadline,
        }  # fmt: skip
        words = {name: "none" if value is None else value for name, value in known.items()}
        text = _PLACE.sub(lambda found: str(words.get(found[1], found[0])), rule.text)
        return {
            "now": self._moment(json_value(now)), "alert": rule.query, "state": state, "key": key,
            "severity": rule.severity, "text": text, "bindings": bindings, "answer": answer, "count": group.count,
            "since": None if since is None else self._moment(json_value(since)),
            "deadline": deadline, "labels": dict(rule.labels),
        }  # fmt: skip

    def _moment(self, given: Any) -> Any:
        """A time as it is shown."""
        if self.moments is None or given is None or (isinstance(given, str) and exact(given) is None):
            return given
        return self.moments.moment(exact(str(given)) or 0)

    def standing(self, now: Number) -> list[dict[str, Any]]:
        """What fires or is pending."""
        return [
            self._line(self.rules[group.rule], key, group, group.state, now)
            for key, group in sorted(self.groups.items())
            if group.state in (FIRING, PENDING)
        ]

    # -- snapshots --------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        return {key: asdict(group) for key, group in self.groups.items()}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Alerts of queries that nobody is alerted by any more are forgotten."""
        self.groups = {key: AlertGroup(**group) for key, group in saved.items() if group["rule"] in self.rules}
        self._timed = {key for key, group in self.groups.items() if group.since is not None or group.fired is not None}


def _when(answer: Answer) -> tuple[bool, Number]:
    """By their times, so that a stretch is seen to go on; those whose time is open come last."""
    begin = answer.time if answer.time is not None else answer.start
    return begin is None, 0 if begin is None else begin


def _fields(line: Mapping[str, Any]) -> dict[str, Any]:
    time = line["time"] if line.get("time") is not None else line.get("from")
    return {**line["bindings"], "time": time}


def _time(text: str | None) -> Number | None:
    return None if text is None else exact(text)


def _sortable(given: Any) -> tuple[int, Any]:
    if given is None:
        return 2, 0
    if isinstance(given, str) and exact(given) is None:
        return 1, given
    return 0, Fraction(given)
