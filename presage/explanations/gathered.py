"""`presage explain` for answers whose aggregates have neither proofs nor premises: the values of all that was counted.

The rule is asked of the facts that had arrived, as `presage ask` would, and so is the body of each of its aggregates.
Whether the answer is settled is what a run says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from presage.analysis.aggregates import alone, in_braces, in_rule, timed_atoms
from presage.answer_streams.evaluation import Evaluation
from presage.answers import json_value, show_answer_atom
from presage.evidence.proof import NamedValues
from presage.evidence.tabling import SeenStream
from presage.explanations.outline import Outline, Sign, point
from presage.explanations.result import Explanation
from presage.io.facts import Fact
from presage.model.aggregating import worth
from presage.model.formulas import Atom, Comparison, Formula, Pinned
from presage.model.printer import show_formula, show_number
from presage.model.statements import Rule
from presage.model.terms import Constant, Number, Value, Variable, number
from presage.model.time import Pin, TimeSpan
from presage.model.values import is_true, value_of
from presage.run.reasoner import Reasoner
from presage.run.schedule import steps

if TYPE_CHECKING:
    from presage.checking import Report
    from presage.evidence.proof import InputFact, Record

MOST_SHOWN = 8
"""So many tuples are laid out for people; JSON has them all."""
DEEPEST = 3
"""So far down is said what was counted for what a rule rests on."""


@dataclass(frozen=True, slots=True)
class _Set:
    """What was counted: the aggregate as written, its tuples with the facts that they are of, and what it is worth.
    Where a comparison asks for something else, what that is, and how much is missing."""

    written: str
    tuples: dict[tuple[Any, ...], tuple[str, ...]]
    value: Any
    wanted: str | None
    missing: Number | None

    def __str__(self) -> str:
        size = len(self.tuples)
        said = "has no value" if self.value is None else f"is {_text(self.value)}"
        said = f"{self.written} {said}, of {size} tuple{'' if size == 1 else 's'}"
        if self.wanted is not None:
            said += f", where {self.wanted} is asked for"
        return said if self.missing is None else f"{said}: {show_number(self.missing)} missing"


_Judged = list[tuple[Rule, bool, list[_Set]]]
"""Rules, whether each gives the answer, and what was counted for it."""


def explain_gathered(report: Report, record: Record, atom: Atom, span: TimeSpan) -> Explanation | None:
    """`None` where nothing was counted for it, and on dense time, where the facts cannot be asked."""
    telling, rules = _telling(report, record, atom, span)
    return telling.of(rules) if telling and rules else None


def with_what_was_counted(
    found: Explanation, report: Report, record: Record, atom: Atom, span: TimeSpan
) -> Explanation:
    """What premises say of an answer that failed, and what was counted for it."""
    telling, rules = _telling(report, record, atom, span)
    judged = telling.judged(rules) if telling else []
    sets = [each for _, _, parts in judged for each in parts]
    if telling is None or not sets:
        return found
    says = f"{found.says}: {_said(sets)}"
    outline = replace(found.outline, text=says, below=(*found.outline.below, *telling.outlines(judged)))
    return replace(found, line={**found.line, "says": says, "counted": _in_json(sets)}, outline=outline)


def _telling(report: Report, record: Record, atom: Atom, span: TimeSpan) -> tuple[_Telling | None, list[Rule]]:
    time = span.low
    if not record.discrete or not isinstance(time, int) or not span.is_point:
        return None, []
    rules = [rule for rule in record.program.rules if rule.body and _values_of(rule, atom, time) is not None]
    return _Telling(report, record, atom, time), rules


def _said(sets: list[_Set]) -> str:
    return "; ".join(map(str, sets[:MOST_SHOWN]))


def _in_json(sets: list[_Set]) -> list[dict[str, Any]]:
    return [
        {
            "aggregate": each.written,
            "value": None if each.value is None else json_value(each.value),
            "tuples": [list(map(json_value, key)) for key in each.tuples],
            "wanted": each.wanted,
            "missing": None if each.missing is None else json_value(each.missing),
        }
        for each in sets
    ]


class _Telling:
    def __init__(self, report: Report, record: Record, atom: Atom, time: int) -> None:
        assert report.findings is not None
        self.report, self.subject = report, report.findings.subject
        self.record, self.atom, self.time = record, atom, time
        self.besides: list[str] = []
        """What a rule that gives the answer rests on beside what is counted."""
        self.seen = [fact for facts in SeenStream(record).by_name.values() for fact in facts]
        self.arrived = {
            f"{show_answer_atom(fact.predicate, fact.arguments)}@{show_number(at)}": fact.arrives
            for fact in self.seen
            if (at := fact.span.low) is not None
        }

    def judged(self, rules: Iterable[Rule]) -> _Judged:
        """Rules that give the answer come first."""
        found: _Judged = []
        for rule in rules:
            head = _values_of(rule, self.atom, self.time) or {}
            replies = self._asked(rule.body, head)
            found.append((rule, bool(replies), list(self._sets(rule, replies[0] if replies else head))))
            if replies and not self.besides:
                self.besides += self._facts(rule.body, replies[0])
        return sorted(found, key=lambda each: not each[1])

    def of(self, rules: Iterable[Rule]) -> Explanation | None:
        found = self.judged(rules)
        holds = found[0][1]
        is_settled = holds and self._is_confirmed()
        answer, at = show_formula(Pinned(self.atom, Pin(None, self.time))), show_number(self.record.at)
        status = "confirmed" if is_settled else "not entailed"
        stands = f"is confirmed at {at}" if is_settled else f"is not confirmed at {at}"
        says = f"{answer} {stands}"
        if holds and not is_settled:
            says += ", though what has arrived says so: more of what counts may still come"
        shown_rules = found[:1] if holds else found
        sets = [each for _, _, parts in shown_rules for each in parts]
        if not sets:
            return None
        says += ": " + _said(sets)
        counted = (fact for each in sets for facts in each.tuples.values() for fact in facts)
        because = sorted({*counted, *self.besides}, key=lambda each: (self.arrived[each], each)) if holds else []
        decisive = because[-1] if is_settled and because else None
        if decisive is not None:
            says += f"; {decisive} came last, at {self._when(decisive)}"
        line = {
            "answer": answer,
            "at": json_value(self.record.at),
            "status": status,
            "says": says,
            "because": because,
            "history": None,
            "ways": [],
            "failed": None,
            "rules": [{"line": self._line(rule)} for rule, _, _ in shown_rules],
            "proof": None,
            "decisive": decisive,
            "counted": _in_json(sets),
        }
        sign = Sign.CONFIRMED if is_settled else Sign.UNSUPPORTED
        return Explanation(
            line,
            Outline(says, "", sign, show_formula(self.atom), point(self.time), None, self.outlines(shown_rules)),
            self.record.at,
        )

    def outlines(self, judged: _Judged) -> tuple[Outline, ...]:
        return tuple(
            Outline(f"line {self._line(rule)}", "" if fires else "not so", below=tuple(map(self._outline, parts)))
            for rule, fires, parts in judged
        )

    def _line(self, rule: Rule) -> int:
        return self.record.program.line_of(rule)

    def _outline(self, counted: _Set) -> Outline:
        parts = list(counted.tuples.items())
        below = [
            Outline(
                f"({', '.join(map(_text, key))})", ", ".join(f"{each} arrived at {self._when(each)}" for each in facts)
            )
            for key, facts in parts[:MOST_SHOWN]
        ]
        if len(parts) > MOST_SHOWN:
            below.append(Outline(f"and {len(parts) - MOST_SHOWN} more"))
        return Outline(str(counted), below=tuple(below))

    def _when(self, fact: str) -> str:
        return show_number(self.arrived[fact])

    # -- what the facts say -----------------------------------------------------------------------

    def _sets(self, rule: Rule, known: Mapping[str, Value], deeper: int = DEEPEST) -> Iterator[_Set]:
        """The aggregates of a rule whose shared variables are known, each with its set; then those of what it asks
        for, so deep."""
        text = self.record.program.source.text if self.record.program.file_of(rule) is None else ""
        for comparison, aggregate in in_rule(rule):
            shared = {name: known[name] for name in aggregate.shared or () if name in known}
            if {*(aggregate.shared or ())} - {*shared}:
                continue
            tuples: dict[tuple[Any, ...], tuple[str, ...]] = {}
            for values in self._asked(aggregate.body, shared):
                key = tuple(value_of(term, values.get) for term in aggregate.terms)
                if None not in key:
                    tuples.setdefault(key, tuple(self._facts(aggregate.body, values)))
            written = (
                " ".join(text[aggregate.span.start : aggregate.span.end].split()) or f"{aggregate.function} {{ … }}"
            )
            ordered = dict(sorted(tuples.items(), key=lambda each: _order(each[0])))
            value = worth(aggregate.function, tuples)
            asked = _asked_for(comparison, value, known) if comparison in rule.body else (None, None)
            yield _Set(written or aggregate.function, ordered, value, *asked)
        for literal in rule.body if deeper else ():
            if isinstance(literal, Atom) and self.subject.predicates[literal.predicate].kind == "derived":
                yield from self._below(literal, known, deeper - 1)

    def _below(self, literal: Atom, known: Mapping[str, Value], deeper: int) -> Iterator[_Set]:
        """What was counted for something derived that a rule asks for, by the first rule that gives it."""
        row = [value_of(each, known.get) for each in literal.arguments]
        if None in row:
            return
        atom = Atom(literal.predicate, tuple(Constant(each) for each in row if each is not None))  # type: ignore[arg-type]
        for rule in self.record.program.rules:
            head = _values_of(rule, atom, self.time) if rule.body else None
            replies = [] if head is None else self._asked(rule.body, head)
            if replies:
                yield from self._sets(rule, replies[0], deeper)
                return

    def _facts(self, body: Iterable[Formula], values: NamedValues) -> Iterator[str]:
        """The facts of the stream among what a body asks for, by the values of its variables."""
        for formula in body:
            for atom, pinned in timed_atoms(formula):
                at = self.time if pinned is None else values.get(pinned.name)
                if isinstance(at, int):
                    yield from self._fitting(
                        atom.predicate, tuple(value_of(each, values.get) for each in atom.arguments), at
                    )

    def _fitting(self, name: str, row: tuple[Any, ...], at: int) -> Iterator[str]:
        for fact in self.seen:
            if (
                fact.predicate == name
                and _covers(fact, at)
                and all(value is None or value == own for value, own in zip(row, fact.arguments, strict=True))
            ):
                yield f"{show_answer_atom(name, fact.arguments)}@{show_number(fact.span.low)}"  # type: ignore[arg-type]
                return

    def _asked(self, body: tuple[Formula, ...], known: Mapping[str, Value]) -> list[NamedValues]:
        """The values of a body's variables for which it holds."""
        question = in_braces(body, known)
        facts = [Fact(each.predicate, each.arguments, each.span.low, each.span.high, True, True, None)
                 for each in self.seen]  # fmt: skip
        facts += [Fact(name, row, None, None) for name, row in self.record.statics]
        last = max([self.time, *(int(fact.high) for fact in facts if fact.high is not None)])
        evaluation = Evaluation(self.subject, facts, self.time, (0, last), question)
        return [{**known, **dict(reply.bindings)} for reply in evaluation.ask(question)]  # type: ignore[arg-type]

    def _is_confirmed(self) -> bool:
        """Whether a run up to then confirms the answer."""
        reasoner = Reasoner(self.report.program, emit="confirmed", report=self.report)
        reasoner.add_statics([Fact(name, row, None, None) for name, row in self.record.statics])
        facts = [Fact(each.predicate, each.arguments, each.span.low, each.span.high, True, True, each.arrives)
                 for each in self.seen]  # fmt: skip
        arguments = tuple(each.value for each in self.atom.arguments if isinstance(each, Constant))
        for answers in steps(reasoner, facts, self.record.at):
            for each in answers:
                if each.predicate != self.atom.predicate or tuple(each.arguments) != arguments:
                    continue
                first, last = (each.time, each.time) if each.time is not None else (each.start, each.end)
                if first is not None and first <= self.time and (last is None or self.time <= last):
                    return True
        return False


