"""Proofs for people and for programs: one line for each step, and the same as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from presage.evidence.proof import (
    Absent,
    AllOf,
    At,
    ByRule,
    Evident,
    Given,
    InputFact,
    Known,
    Lasting,
    Missing,
    OneOf,
    Pieces,
    Proof,
    Span,
    Substitution,
    Throughout,
    Value,
    Witness,
    premises,
)
from presage.model.formulas import Atom, BinaryMetric, Comparison, Formula, Metric, Not, Over, Pinned, Top, transform
from presage.model.printer import show_formula, show_number, show_rule, show_term
from presage.model.program import Program
from presage.model.statements import Rule
from presage.model.terms import Arithmetic, Constant, Negative, Number, Term, Variable, shown
from presage.model.time import Interval, Pin

_ONE_LINE = 10_000


def show_fact(fact: InputFact) -> str:
    """An input fact in canonical text."""
    return _at(Atom(fact.predicate, tuple(Constant(value) for value in fact.arguments)), fact.span)


def show_conclusion(proof: Proof) -> str:
    """What a step shows, with the values of its variables, such as `flag(wt25)@1`."""
    return _show(_ground(proof.formula, dict(proof.substitution), proof.span), proof.span)


def _show(formula: Formula, span: Span) -> str:
    if isinstance(formula, (Comparison, Top)):
        return show_formula(formula)
    return "not " + _at(formula.formula, span) if isinstance(formula, Not) else _at(formula, span)


def _at(formula: Formula, span: Span) -> str:
    if isinstance(formula, Pinned) and formula.pin.base is None:
        return show_formula(formula)
    if span.low is None:
        until = "" if span.high is None else f" up to {show_number(span.high)}"
        return f"{show_formula(formula)} at all times{until}"
    if span.is_point:
        return show_formula(Pinned(formula, Pin(None, span.low)))
    return show_formula(Over(formula, Interval(span.low, span.high, span.closed_low, span.closed_high)))


def _ground(formula: Formula, values: dict[str, Value], span: Span) -> Formula:
    """The formula with its values; where the time is a single point, pins become fixed times."""

    def node(part: Formula) -> Formula:
        match part:
            case Atom(arguments=arguments):
                return replace(part, arguments=tuple(_term(each, values) for each in arguments))
            case Comparison(left=left, right=right):
                return replace(part, left=_term(left, values), right=_term(right, values))
            case Pinned(pin=pin) if pin.base is not None and span.is_point:
                assert span.low is not None and isinstance(pin.offset, (int, Fraction))
                return replace(part, pin=Pin(None, span.low + pin.offset))
            case _:
                return part

    return transform(formula, node)


def _term(term: Term, values: dict[str, Value]) -> Term:
    match term:
        case Variable(name=name) if name in values:
            return Constant(values[name])
        case Variable(name=name):
            return Variable(shown(name))
        case Negative(term=inner):
            return replace(term, term=_term(inner, values))
        case Arithmetic(left=left, right=right):
            return replace(term, left=_term(left, values), right=_term(right, values))
        case _:
            return term


def written(rule: Rule) -> str:
    while rule.origin is not None:
        rule = rule.origin
    return " ".join(show_rule(rule, _ONE_LINE).split())


def _values(instance: Substitution) -> dict[str, Any]:
    return {name: _json_value(value) for name, value in instance if not name.startswith("_#")}


def _json_value(value: Value) -> str | int:
    return show_number(value) if isinstance(value, Fraction) else value


def _json_time(time: Number) -> str | int:
    return _json_value(time)


def visible(proof: Proof) -> Proof:
    """A pin is not worth a line: what stands at the pinned time is."""
    while isinstance(proof, At):
        proof = proof.premise
    return proof


@dataclass(slots=True)
class Printer:
    """Renders one proof. A step by a rule is laid out once; where it is needed again it is only named."""

    program: Program

    def to_json(self, proof: Proof) -> dict[str, Any]:
        return self._json(visible(proof), set())

    def _json(self, proof: Proof, before: set[tuple[str, int]]) -> dict[str, Any]:
        line: dict[str, Any] = {"kind": kind(proof), "holds": show_conclusion(proof)}
        match proof:
            case Given(fact=fact):
                line["fact"], line["arrived"] = show_fact(fact), _json_time(fact.arrives)
                return line
            case Known(rule=number):
                line["line"] = None if number is None else self._line(number)
                return line
            case ByRule(rule=number, instance=instance):
                line.update(line=self._line(number), rule=self._rule(number), values=_values(instance))
                key = (line["holds"], number)
                if key in before:
                    return {**line, "shown_before": True}
                before.add(key)
            case OneOf(side=side):
                line["side"] = side + 1
            case Absent(near=near):
                line["near"] = [self._missing(each) for each in near]
                return line
            case Evident():
                return line
        line["because"] = [self._json(visible(premise), before) for premise in premises(proof)]
        return line

    def _missing(self, missing: Missing) -> dict[str, Any]:
        return {
            "line": self._line(missing.rule),
            "rule": self._rule(missing.rule),
            "values": _values(missing.instance),
            "fails_at": self.missing_text(missing),
        }

    def missing_text(self, missing: Missing) -> str:
        """The premise that failed, with its values and, where it has one, its time."""
        literal = self.program.rules[missing.rule].body[missing.premise]
        return _show(_ground(literal, dict(missing.instance), missing.when), missing.when)

    def _line(self, number: int) -> int:
        return self.program.line_of(self.program.rules[number])

    def _rule(self, number: int) -> str:
        return written(self.program.rules[number])

    def title(self, proof: Proof) -> str:
        """One step in words."""
        text = show_conclusion(proof)
        match proof:
            case Given(fact=fact):
                span = "" if show_fact(fact) == text else f" {show_fact(fact)}"
                return f"{text}: given{span}, arrived at {show_number(fact.arrives)}"
            case Known(rule=None):
                return f"{text}: static"
            case Known(rule=int() as number):
                return f"{text}: known, line {self._line(number)}"
            case ByRule(rule=number, instance=instance):
                values = ", ".join(f"{name} = {show_term(Constant(v))}" for name, v in instance if "#" not in name)
                return f"{text}: by line {self._line(number)}, {self._rule(number)}" + (
                    f" ({values})" if values else ""
                )
            case Evident():
                return text
            case Absent():
                return f"{text}: nothing makes it true, and nothing can any more"
            case Pieces():
                return f"{text}: piece by piece"
            case OneOf(side=side):
                return f"{text}: side {side + 1}"
            case _:
                return text

    def notes(self, proof: Proof) -> Iterator[str]:
        if isinstance(proof, Absent):
            for each in proof.near:
                yield f"line {self._line(each.rule)}, {self._rule(each.rule)}: fails at {self.missing_text(each)}"


def kind(proof: Proof) -> str:
    """The name of a kind of step in JSON."""
    match proof:
        case Given():
            return "given"
        case Known():
            return "known"
        case ByRule():
            return "rule"
        case Evident():
            return "comparison"
        case Absent():
            return "absent"
        case Witness() | Throughout() | Lasting():
            assert isinstance(proof.formula, (Metric, BinaryMetric))
            return proof.formula.operator
        case AllOf():
            return "and"
        case OneOf():
            return "or"
        case Pieces():
            return "pieces"
        case At():
            return kind(visible(proof))
