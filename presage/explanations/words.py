"""Proofs for people and for programs: one line for each step, and the same as JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from presage.errors import Source
from presage.evidence.lacking import FailingPart, Lack
from presage.evidence.proof import (
    Absent,
    AllOf,
    AtPin,
    ByRule,
    Evident,
    Given,
    InputFact,
    Known,
    Lasting,
    Missing,
    OneSide,
    Pieces,
    Proof,
    Substitution,
    Throughout,
    Witness,
    evidence,
    premises,
    walk,
)
from presage.model.formulas import Atom, Comparison, Formula, Not, Over, Pinned, Top, operator_of, transform
from presage.model.printer import show_formula, show_number, show_rule, show_term
from presage.model.program import Program
from presage.model.statements import Rule
from presage.model.terms import Arithmetic, Constant, Negative, Number, Term, Value, Variable, shown
from presage.model.time import Interval, Pin, TimeSpan

_ONE_LINE = 10_000


def show_fact(fact: InputFact) -> str:
    """An input fact in canonical text."""
    return _at(Atom(fact.predicate, tuple(Constant(value) for value in fact.arguments)), fact.span)


def show_conclusion(proof: Proof) -> str:
    """What a step shows, with the values of its variables, such as `flag(wt25)@1`."""
    return _show(_ground(proof.formula, dict(proof.substitution), proof.span), proof.span)


def show_evidence(proof: Proof) -> list[str]:
    """What a proof rests on: the input facts, and what is absent; by time, then text."""
    found = {(fact.span.low or 0, show_fact(fact)) for fact in evidence(proof)}
    found |= {(_absent_at(step), show_conclusion(step)) for step in walk(proof) if isinstance(step, Absent)}
    return [text for _, text in sorted(found)]


def _absent_at(step: Absent) -> Number:
    """The time from which something is absent: a pin can move it away from the time at which its rule is looked at."""
    formula = step.formula.formula if isinstance(step.formula, Not) else step.formula
    low = step.span.low or 0
    if isinstance(formula, Pinned) and isinstance(formula.pin.offset, (int, Fraction)):
        return formula.pin.offset + (0 if formula.pin.base is None else low)
    return low


def _show(formula: Formula, span: TimeSpan) -> str:
    if isinstance(formula, (Comparison, Top)):
        return show_formula(formula)
    return "not " + _at(formula.formula, span) if isinstance(formula, Not) else _at(formula, span)


def _at(formula: Formula, span: TimeSpan) -> str:
    if isinstance(formula, Pinned) and formula.pin.base is None:
        return show_formula(formula)
    if span.low is None:
        until = "" if span.high is None else f" up to {show_number(span.high)}"
        return f"{show_formula(formula)} at all times{until}"
    low, high = span.low, span.high
    if isinstance(formula, Pinned) and isinstance(formula.pin.offset, (int, Fraction)):
        low, high = low + formula.pin.offset, None if high is None else high + formula.pin.offset
        formula = formula.formula
    if low == high:
        return show_formula(Pinned(formula, Pin(None, low)))
    return show_formula(Over(formula, Interval(low, high, span.closed_low, span.closed_high)))


def _ground(formula: Formula, values: dict[str, Value], span: TimeSpan) -> Formula:
    """The formula with its values; where the time is a single point, pins become fixed times."""

    def node(part: Formula) -> Formula:
        match part:
            case Atom(predicate=name, arguments=arguments):
                # What breaks a constraint has a predicate for each constraint, and is shown by one name.
                shown_name = name.split("#")[0]
                return replace(part, predicate=shown_name, arguments=tuple(_term(each, values) for each in arguments))
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


def written(rule: Rule, source: Source) -> str:
    """A rule as its author wrote it, on one line; in the canonical layout where breaks meet comments or strings."""
    while rule.origin is not None:
        rule = rule.origin
    text = source.text[rule.span.start : rule.span.end].strip() if rule.span.start >= 0 else ""
    if not text or ("\n" in text and any(sign in text for sign in '%#"')):
        return " ".join(show_rule(rule, _ONE_LINE).split())
    return text.removesuffix(".") + "." if "\n" not in text else " ".join(text.removesuffix(".").split()) + "."


def _values(instance: Substitution) -> dict[str, Any]:
    return {name: _json_value(value) for name, value in instance if not name.startswith("_#")}


def _json_value(value: Value) -> str | int:
    return show_number(value) if isinstance(value, Fraction) else value


def _json_time(time: Number) -> str | int:
    return _json_value(time)


def span_json(span: TimeSpan) -> dict[str, Any]:
    """When something holds, as in answer lines: `time`, or `from`, `to` and `bounds`; `null` is without end."""
    if span.is_point:
        assert span.low is not None
        return {"time": _json_time(span.low)}
    ends = {"from": span.low, "to": span.high}
    found: dict[str, Any] = {name: None if end is None else _json_time(end) for name, end in ends.items()}
    return {**found, "bounds": ("[" if span.closed_low else "(") + ("]" if span.closed_high else ")")}


def visible(proof: Proof) -> Proof:
    """A pin is not worth a line: what stands at the pinned time is."""
    while isinstance(proof, AtPin):
        proof = proof.premise
    return proof


@dataclass(slots=True)
class Printer:
    """Renders one proof. A step by a rule is laid out once; where it is needed again it is only named."""

    program: Program
    assumed: frozenset[str] = frozenset()
    """What a proof takes for granted though it is not so yet, in canonical text."""

    def to_json(self, proof: Proof) -> dict[str, Any]:
        return self._json(visible(proof), set())

    def _json(self, proof: Proof, before: set[tuple[str, int]]) -> dict[str, Any]:
        line: dict[str, Any] = {"kind": kind(proof), "holds": show_conclusion(proof), **span_json(proof.span)}
        if line["holds"] in self.assumed and isinstance(proof, (Given, Absent)):
            return {**line, "kind": "needed"}
        match proof:
            case Given(fact=fact):
                line["fact"], line["arrived"] = show_fact(fact), _json_time(fact.arrives)
                return line
            case Known(rule=number):
                rule = None if number is None else self.program.rules[number]
                line.update({"line": None} if rule is None else self.program.place_json(rule))
                return line
            case ByRule(rule=number, instance=instance):
                line.update(**self.rule_json(number), values=_values(instance))
                key = (line["holds"], number)
                if key in before:
                    return {**line, "shown_before": True}
                before.add(key)
            case OneSide(side=side):
                line["side"] = side + 1
            case Absent(near=near):
                line["near"] = [self.missing_json(each) for each in near]
                return line
            case Evident():
                return line
        line["because"] = [self._json(visible(premise), before) for premise in premises(proof)]
        return line

    def rule_json(self, number: int) -> dict[str, Any]:
        return {**self.program.place_json(self.program.rules[number]), "rule": self._rule(number)}

    def missing_json(self, missing: Missing) -> dict[str, Any]:
        return {
            **self.rule_json(missing.rule),
            "values": _values(missing.instance),
            "fails_at": self.missing_text(missing),
            **span_json(missing.when),
        }

    def chain_json(self, lack: Lack) -> list[dict[str, Any]]:
        """Where each rule fails, from the answer down, and what within its premise does where that is a part of it."""
        found = [self.missing_json(each) for each in lack.chain]
        for line, part in zip(found, lack.parts, strict=True):
            if part is not None:
                line["part"] = self.part_text(part)
        if found and lack.met:
            found[-1]["met"] = [self.part_text(each) for each in lack.met]
        return found

    def missing_text(self, missing: Missing) -> str:
        """The premise that failed, with its values and, where it has one, its time."""
        literal = self.program.rules[missing.rule].body[missing.premise]
        return _show(_ground(literal, dict(missing.instance), missing.when), missing.when)

    def part_text(self, part: FailingPart) -> str:
        """What within a premise is not so, with its values and its time."""
        return ("not " if part.denied else "") + _show(_ground(part.atom, dict(part.instance), part.when), part.when)

    def part_subject(self, part: FailingPart) -> str:
        return ("not " if part.denied else "") + _timeless(_ground(part.atom, dict(part.instance), part.when))

    def place(self, number: int) -> str:
        return self.program.place_of(self.program.rules[number])

    def _rule(self, number: int) -> str:
        return written(self.program.rules[number], self.program.source)

    def by(self, number: int, instance: Substitution) -> str:
        """A rule as it was written, with its line and the values of its variables."""
        values = ", ".join(f"{name} = {show_term(Constant(v))}" for name, v in instance if "#" not in name)
        return f"{self.place(number)}, {self._rule(number)}" + (f" ({values})" if values else "")

    def subject(self, proof: Proof) -> str:
        """What a step is about, without its time."""
        return _timeless(_ground(proof.formula, dict(proof.substitution), proof.span))

    def missing_subject(self, missing: Missing) -> str:
        literal = self.program.rules[missing.rule].body[missing.premise]
        return _timeless(_ground(literal, dict(missing.instance), missing.when))


def _timeless(formula: Formula) -> str:
    if isinstance(formula, Not) and isinstance(formula.formula, Pinned):
        formula = Not(formula.formula.formula)
    return show_formula(formula.formula if isinstance(formula, Pinned) else formula)


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
            return operator_of(proof.formula)
        case AllOf():
            return "and"
        case OneSide():
            return "or"
        case Pieces():
            return "pieces"
        case AtPin():
            return kind(visible(proof))
