"""Finds a proof of an atom at a time, from what arrived by then.

`tables` works out what holds and remembers for each piece of time the rule instance that gave it first. A
proof is read off from there: the premises of a step are always found at an earlier turn than the step, so
that nothing is its own reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from presage.core.formulas import All, Any, At, CoreFormula, Every, Lasts, Not, Some, written
from presage.core.rules import Conclusion
from presage.evidence.proof import (
    Absent,
    AllOf,
    Asked,
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
    Throughout,
    Witness,
    substitution,
)
from presage.evidence.solve import NotExplained, Solver, body_times, distances, from_start, head_times, matched
from presage.evidence.supported import refuse_unknown
from presage.evidence.tabling import Reason, SeenStream, StreamReading, Worlds
from presage.model.formulas import Atom, Comparison
from presage.model.formulas import Not as Denied
from presage.model.terms import Constant, Number, Value, Variable
from presage.time.exact_sets import NEVER, ExactPiece, ExactTimes, hull, is_point, meet, union, without

MOST_NEAR = 5
"""So many rules are named that nearly made an absent atom true."""
_IN_THE_END = 1 << 62


def prove(record: Record, predicate: str, arguments: tuple[Value, ...], time: Number) -> Proof | None:
    """A proof that the atom holds at the time, as far as is known at `record.at`; none if that is not entailed."""
    refuse_unknown(record.program, predicate)
    worlds = Worlds(SeenStream(record))
    return prove_during(worlds, predicate, arguments, worlds.line.point(time))


def prove_during(worlds: Worlds, predicate: str, arguments: tuple[Value, ...], times: ExactTimes) -> Proof | None:
    """The same throughout one piece of time; several answers of one look may share what was worked out for it."""
    atom = Atom(predicate, tuple(Constant(value) for value in arguments))
    if predicate in worlds.stream.statics:
        known = arguments in worlds.stream.statics[predicate]
        return _Prover(worlds).prove(atom, {}, times[0], _IN_THE_END) if known else None
    if not meet(times, worlds.stream.stream) or not worlds.find(predicate, arguments, times):
        return None
    return _Prover(worlds).prove(atom, {}, times[0], _IN_THE_END)


def prove_absent(record: Record, predicate: str, arguments: tuple[Value, ...], time: Number) -> Absent | None:
    """A proof that the atom does not hold at the time and cannot come to; none if it may."""
    refuse_unknown(record.program, predicate)
    worlds = Worlds(SeenStream(record))
    times = worlds.line.point(time)
    atom = Atom(predicate, tuple(Constant(value) for value in arguments))
    if predicate in worlds.stream.statics:
        return None if arguments in worlds.stream.statics[predicate] else _absent(worlds, atom, times)
    if worlds.find(predicate, arguments, times) or _Prover(worlds).may_hold((atom,), {}, times):
        return None
    return _absent(worlds, atom, times)


def _absent(worlds: Worlds, atom: Atom, times: ExactTimes) -> Absent:
    near = _Prover(worlds).near(atom, {}, times[0])
    return Absent(Denied(atom), worlds.line.as_span(times[0]), (), near)


class _Past(Solver):
    """What was known before a turn."""

    def __init__(self, worlds: Worlds, turn: int) -> None:
        self.worlds, self.turn = worlds, turn
        self.line, self.statics, self.sure = worlds.line, worlds.stream.statics, True

    @property
    def opposite(self) -> StreamReading:
        return self.worlds.maybe

    def answers(self, predicate: str, pattern: Asked, during: ExactTimes) -> Iterator[tuple[Asked, ExactTimes]]:
        for values, reasons in self._reasons(predicate, pattern):
            times = union(each.times for each in reasons if each.turn < self.turn)
            if times:
                yield values, times

    def _reasons(self, predicate: str, pattern: Asked) -> Iterator[tuple[tuple[Value, ...], list[Reason]]]:
        known = self.worlds.sure.reasons
        if None not in pattern:
            values = tuple(value for value in pattern if value is not None)
            yield values, known.get((predicate, values), [])
            return
        for (name, values), reasons in known.items():
            if name == predicate and all(w is None or w == v for w, v in zip(pattern, values, strict=True)):
                yield values, reasons


class _Prover:
    def __init__(self, worlds: Worlds) -> None:
        self.worlds, self.line, self.stream = worlds, worlds.line, worlds.stream
        self.shared: dict[tuple[int, ExactPiece], tuple[ExactPiece, tuple[Proof, ...]]] = {}
        """What the steps by one rule instance rest on: made once, so that a proof stays as small as its reasons."""

    def prove(self, formula: CoreFormula, binding: NamedValues, piece: ExactPiece, turn: int) -> Proof:
        """A proof that the formula holds throughout the piece, from what was known before the turn."""
        steps = list(self._steps(formula, binding, piece, turn))
        assert not without((piece,), union(self.line.span(step.span) for step in steps)), "a proof has a gap"
        if len(steps) == 1:
            return steps[0]
        said = written(formula)
        return Pieces(said, self.line.as_span(piece), substitution(binding, said), tuple(steps))

    def _steps(self, formula: CoreFormula, binding: NamedValues, piece: ExactPiece, turn: int) -> Iterator[Proof]:
        said = written(formula)
        span, values = self.line.as_span(piece), substitution(binding, said)
        match formula:
            case Comparison() | All(parts=()):
                yield Evident(said, span, values)
            case Atom():
                yield from self._atom(formula, binding, piece, turn)
            case At(base=base, offset=offset, part=inner):
                there = self.line.point(offset) if base is None else self.line.shifted((piece,), offset)
                yield AtPin(said, span, values, self.prove(inner, binding, there[0], turn))
            case Not(part=inner):
                yield Absent(said, span, values, self.near(inner, binding, piece))
            case All(parts=parts):
                yield AllOf(said, span, values, tuple(self.prove(part, binding, piece, turn) for part in parts))
            case Any(parts=parts):
                yield from self._one_of(formula, parts, binding, piece, turn)
            case Some() | Every():
                yield from self._within_reach(formula, binding, piece, turn)
            case Lasts():
                yield from self._lasting(formula, binding, piece, turn)
            case _:
                raise NotExplained("explanations do not know this window")

    # Atoms.

    def _atom(self, atom: Atom, binding: NamedValues, piece: ExactPiece, turn: int) -> Iterator[Proof]:
        values = substitution(binding, atom)
        ground = tuple(
            term.value if isinstance(term, Constant) else binding[term.name]
            for term in atom.arguments
            if isinstance(term, (Constant, Variable))
        )
        if atom.predicate in self.stream.statics:
            yield Known(atom, self.line.as_span(piece), values, self._static_rule(atom.predicate, ground))
            return
        left: ExactTimes = (piece,)
        for reason in self.worlds.sure.reasons.get((atom.predicate, ground), []):
            if reason.turn >= turn:
                break
            if reason.times[-1][1] <= left[0][0] or left[-1][1] <= reason.times[0][0]:
                continue
            for part in meet(left, reason.times):
                if reason.fact is not None:
                    yield Given(atom, self.line.as_span(part), values, reason.fact)
                else:
                    yield from self._by_rule(atom, binding, part, reason)
            left = without(left, reason.times)
            if not left:
                return

    def _static_rule(self, predicate: str, ground: tuple[Value, ...]) -> int | None:
        for number, rule in enumerate(self.stream.rules):
            for head in rule.conclusions:
                if head.atom.predicate == predicate and matched(head.atom, ground, {}) is not None:
                    return number
        return None

    def _by_rule(self, atom: Atom, binding: NamedValues, piece: ExactPiece, reason: Reason) -> Iterator[Proof]:
        values = substitution(binding, atom)
        rule = self.stream.rules[reason.rule]
        if rule.is_fact:
            yield Known(atom, self.line.as_span(piece), values, reason.rule)
            return
        head, instance = rule.conclusions[reason.head], dict(reason.binding)
        left: ExactTimes = (piece,)
        for body in reason.body:
            for covered in meet(left, head_times(self.line, head, (body,))):
                key = (id(reason), covered)
                if key not in self.shared:
                    when = self._when(head, body, covered)
                    premises = tuple(self.prove(part, instance, when, reason.turn) for part in rule.body)
                    self.shared[key] = (when, premises)
                when, premises = self.shared[key]
                yield ByRule(
                    atom, self.line.as_span(covered), values, reason.rule, reason.binding,
                    self.line.as_span(when), premises,
                )  # fmt: skip
            left = without(left, head_times(self.line, head, (body,)))

    def _when(self, head: Conclusion, body: ExactPiece, covered: ExactPiece) -> ExactPiece:
        """The part of the body's times that a head needs to cover these."""
        when = meet((body,), body_times(self.line, head, (covered,)))
        return self.line.some_point(when[-1])[0] if is_point(self.line, (covered,)) else when[0]

    # Operators.

    def _times(self, formula: CoreFormula, binding: NamedValues, during: ExactTimes, turn: int) -> ExactTimes:
        return _Past(self.worlds, turn).times(formula, binding, during)

    def _one_of(
        self, formula: CoreFormula, parts: tuple[CoreFormula, ...], binding: NamedValues, piece: ExactPiece, turn: int
    ) -> Iterator[Proof]:
        said = written(formula)
        values = substitution(binding, said)
        left: ExactTimes = (piece,)
        for side, part in enumerate(parts):
            for more, times in _Past(self.worlds, turn).solve(part, binding, left):
                if more != binding:
                    continue
                for covered in meet(left, times):
                    premise = self.prove(part, more, covered, turn)
                    yield OneSide(said, self.line.as_span(covered), values, side, premise)
                left = without(left, times)

    def _within_reach(
        self, formula: Some | Every, binding: NamedValues, piece: ExactPiece, turn: int
    ) -> Iterator[Proof]:
        said, inner = written(formula), formula.part
        values = substitution(binding, said)
        reach = distances(self.line, formula.reach)
        looked_at = self.line.later((piece,), reach)
        if formula.clip:
            looked_at = meet(looked_at, from_start(self.line))
        if isinstance(formula, Every):
            premise = self.prove(inner, binding, looked_at[0], turn) if looked_at else None
            yield Throughout(said, self.line.as_span(piece), values, premise)
            return
        left: ExactTimes = (piece,)
        back = formula.clip or formula.reach.is_past
        found = self._times(inner, binding, looked_at, turn)
        for part in reversed(found) if back else found:
            reached = self.line.earlier((part,), reach)
            for covered in meet(left, reached):
                witness = self._narrow((covered,), meet((part,), self.line.later((covered,), reach)), back)
                premise = self.prove(inner, binding, witness, turn)
                yield Witness(said, self.line.as_span(covered), values, premise)
            left = without(left, reached)

    def _narrow(self, covered: ExactTimes, witness: ExactTimes, back: bool) -> ExactPiece:
        """For a single time, a single witness, as near as possible."""
        return self.line.some_point(witness[0], latest=back)[0] if is_point(self.line, covered) else witness[0]

    def _lasting(self, formula: Lasts, binding: NamedValues, piece: ExactPiece, turn: int) -> Iterator[Proof]:
        said, line, since = written(formula), self.line, formula.is_past
        values, reach = substitution(binding, said), distances(line, formula.reach)
        looked_at = line.later((piece,), reach)
        right = self._times(formula.right, binding, looked_at, turn)
        left = self._times(formula.left, binding, hull(union((looked_at, (piece,)))), turn)
        open_times: ExactTimes = (piece,)

        def step(covered: ExactPiece, witness: ExactPiece, between: ExactTimes) -> Proof:
            held = self.prove(formula.left, binding, between[0], turn) if between else None
            shown = self.prove(formula.right, binding, witness, turn)
            return Lasting(said, line.as_span(covered), values, shown, held)

        for distance in (0, 1) if line.discrete else (0,):
            # Nothing lies between: each time has its own witness.
            near = meet(reach, line.point(-distance if since else distance))
            for covered in meet(open_times, line.earlier(right, near)):
                yield step(covered, line.later((covered,), near)[0], NEVER)
            open_times = without(open_times, line.earlier(right, near))
        for lasts in left:
            inside = line.closure(lasts)
            for source in meet(right, inside):
                for covered in meet(meet(open_times, inside), line.earlier((source,), reach)):
                    witness = self._narrow((covered,), meet((source,), line.later((covered,), reach)), since)
                    first, last = (witness, covered) if since else (covered, witness)
                    between = line.between(line.ends(first)[0], line.ends(last)[2])
                    yield step(covered, witness, between)
                    open_times = without(open_times, (covered,))

    # Absence.

    def near(self, formula: CoreFormula, binding: NamedValues, piece: ExactPiece) -> tuple[Missing, ...]:
        """The rules that could have made an absent atom true, each with the premise that fails."""
        during: ExactTimes = (piece,)
        if isinstance(formula, At):
            offset = formula.offset
            during = self.line.point(offset) if formula.base is None else self.line.shifted(during, offset)
            formula = formula.part
        if not isinstance(formula, Atom):
            return ()
        pattern = tuple(
            term.value if isinstance(term, Constant) else binding[term.name]
            for term in formula.arguments
            if isinstance(term, (Constant, Variable))
        )
        found: list[Missing] = []
        for number, place in self.stream.heads.get(formula.predicate, [])[:MOST_NEAR]:
            rule = self.stream.rules[number]
            head = rule.conclusions[place]
            instance = matched(head.atom, pattern, {})
            if instance is None or rule.is_fact:
                continue
            when = meet(hull(body_times(self.line, head, during)), self.stream.rule_times(rule))
            for premise in range(len(rule.body)) if when else ():
                if not self.may_hold(rule.body[: premise + 1], instance, when):
                    values = tuple(sorted(instance.items()))
                    found.append(Missing(number, values, self.line.as_span(when[0]), premise))
                    break
        return tuple(found)

    def may_hold(self, parts: tuple[CoreFormula, ...], instance: NamedValues, when: ExactTimes) -> bool:
        maybe, sure = self.worlds.maybe, self.worlds.sure
        while maybe.all_of(parts, instance, when):
            if sure.todo:
                # Below a negation, what may be hangs on what is sure.
                self.worlds.settle()
            elif maybe.todo:
                maybe.saturate()
            else:
                return True
        return False
