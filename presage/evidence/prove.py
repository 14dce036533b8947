"""Finds a proof of an atom at a time, from what arrived by then.

`tables` works out what holds and remembers for each piece of time the rule instance that gave it first. A
proof is read off from there: the premises of a step are always found at an earlier turn than the step, so
that nothing is its own reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from presage.evidence.proof import (
    Absent,
    AllOf,
    At,
    ByRule,
    Evident,
    Given,
    Known,
    Lasting,
    Missing,
    OneOf,
    Pieces,
    Proof,
    Record,
    Throughout,
    Value,
    Witness,
    substitution,
)
from presage.evidence.solve import (
    Binding,
    NotExplained,
    Pattern,
    Solver,
    as_number,
    body_times,
    from_start,
    head_atom,
    head_times,
    matched,
    window_reach,
)
from presage.evidence.supported import refuse_unknown
from presage.evidence.tables import Reason, Stream, World, Worlds
from presage.model.formulas import (
    And,
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Implies,
    Metric,
    Modal,
    Not,
    Or,
    Pinned,
    Top,
    Windowed,
)
from presage.model.terms import Constant, Number, Variable
from presage.model.windows import TimeWindow
from presage.time.pieces import NEVER, Piece, Times, hull, is_point, meet, union, without

MOST_NEAR = 5
"""So many rules are named that nearly made an absent atom true."""
_IN_THE_END = 1 << 62


def prove(record: Record, predicate: str, arguments: tuple[Value, ...], time: Number) -> Proof | None:
    """A proof that the atom holds at the time, as far as is known at `record.at`; none if that is not entailed."""
    refuse_unknown(record.program, predicate)
    worlds = Worlds(Stream(record))
    return prove_during(worlds, predicate, arguments, worlds.line.point(time))


def prove_during(worlds: Worlds, predicate: str, arguments: tuple[Value, ...], times: Times) -> Proof | None:
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
    worlds = Worlds(Stream(record))
    times = worlds.line.point(time)
    atom = Atom(predicate, tuple(Constant(value) for value in arguments))
    if predicate in worlds.stream.statics:
        return None if arguments in worlds.stream.statics[predicate] else _absent(worlds, atom, times)
    if worlds.find(predicate, arguments, times) or _Prover(worlds).may_hold((atom,), {}, times):
        return None
    return _absent(worlds, atom, times)


def _absent(worlds: Worlds, atom: Atom, times: Times) -> Absent:
    near = _Prover(worlds).near(atom, {}, times[0])
    return Absent(Not(atom), worlds.line.as_span(times[0]), (), near)


class _Past(Solver):
    """What was known before a turn."""

    def __init__(self, worlds: Worlds, turn: int) -> None:
        self.worlds, self.turn = worlds, turn
        self.line, self.statics, self.sure = worlds.line, worlds.stream.statics, True

    @property
    def opposite(self) -> World:
        return self.worlds.maybe

    def answers(self, predicate: str, pattern: Pattern, during: Times) -> Iterator[tuple[Pattern, Times]]:
        for values, reasons in self._reasons(predicate, pattern):
            times = union(each.times for each in reasons if each.turn < self.turn)
            if times:
                yield values, times

    def _reasons(self, predicate: str, pattern: Pattern) -> Iterator[tuple[tuple[Value, ...], list[Reason]]]:
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
        self.shared: dict[tuple[int, Piece], tuple[Piece, tuple[Proof, ...]]] = {}
        """What the steps by one rule instance rest on: made once, so that a proof stays as small as its reasons."""

    def prove(self, formula: Formula, binding: Binding, piece: Piece, turn: int) -> Proof:
        """A proof that the formula holds throughout the piece, from what was known before the turn."""
        steps = list(self._steps(formula, binding, piece, turn))
        assert not without((piece,), union(self.line.span(step.span) for step in steps)), "a proof has a gap"
        if len(steps) == 1:
            return steps[0]
        return Pieces(formula, self.line.as_span(piece), substitution(binding, formula), tuple(steps))

    def _steps(self, formula: Formula, binding: Binding, piece: Piece, turn: int) -> Iterator[Proof]:
        span, values = self.line.as_span(piece), substitution(binding, formula)
        match formula:
            case Top() | Comparison():
                yield Evident(formula, span, values)
            case Atom():
                yield from self._atom(formula, binding, piece, turn)
            case Pinned(formula=inner, pin=pin):
                offset = as_number(pin.offset)
                there = self.line.point(offset) if pin.base is None else self.line.shifted((piece,), offset)
                yield At(formula, span, values, self.prove(inner, binding, there[0], turn))
            case Not(formula=inner):
                yield Absent(formula, span, values, self.near(inner, binding, piece))
            case And(parts=parts):
                yield AllOf(formula, span, values, tuple(self.prove(part, binding, piece, turn) for part in parts))
            case Or(parts=parts):
                yield from self._one_of(formula, parts, binding, piece, turn)
            case Implies(left=left, right=right):
                yield from self._one_of(formula, (Not(left), right), binding, piece, turn)
            case Metric():
                yield from self._metric(formula, binding, piece, turn)
            case BinaryMetric():
                yield from self._lasting(formula, binding, piece, turn)
            case Windowed():
                yield from self._windowed(formula, binding, piece, turn)
            case _:
                raise NotExplained("explanations do not know modalities outside of windows")

    # Atoms.

    def _atom(self, atom: Atom, binding: Binding, piece: Piece, turn: int) -> Iterator[Proof]:
        values = substitution(binding, atom)
        ground = tuple(
            term.value if isinstance(term, Constant) else binding[term.name]
            for term in atom.arguments
            if isinstance(term, (Constant, Variable))
        )
        if atom.predicate in self.stream.statics:
            yield Known(atom, self.line.as_span(piece), values, self._static_rule(atom.predicate, ground))
            return
        left: Times = (piece,)
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
            for head in rule.head_atoms:
                if isinstance(head, Atom) and head.predicate == predicate and matched(head, ground, {}) is not None:
                    return number
        return None

    def _by_rule(self, atom: Atom, binding: Binding, piece: Piece, reason: Reason) -> Iterator[Proof]:
        values = substitution(binding, atom)
        rule = self.stream.rules[reason.rule]
        if rule.is_fact:
            yield Known(atom, self.line.as_span(piece), values, reason.rule)
            return
        head, instance = rule.head_atoms[reason.head], dict(reason.binding)
        left: Times = (piece,)
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

    def _when(self, head: Formula, body: Piece, covered: Piece) -> Piece:
        """The part of the body's times that a head needs to cover these."""
        when = meet((body,), body_times(self.line, head, (covered,)))
        return self.line.some_point(when[-1])[0] if is_point(self.line, (covered,)) else when[0]

    # Operators.

    def _times(self, formula: Formula, binding: Binding, during: Times, turn: int) -> Times:
        return _Past(self.worlds, turn).times(formula, binding, during)

    def _one_of(
        self, formula: Formula, parts: tuple[Formula, ...], binding: Binding, piece: Piece, turn: int
    ) -> Iterator[Proof]:
        values = substitution(binding, formula)
        left: Times = (piece,)
        for side, part in enumerate(parts):
            for more, times in _Past(self.worlds, turn).solve(part, binding, left):
                if more != binding:
                    continue
                for covered in meet(left, times):
                    premise = self.prove(part, more, covered, turn)
                    yield OneOf(formula, self.line.as_span(covered), values, side, premise)
                left = without(left, times)

    def _metric(self, formula: Metric, binding: Binding, piece: Piece, turn: int) -> Iterator[Proof]:
        reach, back = self.line.interval(formula.interval), formula.operator in ("once", "historically")
        looked_at = self.line.earlier((piece,), reach) if back else self.line.later((piece,), reach)
        if formula.operator in ("historically", "always"):
            yield self._throughout(formula, formula.formula, binding, piece, looked_at, turn)
        else:
            yield from self._witnesses(formula, formula.formula, binding, piece, looked_at, reach, back, turn)

    def _windowed(self, formula: Windowed, binding: Binding, piece: Piece, turn: int) -> Iterator[Proof]:
        window, modal = formula.window, formula.formula
        assert isinstance(window, TimeWindow) and isinstance(modal, Modal)
        reach = window_reach(self.line, window)
        looked_at = meet(self.line.earlier((piece,), reach), from_start(self.line))
        if modal.operator == "all":
            yield self._throughout(formula, modal.formula, binding, piece, looked_at, turn)
        else:
            yield from self._witnesses(formula, modal.formula, binding, piece, looked_at, reach, True, turn)

    def _throughout(
        self, formula: Metric | Windowed, inner: Formula, binding: Binding, piece: Piece, looked_at: Times, turn: int
    ) -> Proof:
        premise = self.prove(inner, binding, looked_at[0], turn) if looked_at else None
        return Throughout(formula, self.line.as_span(piece), substitution(binding, formula), premise)

    def _witnesses(
        self, formula: Metric | Windowed, inner: Formula, binding: Binding, piece: Piece, looked_at: Times,
        reach: Times, back: bool, turn: int,
    ) -> Iterator[Proof]:  # fmt: skip
        values = substitution(binding, formula)
        left: Times = (piece,)
        found = self._times(inner, binding, looked_at, turn)
        for part in reversed(found) if back else found:
            reached = self.line.later((part,), reach) if back else self.line.earlier((part,), reach)
            for covered in meet(left, reached):
                source = self.line.earlier((covered,), reach) if back else self.line.later((covered,), reach)
                witness = self._narrow((covered,), meet((part,), source), back)
                premise = self.prove(inner, binding, witness, turn)
                yield Witness(formula, self.line.as_span(covered), values, premise)
            left = without(left, reached)

    def _narrow(self, covered: Times, witness: Times, back: bool) -> Piece:
        """For a single time, a single witness, as near as possible."""
        return self.line.some_point(witness[0], latest=back)[0] if is_point(self.line, covered) else witness[0]

    def _lasting(self, formula: BinaryMetric, binding: Binding, piece: Piece, turn: int) -> Iterator[Proof]:
        line, values, reach = self.line, substitution(binding, formula), self.line.interval(formula.interval)
        since = formula.operator == "since"
        forth: Callable[[Times, Times], Times] = line.later if since else line.earlier
        home: Callable[[Times, Times], Times] = line.earlier if since else line.later
        looked_at = home((piece,), reach)
        right = self._times(formula.right, binding, looked_at, turn)
        left = self._times(formula.left, binding, hull(union((looked_at, (piece,)))), turn)
        open_times: Times = (piece,)

        def step(covered: Piece, witness: Piece, between: Times) -> Proof:
            held = self.prove(formula.left, binding, between[0], turn) if between else None
            shown = self.prove(formula.right, binding, witness, turn)
            return Lasting(formula, line.as_span(covered), values, shown, held)

        for distance in (0, 1) if line.discrete else (0,):
            # Nothing lies between: each time has its own witness.
            near = meet(reach, line.point(distance))
            for covered in meet(open_times, forth(right, near)):
                yield step(covered, home((covered,), near)[0], NEVER)
            open_times = without(open_times, forth(right, near))
        for lasts in left:
            inside = line.closure(lasts)
            for source in meet(right, inside):
                for covered in meet(meet(open_times, inside), forth((source,), reach)):
                    witness = self._narrow((covered,), meet((source,), home((covered,), reach)), since)
                    first, last = (witness, covered) if since else (covered, witness)
                    between = line.between(line.ends(first)[0], line.ends(last)[2])
                    yield step(covered, witness, between)
                    open_times = without(open_times, (covered,))

    # Absence.

    def near(self, formula: Formula, binding: Binding, piece: Piece) -> tuple[Missing, ...]:
        """The rules that could have made an absent atom true, each with the premise that fails."""
        during: Times = (piece,)
        if isinstance(formula, Pinned):
            offset = as_number(formula.pin.offset)
            fixed = formula.pin.base is None
            during = self.line.point(offset) if fixed else self.line.shifted(during, offset)
            formula = formula.formula
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
            instance = matched(head_atom(rule.head_atoms[place]), pattern, {})
            if instance is None or rule.is_fact:
                continue
            when = meet(hull(body_times(self.line, rule.head_atoms[place], during)), self.stream.rule_times(rule))
            for premise in range(len(rule.body)) if when else ():
                if not self.may_hold(rule.body[: premise + 1], instance, when):
                    values = tuple(sorted(instance.items()))
                    found.append(Missing(number, values, self.line.as_span(when[0]), premise))
                    break
        return tuple(found)

    def may_hold(self, parts: tuple[Formula, ...], instance: Binding, when: Times) -> bool:
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