def _values_of(rule: Rule, atom: Atom, time: Number) -> NamedValues | None:
    """The values that a head's variables have for an atom at a time; `None` where it is another's."""
    for head in rule.head_atoms:
        inner, found = head, dict[str, Value]()
        if isinstance(head, Pinned):
            inner = head.formula
            if isinstance(head.pin.base, Variable):
                found[head.pin.base.name] = time - (head.pin.offset or 0)  # type: ignore[operator]
        if not isinstance(inner, Atom) or inner.predicate != atom.predicate:
            continue
        for own, asked in zip(inner.arguments, atom.arguments, strict=True):
            if not isinstance(asked, Constant):
                return None
            if isinstance(own, Variable):
                if found.setdefault(own.name, asked.value) != asked.value:
                    break
            elif own != asked:
                break
        else:
            return found
    return None


def _asked_for(comparison: Comparison, value: Any, known: Mapping[str, Value]) -> tuple[str | None, Number | None]:
    """What a comparison asks an aggregate to be, if that is known and it is not, and how much is missing."""
    found = alone(comparison)
    wanted = None if found is None else value_of(found[2], known.get)
    if found is None or wanted is None or is_true(found[1], value, wanted):
        return None, None
    aggregate, operator, _ = found
    missing: Number | None = None
    if operator in (">=", ">") and aggregate.function in ("count", "sum"):
        if isinstance(wanted, (int, Fraction)) and isinstance(value, (int, Fraction)):
            missing = number(Fraction(wanted) - value)
        if missing is not None and aggregate.function == "count":
            missing = math.ceil(missing) if operator == ">=" else math.floor(missing) + 1
    return f"{operator} {_text(wanted)}", missing


def _covers(fact: InputFact, at: int) -> bool:
    low, high = fact.span.low, fact.span.high
    return low is not None and low <= at and (high is None or at <= high)


def _order(key: tuple[Any, ...]) -> Any:
    """By the last term, which mostly is a time."""
    return tuple((isinstance(each, str), each) for each in reversed(key))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else show_number(value)
