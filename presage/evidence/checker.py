"""Accepts or rejects a proof, whoever made it.

The checker has the program, the facts and the time of the look, and nothing else: no engine, no plan, no
analysis, not the prover. Each step is compared with what its kind must show; absence, which no finite list of
facts shows, is evaluated afresh (`check_absence`).
"""

from __future__ import annotations

from collections.abc import Iterator

from presage.evidence.check_absence import AbsenceJudge, Undecided
from presage.evidence.check_cells import Cells, CheckedGrid, both, covers, joined
from presage.evidence.check_values import (
    as_number,
    atom_of,
    counts,
    is_about_one_time,
    is_true,
    modality_in_window,
    open_names,
    static_rows,
    unify,
)
from presage.evidence.proof import (
    Absent,
    AllOf,
    AtPin,
    ByRule,
    Evident,
    Given,
    Known,
    Lasting,
    Missing,
    NamedValues,
    OneSide,
    Pieces,
    Proof,
    Record,
    Substitution,
    Throughout,
    Witness,
    walk,
)
from presage.model.formulas import (
    And,
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Implies,
    Metric,
    Not,
    Or,
    Pinned,
    Top,
    Windowed,
)
from presage.model.statements import Rule
from presage.model.terms import Constant, Number, Value
from presage.model.time import TimeSpan


class Rejected(Exception):
    """The proof does not show what it claims; the message says which step fails."""


def check(
    record: Record,
    proof: Proof,
    predicate: str,
    arguments: tuple[Value, ...],
    time: Number | TimeSpan,
    absent: bool = False,
) -> None:
    """Raises `Rejected` unless the proof shows that the atom holds at the time, or throughout the span; or, with
    `absent`, that it does not and cannot any more."""
    atom: Formula = Atom(predicate, tuple(Constant(value) for value in arguments))
    atom = Not(atom) if absent else atom
    if record.program.reading != "every":
        raise Rejected("the checker knows `reading every` only")
    try:
        grid = CheckedGrid.of(record, proof)
        asked = list(_asked(grid, proof))
        needed = grid.span(time) if isinstance(time, TimeSpan) else grid.point(time)
        _Checker(record, grid, AbsenceJudge(record, grid, asked)).step(proof, atom, {}, needed)
    except (Undecided, ValueError, IndexError, KeyError) as found:
        raise Rejected(f"the proof cannot be checked: {found}") from None


def _asked(grid: CheckedGrid, proof: Proof) -> Iterator[tuple[Formula, Cells]]:
    """What has to be evaluated, and when."""
    for step in walk(proof):
        if isinstance(step, Absent):
            cells = grid.span(step.span)
            if isinstance(step.formula, Not) and cells:
                yield step.formula.formula, cells


