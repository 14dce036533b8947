"""Durations and timestamps become numbers of time units, by the program's `tick` and `start`.

Everything after this pass sees plain exact numbers; what was written stays in the original.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

from presage.errors import Diagnostic, Span
from presage.model.formulas import BinaryMetric, Comparison, Formula, Metric, Over, Pinned, Windowed, transform
from presage.model.functions import OF_TIME
from presage.model.program import Program
from presage.model.statements import Distribution, Head, Horizon, Input, Query, Rule, Start, Statement
from presage.model.terms import Clock, Constant, Function, Number, Parameter, Term, map_term, number
from presage.model.time import Duration, Interval, Pin, TimeLiteral, Timestamp
from presage.model.windows import TimeWindow
from presage.syntax import UNITS

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DURATION = re.compile(rf"(\d{{1,30}}(?:\.\d{{1,30}})?)({'|'.join(UNITS)})")


def milliseconds_between(earlier: datetime, later: datetime) -> Fraction:
    gap = later - earlier
    return Fraction(gap.days * 86_400_000) + gap.seconds * 1000 + Fraction(gap.microseconds, 1000)


def duration_in(text: str) -> Duration | None:
    """The duration that a text outside of programs writes, such as `5m` or `0.5h`."""
    written = _DURATION.fullmatch(text)
    return None if written is None else Duration(number(Fraction(written[1])), written[2])


class Units:
    """The arithmetic of one program's units; collects what does not fit."""

    def __init__(self, program: Program) -> None:
        tick, start = program.tick, program.setting(Start)
        self.tick = tick.length.milliseconds if tick else None
        self.start = start.moment.moment if start else EPOCH
        self.problems: list[Diagnostic] = []

    def time(self, value: TimeLiteral, may_be_before_start: bool = False) -> Number:
        if isinstance(value, Duration):
            return number(value.milliseconds / self._tick(value.span))
        if isinstance(value, Timestamp):
            ticks = math.floor(milliseconds_between(self.start, value.moment) / self._tick(value.span))
            if ticks < 0 and not may_be_before_start:
                hint = "move `start` back, or drop what lies before it"
                self.problems.append(
                    Diagnostic("T104", "this time lies before the start of the stream", value.span, hint)
                )
            return ticks
        assert not isinstance(value, Parameter), "parameters have their values before units have theirs"
        return value

    def _tick(self, span: Span) -> Fraction:
        if self.tick is not None:
            return self.tick
        # One missing declaration is one mistake, however many durations there are.
        if not any(each.code == "D107" for each in self.problems):
            hint = "declare the length of a time unit, `tick 1s.`, or write a plain number of units"
            self.problems.append(
                Diagnostic("D107", "a duration, a timestamp or a function of time needs a `tick`", span, hint)
            )
        return Fraction(1)

    def interval(self, interval: Interval) -> Interval:
        low = self.time(interval.low)
        high = None if interval.high is None else self.time(interval.high)
        found = replace(interval, low=low, high=high)
        if high is not None and (low > high or (low == high and not (found.closed_low and found.closed_high))):
            self.problems.append(
                Diagnostic("P207", "the interval is empty", interval.span, "the smaller bound comes first")
            )
        return found

    def pin(self, pin: Pin) -> Pin:
        return replace(pin, offset=self.time(pin.offset))

    def term(self, term: Term) -> Term:
        return map_term(term, self._term)

    def _term(self, term: Term) -> Term:
        match term:
            case Duration() | Timestamp():
                return Constant(self.time(term, may_be_before_start=True), span=term.span)
            case Function(name=name) if name in OF_TIME:
                return replace(term, clock=Clock(self._tick(term.span), self.start))
            case _:
                return term

    def formula(self, formula: Formula) -> Formula:
        return transform(formula, self._node)

    def _node(self, node: Formula) -> Formula:
        match node:
            case Pinned(pin=pin):
                return replace(node, pin=self.pin(pin))
            case Over(interval=interval) | Metric(interval=interval) | BinaryMetric(interval=interval):
                return replace(node, interval=self.interval(interval))
            case Windowed(window=TimeWindow() as window):
                return replace(node, window=self._window(window))
            case Comparison(left=left, right=right):
                return replace(node, left=self.term(left), right=self.term(right))
            case _:
                return node

    def _window(self, window: TimeWindow) -> TimeWindow:
        back, ahead, hop = (
            None if part is None else self.time(part) for part in (window.back, window.ahead, window.hop)
        )
        if hop is not None and back is not None and ahead is not None and hop > back + ahead:
            hint = "[LARS] Definition 3 wants hop ≤ back + ahead"
            self.problems.append(Diagnostic("P209", "the hop is larger than the window", window.span, hint))
        return replace(window, back=back, ahead=ahead, hop=hop)

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case Rule(head=head, body=body):
                new_head: Head | None = None
                if head is not None:
                    new_head = replace(head, atoms=tuple(self.formula(atom) for atom in head.atoms))
                new = replace(statement, head=new_head, body=tuple(self.formula(part) for part in body))
                return statement if new == statement else replace(new, origin=statement)
            case Input(delay=Distribution() as delay):
                parts = tuple((self.time(wait), share) for wait, share in delay.parts)
                if len({wait for wait, _ in parts}) < len({wait for wait, _ in delay.parts}):
                    self.problems.append(
                        Diagnostic("D104", "a delay is listed twice", delay.span, "list each delay once")
                    )
                return replace(statement, delay=replace(delay, parts=parts))
            case Input(delay=delay) if delay is not None:
                assert not isinstance(delay, Distribution)
                return replace(statement, delay=self.time(delay))
            case Horizon(length=length):
                return replace(statement, length=self.time(length))
            case Query(pin=pin) if pin is not None:
                return replace(statement, pin=self.pin(pin))
            case _:
                return statement


def resolve_units(program: Program) -> tuple[Program, list[Diagnostic]]:
    units = Units(program)
    statements = tuple(units.statement(statement) for statement in program.statements)
    return replace(program, statements=statements), units.problems
