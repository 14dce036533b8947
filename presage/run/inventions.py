"""What the rules of a program invent in a run, and how the run calls it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from presage.analysis.subject import Subject
from presage.answers import null_name
from presage.checking import Report
from presage.engine.build import make_engine
from presage.engine.relation import Delta
from presage.io.facts import Fact
from presage.io.tables import Columns
from presage.model.statements import Rule
from presage.model.terms import Number, Value
from presage.model.time import TimeSpan
from presage.plan.nodes import Invent
from presage.run.confirmed import Confirming
from presage.run.reasoner import Reasoner
from presage.run.schedule import steps
from presage.run.stratified import StratifiedEngine


@dataclass(slots=True, eq=False)
class _Made:
    """An invented value, and how it is called."""

    key: tuple[Any, ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class _Row:
    """Values that a rule was looked at with and what it invented for them, while its body held."""

    rule: Rule
    values: tuple[Value | _Made, ...]
    span: TimeSpan


class Naming(Confirming):
    """Notes what is invented, and how it is called."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self.nodes = [node for node in self.plan.nodes if isinstance(node, Invent)]
        self.engine = make_engine(subject, self.planned, besides={node.head for node in self.nodes})
        self.rows: list[_Row] = []
        self.standing: dict[int, _Made] = {}
        """Invented values by their numbers, which may be others' later."""

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns]) -> dict[str, Delta]:
        new = super().step(facts, now, tables)
        for node in self.nodes:
            for values in self._tuples(node, new):
                frontier = tuple(values[: -node.count])
                for place, number in enumerate(values[-node.count :]):
                    known, key = self.standing.get(number), (node.head, place, frontier)
                    if known is None or node.timed or known.key != key:
                        self.standing[number] = _Made(key)
        for node in self.nodes:
            assert node.rule is not None
            for values, (low, high) in zip(self._tuples(node, new), self._spans(node, new), strict=True):
                row = tuple(self.standing.get(each) or self.engine.symbols.values[each] for each in values)
                self.rows.append(_Row(node.rule, row, self.engine.grid.span(low, high)))  # type: ignore[arg-type]
        return new

    def _tuples(self, node: Invent, new: dict[str, Delta]) -> list[list[int]]:
        arity = self.plan.sources[node.head].arity
        return new[node.head].tuples[:, :arity].tolist() if node.head in new else []

    def _spans(self, node: Invent, new: dict[str, Delta]) -> list[tuple[int, int]]:
        return (
            list(zip(new[node.head].low.tolist(), new[node.head].high.tolist(), strict=True))
            if node.head in new
            else []
        )

    def note_names(self) -> None:
        """To be called when the answers of a step have been told."""
        for number, made in self.standing.items():
            if not made.name and self.engine.symbols.names[number] > 0:
                made.name = null_name(int(self.engine.symbols.names[number]))

    @property
    def longest_lag(self) -> Number:
        """How long after its time it may turn out that a rule invents something."""
        return max([0, *(each for each in self.lags.lag.values() if not isinstance(each, float))])

    def facts(self, names: dict[int, str]) -> Iterator[Fact]:
        """What was invented, as facts of predicates of the rules."""
        numbers = count(self.engine.symbols.shown + 1)
        for row in self.rows:
            for each in row.values:
                if isinstance(each, _Made) and not each.name:
                    each.name = null_name(next(numbers))
            values = tuple(each.name if isinstance(each, _Made) else each for each in row.values)
            low = row.span.low or 0
            name = names[id(_first(row.rule))]
            yield Fact(name, values, low, row.span.high, row.span.closed_low, row.span.closed_high, low)


def run_naming(report: Report, facts: Sequence[Fact], at: Number) -> Naming:
    """A run up to a time, which calls values what `presage run` calls them."""
    reasoner = Reasoner(report.program, emit="confirmed", report=report)
    assert isinstance(reasoner.engine, StratifiedEngine)
    reasoner.engine._confirming = naming = Naming(reasoner.subject)
    for fact in facts:
        if fact.low is None:
            reasoner.add_statics([fact])
    for answers in steps(reasoner, [each for each in facts if each.low is not None and each.arrival <= at], at):
        list(answers)
        naming.note_names()
    return naming


def _first(rule: Rule) -> Rule:
    """The rule as it is in the program."""
    return rule if rule.origin is None else _first(rule.origin)