class _Checker:
    def __init__(self, record: Record, grid: CheckedGrid, judge: AbsenceJudge) -> None:
        self.record, self.grid, self.judge = record, grid, judge
        self.rules, self.facts = record.program.rules, frozenset(record.facts)
        self.accepted: set[tuple[object, ...]] = set()
        """Premises found good, with what they were needed for: steps may share them."""

    def step(self, proof: Proof, formula: Formula, values: NamedValues, needed: Cells) -> None:
        """A step must be about the formula with these values, at least at the times where it is needed."""
        where = f"{type(proof).__name__} {proof.formula}"
        if proof.formula != formula:
            raise Rejected(f"{where}: the step is about another formula")
        wanted = {name: value for name, value in values.items() if name in open_names(formula, {})}
        if dict(proof.substitution) != wanted or len(proof.substitution) != len(wanted):
            raise Rejected(f"{where}: the step has other values")
        span = self.grid.span(proof.span)
        if not span or not covers(span, needed):
            raise Rejected(f"{where}: the step does not cover the times it is needed for")
        reason = self._fault(proof, wanted, span)
        if reason:
            raise Rejected(f"{where}: {reason}")

    def _fault(self, proof: Proof, values: NamedValues, span: Cells) -> str:
        """What is wrong with a step itself; its premises are checked on the way."""
        match proof:
            case Given():
                return self._given(proof, values, span)
            case Known():
                return self._known(proof, values, span)
            case ByRule():
                return self._by_rule(proof, values, span)
            case Evident(formula=formula):
                if isinstance(formula, Top):
                    return ""
                if not isinstance(formula, Comparison) or open_names(formula, values):
                    return "this is not evident"
                return "" if is_true(formula, values) else "the comparison is false"
            case Absent():
                return self._absent(proof, values, span)
            case Pieces(formula=formula, premises=parts):
                for part in parts:
                    self.step(part, formula, values, self.grid.span(part.span))
                covered = joined(each for part in parts for each in self.grid.span(part.span))
                return "" if covers(covered, span) else "the pieces leave a gap"
            case _:
                return self._operator(proof, values, span)

    def _operator(self, proof: Proof, values: NamedValues, span: Cells) -> str:
        match proof, proof.formula:
            case AtPin(premise=premise), Pinned(formula=inner, pin=pin):
                offset = as_number(pin.offset)
                there = self.grid.point(offset) if pin.base is None else self.grid.moved(span, offset)
                self.step(premise, inner, values, there)
            case AllOf(premises=premises), And(parts=parts):
                if len(premises) != len(parts):
                    return "a part has no premise"
                for premise, part in zip(premises, parts, strict=True):
                    self.step(premise, part, values, span)
            case OneSide(side=side, premise=premise), (Or() | Implies()) as formula:
                sides = formula.parts if isinstance(formula, Or) else (Not(formula.left), formula.right)
                if not 0 <= side < len(sides):
                    return "there is no such side"
                self.step(premise, sides[side], values, span)
            case Witness(premise=premise), Metric(operator="once" | "eventually" as name, interval=interval) as formula:
                witness, distances = self.grid.span(premise.span), self.grid.interval(interval)
                move = self.grid.plus if name == "once" else self.grid.minus
                if not covers(move(witness, distances), span):
                    return "the witness lies outside the interval"
                self.step(premise, formula.formula, values, witness)
            case Throughout(premise=every), Metric(operator="historically" | "always" as name) as formula:
                move = self.grid.minus if name == "historically" else self.grid.plus
                looked_at = move(span, self.grid.interval(formula.interval))
                if looked_at and every is None:
                    return "there is no premise"
                if looked_at and every is not None:
                    self.step(every, formula.formula, values, looked_at)
            case ((Witness() | Throughout()), Windowed() as formula):
                return self._in_window(proof, formula, values, span)
            case Lasting(), BinaryMetric() as formula:
                return self._lasting(proof, formula, values, span)
            case _:
                return "this kind of step does not show such a formula"
        return ""

    def _in_window(self, proof: Proof, formula: Windowed, values: NamedValues, span: Cells) -> str:
        modal = modality_in_window(formula)
        if modal is None or not covers(self.judge.stream, span):
            return "this is a window that the checker does not know"
        distances = self.grid.window(formula.window)
        match proof:
            case Witness(premise=premise) if modal.operator == "some":
                witness = self.grid.span(premise.span)
                if not covers(self.judge.stream, witness) or not covers(self.grid.plus(witness, distances), span):
                    return "the witness lies outside the window"
                self.step(premise, modal.formula, values, witness)
            case Throughout(premise=every) if modal.operator == "all":
                looked_at = both(self.grid.minus(span, distances), self.judge.stream)
                if looked_at and every is None:
                    return "there is no premise"
                if looked_at and every is not None:
                    self.step(every, modal.formula, values, looked_at)
            case _:
                return "this kind of step does not show such a formula"
        return ""

    def _given(self, proof: Given, values: NamedValues, span: Cells) -> str:
        fact = proof.fact
        if fact not in self.facts:
            return "no such fact was given"
        if not counts(self.record, fact):
            return "the fact had not arrived, or came too late"
        if (fact.predicate, fact.arguments) != self._ground(proof.formula, values):
            return "the fact is about something else"
        if not covers(both(self.grid.span(fact.span), self.judge.stream), span):
            return "the fact does not hold at this time"
        return ""

    def _known(self, proof: Known, values: NamedValues, span: Cells) -> str:
        name, arguments = self._ground(proof.formula, values)
        if proof.rule is None:
            return "" if (name, arguments) in self.record.statics and name in static_rows(self.record) else "not static"
        rule = self._rule(proof.rule)
        if not rule.is_fact:
            return "this is not a fact of the program"
        for head in rule.head_atoms:
            if self._ground(atom_of(head), {}) == (name, arguments):
                if name in static_rows(self.record):
                    return ""
                cells = both(self.judge.head_cells(head, self.judge.rule_cells(rule)), self.judge.stream)
                if covers(cells, span):
                    return ""
        return "the program does not say so"

    def _by_rule(self, proof: ByRule, values: NamedValues, span: Cells) -> str:
        rule, instance, when = self._rule(proof.rule), dict(proof.instance), self.grid.span(proof.when)
        if not rule.body or len(proof.premises) != len(rule.body):
            return "a literal of the body has no premise"
        if len(instance) != len(proof.instance):
            return "a variable has two values"
        if not when or not covers(self.judge.rule_cells(rule), when):
            return "the rule has no instance at this time"
        ground = self._ground(proof.formula, values)
        heads = [head for head in rule.head_atoms if self._ground(atom_of(head), instance) == ground]
        reached = (both(self.judge.head_cells(head, when), self.judge.stream) for head in heads)
        if not any(covers(cells, span) for cells in reached):
            return "the rule does not derive this here"
        shared = (id(proof.premises), proof.rule, proof.instance, when)
        if shared not in self.accepted:
            for premise, literal in zip(proof.premises, rule.body, strict=True):
                self.step(premise, literal, instance, when)
            self.accepted.add(shared)
        return ""

    def _lasting(self, proof: Lasting, formula: BinaryMetric, values: NamedValues, span: Cells) -> str:
        since = formula.operator == "since"
        move = self.grid.plus if since else self.grid.minus
        witness, distances = self.grid.span(proof.witness.span), self.grid.interval(formula.interval)
        self.step(proof.witness, formula.right, values, witness)
        if not covers(move(witness, distances), span):
            return "the witness lies outside the interval"
        if proof.between is None:
            # Nothing may lie between a time and its own witness.
            near = self.grid.range(0, 1 if self.grid.discrete else 0, True, True)
            alone = covers(move(witness, both(distances, near)), span)
            return "" if alone else "nothing shows that it lasted"
        first, last = (witness, span) if since else (span, witness)
        self.step(proof.between, formula.left, values, self.grid.strictly_between(first, last))
        return ""

    def _absent(self, proof: Absent, values: NamedValues, span: Cells) -> str:
        if not isinstance(proof.formula, Not):
            return "this is not an absence"
        inner = proof.formula.formula
        if open_names(inner, values):
            return "a variable has no value"
        if self.judge.may_hold((inner,), values, span):
            return "it holds, or may still come to hold"
        for missing in proof.near:
            reason = self._missing(missing, inner, values, span)
            if reason:
                return reason
        return ""

    def _missing(self, missing: Missing, formula: Formula, values: NamedValues, span: Cells) -> str:
        rule, instance = self._rule(missing.rule), dict(missing.instance)
        if isinstance(formula, Pinned):
            offset = as_number(formula.pin.offset)
            span = self.grid.point(offset) if formula.pin.base is None else self.grid.moved(span, offset)
            formula = formula.formula
        if not isinstance(formula, Atom) or not 0 <= missing.premise < len(rule.body):
            return "there is no such premise"
        row = self._ground(formula, values)[1]
        parts = rule.body[: missing.premise + 1]
        for head in rule.head_atoms:
            atom = atom_of(head)
            if atom.predicate == formula.predicate and unify(atom, row, {}) == instance:
                when = both(self.judge.body_cells(head, span), self.judge.rule_cells(rule))
                if self.grid.span(missing.when) == when and not self.judge.may_hold(parts, instance, when):
                    return ""
        return "the rule's premises may hold, or the rule is about something else"

    def _rule(self, number: int) -> Rule:
        if not 0 <= number < len(self.rules):
            raise Rejected("there is no such rule")
        rule = self.rules[number]
        if rule.head is None or rule.head.choice or rule.head.exists:
            raise Rejected("this rule proves nothing by itself")
        if not is_about_one_time(self.record, rule):
            raise Rejected("this is a rule that the checker does not know")
        return rule

    def _ground(self, atom: Formula, values: Substitution | NamedValues) -> tuple[str, tuple[Value, ...]]:
        if not isinstance(atom, Atom):
            raise Rejected("this is not an atom")
        known = dict(values)
        return atom.predicate, tuple(
            term.value if isinstance(term, Constant) else known[term.name]  # type: ignore[union-attr]
            for term in atom.arguments
        )
