"""Bodies that speak of several times: joins between ranges of time.

A rule is worked out at one time, that of its head. Its other times are gone through one after the other: what the rule
says of one becomes a relation, which is moved to another time that it is tied to, as far as the rule lets them be
apart, and goes on from there as a part of what is said of that one. A time that something later still asks for travels
along as a value. So `a(X)@T1, b(X)@T2, T1 <= T2, T2 <= T1 + 10` is a join of `b` with `a`, each held for ten units, and
costs what it finds, not how long ten units are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from presage.analysis.differences import NOW, START
from presage.core.formulas import At, CoreFormula, Not, names, variables
from presage.core.reach import EVERYWHERE, HERE, Reach
from presage.core.rules import CoreRule
from presage.model.formulas import MIRRORED, Comparison
from presage.model.terms import Arithmetic, Constant, Negative, Now, Number, Term, Variable
from presage.plan.body import Body
from presage.plan.in_rows import PartsInRows
from presage.plan.limits import Limit, Limits, relative
from presage.plan.nodes import Dilate, Literal, Stamp, WithinNode
from presage.plan.time_variables import RuleMoments
from presage.time.bounds import COUNTABLE


@dataclass(slots=True)
class _Place:
    """What is said of one time: by the rule, and by what has been moved there."""

    parts: list[CoreFormula] = field(default_factory=list)
    given: list[Literal] = field(default_factory=list)

    @property
    def names(self) -> set[str]:
        """The variables of the data that it speaks of."""
        spoken = {name for part in self.parts for name in names(_unpinned(part))}
        return spoken | {each.name for one in self.given for each in one.arguments if isinstance(each, Variable)}


class Never(Exception):
    """A body that can be told now never to hold."""


class BodiesInTime(PartsInRows):
    def _body(self, rule: CoreRule, base: str | None, found: RuleMoments) -> Body:
        """A body at the time of the head, `base` or, if that is `None`, now."""
        try:
            return _InTime(self, rule, NOW if base is None else base, found).body()
        except Never:
            return Body.never()

    def _looks_before(self, rule: CoreRule) -> bool:
        """Whether a rule is looked at before the stream too, where operators ask for what is counted."""
        return any(self.plan.sources[each.atom.predicate].kind == "made" for each in rule.conclusions)


class _InTime:
    """One body on its way from its times to the one of the head."""

    def __init__(self, plan: BodiesInTime, rule: CoreRule, base: str, found: RuleMoments) -> None:
        self.plan, self.rule, self.base = plan, rule, base
        self.places = {name: _Place(list(moment.parts)) for name, moment in found.named.items()}
        self.places.setdefault(base, _Place())
        if found.now:
            self.places.setdefault(NOW, _Place()).parts.extend(found.now)
        self.anytime = [part for part in found.anytime if not isinstance(part, Comparison)]
        self.limits = Limits(plan.plan.discrete)
        self.comparisons: list[Comparison] = []
        self.moved: dict[str, set[str]] = {}
        """The times that travel along as values, by where they have come to."""
        self._say_how_far(found)
        if not self.limits.possible:
            raise Never
        if any(not -COUNTABLE < limit.most < COUNTABLE for limit in self.limits.known.values()):
            raise plan._refuse("so long a time", rule.span)
        self.pending = self.limits.between(self.places)

    def _say_how_far(self, found: RuleMoments) -> None:
        limits, placed = self.limits, {*self.places, NOW}
        if not self.plan._looks_before(self.rule):
            limits.at_most(START, NOW, 0)
        for pin in self.rule.pins:
            # Where a pinned time is before the start the rule has no instance, in alternatives too.
            if pin.base is not None:
                limits.at_most(START, NOW if isinstance(pin.base, Now) else pin.base.name, pin.offset)
        for name, moment in found.named.items():
            for offset, window in moment.windows:
                limits.in_window(name, offset, window)
        for part in found.anytime:
            if isinstance(part, Comparison):
                said = relative(part)
                if said is not None and {said.first, said.second} <= {*placed, START}:
                    limits.keep_to(said)
                else:
                    self.comparisons.append(_with_now_as_a_value(part))
        if any(NOW in _names_of(each) for each in self.comparisons):
            self.places.setdefault(NOW, _Place())

    # From time to time.

    def body(self) -> Body:
        while len(self.places) > 1:
            self._move(*self._next_move())
        self.places[self.base].parts.extend(self.anytime)
        found = self._body_at(self.base, last=True)
        if self.comparisons:
            raise self.plan._refuse("a time that nothing in the rule gives a value", self.rule.span)
        return found

    def _tied(self, name: str) -> set[str]:
        """The times that another is compared with, or has the value of."""
        here = {name, *self.moved.get(name, ())}
        tied = {other for other in self.places if other in self._bound_names(name)}
        tied |= {other for other in self.places if name in self._bound_names(other)}
        for limit in self.pending:
            for one, other in ((limit.first, limit.second), (limit.second, limit.first)):
                if one in here:
                    tied |= {place for place in self.places if other == place or other in self.moved.get(place, ())}
        return tied - {name}

    def _bound_names(self, name: str) -> set[str]:
        return self.places[name].names

    def _next_move(self) -> tuple[str, str]:
        """What is tied to fewest others goes first, to where it is nearest to."""
        tied = {name: self._tied(name) for name in self.places}
        name = min((each for each in tied if each != self.base), key=lambda each: (len(tied[each]), each))
        others = tied[name] or {self.base}
        return name, min(others, key=lambda other: (self._width(other, name), other == self.base, other))

    def _width(self, one: str, other: str) -> float:
        reach = self.limits.range(one, other)
        return float("inf") if reach.near is None or reach.far is None else float(reach.far - reach.near)

    def _move(self, name: str, to: str) -> None:
        """Makes what is said of one time a part of what is said of another."""
        self.leaving = to
        body = self._body_at(name)
        columns = self._ordered(body, self._bound(body) & self._needed(name))
        kept = {each for each in (name, *self.moved.get(name, ())) if each in columns}
        bounds = [(columns.index(to), HERE)] if to in columns else []
        for each in sorted(kept - {name, to}):
            if any({limit.first, limit.second} == {each, to} for limit in self.pending):
                bounds.append((columns.index(each), self.limits.range(to, each)))
        if bounds and not self.plan.plan.discrete:
            raise self.plan._refuse("a comparison of several times on the dense timeline", self.rule.span)
        source = self._relation(body, tuple(columns))
        self.pending = [limit for limit in self.pending if not self._is_kept(limit, name, to, kept)]
        # A time that was asked for on the way alone stays behind: what differs in it is one row, over a longer time.
        needed = self._needed(name)
        staying = tuple(each for each in columns if each in needed)
        literal = self._moved_by(source, tuple(columns), staying, self.limits.range(to, name), tuple(bounds))
        self.places[to].given.append(literal)
        self.moved.setdefault(to, set()).update({*kept, to} & {*staying})
        self.moved.pop(name, None)
        del self.places[name]

    def _is_kept(self, limit: Limit, name: str, to: str, kept: set[str]) -> bool:
        """Whether a limit holds of all that has arrived."""
        ends = {limit.first, limit.second}
        return to in ends and bool(ends & {name, *kept})

    def _moved_by(
        self,
        source: str,
        columns: tuple[str, ...],
        staying: tuple[str, ...],
        reach: Reach,
        bounds: tuple[tuple[int, Reach], ...],
    ) -> Literal:
        made, rule = self.plan._fresh(len(staying)), self.rule.rule
        if bounds or reach == EVERYWHERE or staying != columns:
            places = None if staying == columns else tuple(map(columns.index, staying))
            self.plan.plan.nodes.append(WithinNode(made, source, reach, bounds, rule, places))
        else:
            self.plan.plan.nodes.append(Dilate(made, source, reach, rule))
        return Literal(made, tuple(map(Variable, staying)))

    def _needed(self, name: str) -> set[str]:
        """The variables that are asked for anywhere but in what is said of a time."""
        found = {each.name for head in self.rule.conclusions for each in variables(head.atom)}
        for other, place in self.places.items():
            if other != name:
                found |= {other} | place.names
        found |= {each for part in self.anytime for each in names(part)}
        found |= {each for comparison in self.comparisons for each in _names_of(comparison)}
        return found | {each for limit in self.pending for each in (limit.first, limit.second)}

    # At one time.

    def _body_at(self, name: str, last: bool = False) -> Body:
        place = self.places[name]
        body = self.plan._conjunction(place.parts, place.given)
        if body.impossible:
            raise Never
        self.plan._complete(body)
        self._between_fixed_times(name, body)
        if name in self._bound(body) and name not in self.moved.get(name, ()):
            body = self._cut(body, ((name, HERE),))
        body = self._compared(name, body)
        if self._is_asked_for(name, last) and name not in self._bound(body):
            body = self._compared(name, self._stamped(name, body))
        self._with_values(name, body)
        return body

    def _between_fixed_times(self, name: str, body: Body) -> None:
        reach = self.limits.range(name, START)
        if reach.near is not None:
            body.not_before(reach.near)
        if reach.far is not None or reach.open_near:
            body.literals.append(Literal(self.plan._during(reach), ()))

    def _is_asked_for(self, name: str, last: bool) -> bool:
        """Whether the time itself is needed as a value."""
        if name in {each for head in self.rule.conclusions for each in names(head.atom)}:
            return True
        if any(name in _names_of(comparison) for comparison in self.comparisons):
            return True
        if any(name in place.names for other, place in self.places.items() if other != name):
            return True
        return not last and any(
            name in (limit.first, limit.second) and self.leaving not in (limit.first, limit.second)
            for limit in self.pending
        )

    def _compared(self, name: str, body: Body) -> Body:
        """Keeps to the comparisons of what is bound, computed values included; comparisons of a value with the time
        itself cut the time."""
        bounds: list[tuple[str, Reach]] = []
        changed = True
        while changed:
            changed = False
            bound = self._bound(body)
            for comparison in self.comparisons:
                used = _names_of(comparison)
                said = relative(comparison)
                if used <= bound or self._computes(comparison, used - bound):
                    body.comparisons.append(comparison)
                elif said is not None and self.plan.plan.discrete and used - bound == {name} and len(used) == 2:
                    (value,) = used - {name}
                    bounds.append((value, _reach_from(said.operator, said.distance, said.first == name)))
                else:
                    continue
                self.comparisons.remove(comparison)
                changed = True
                break
        return self._cut(body, tuple(bounds)) if bounds else body

    def _computes(self, comparison: Comparison, unknown: set[str]) -> bool:
        """Whether an equation gives the one unknown variable its value; a time that other parts fix is none."""
        if comparison.operator != "=" or len(unknown) != 1:
            return False
        (name,) = unknown
        if name in self.places and (self.places[name].parts or self.places[name].given):
            return False
        sides = ((comparison.left, comparison.right), (comparison.right, comparison.left))
        return any(side == Variable(name) and name not in _terms_names(other) for side, other in sides)

    def _bound(self, body: Body) -> set[str]:
        """What a body gives values to."""
        return self.plan._bound(body)

    def _with_values(self, name: str, body: Body) -> None:
        """Two times that both travel along are compared as values."""
        here = self.moved.get(name, set()) & self._bound(body)
        for limit in list(self.pending):
            if {limit.first, limit.second} <= here:
                difference = Arithmetic("-", Variable(limit.first), Variable(limit.second))
                body.comparisons.append(Comparison("<=", difference, Constant(limit.most)))
                self.pending.remove(limit)

    def _cut(self, body: Body, bounds: tuple[tuple[str, Reach], ...]) -> Body:
        """A body, where its time is at some distances from values."""
        if not self.plan.plan.discrete:
            raise self.plan._refuse("a time as a value on the dense timeline", self.rule.span)
        columns = tuple(self._ordered(body, self._bound(body)))
        source = self._relation(body, columns)
        places = tuple((columns.index(column), reach) for column, reach in bounds)
        found = Body()
        found.literals.append(self._moved_by(source, columns, columns, HERE, places))
        return found

    def _stamped(self, name: str, body: Body) -> Body:
        """A body with its time as a value."""
        plan = self.plan.plan
        if not plan.discrete and not any(each.relation in plan.at_points for each in body.literals):
            raise self.plan._refuse("a time as a value on the dense timeline", self.rule.span)
        """A body with its time as a value."""
        columns = tuple(sorted(self._bound(body) & {*self._needed(name), *self.moved.get(name, ())}))
        source = self.plan._joined_body(body, columns)
        made = self.plan._fresh(len(columns) + 1)
        self.plan.plan.nodes.append(Stamp(made, source, self.rule.rule))
        self.moved.setdefault(name, set()).add(name)
        found = Body()
        found.literals.append(Literal(made, tuple(map(Variable, (*columns, name)))))
        return found

    def _ordered(self, body: Body, columns: set[str]) -> list[str]:
        """Columns in the order in which a body has them."""
        arguments = [each.name for one in body.literals for each in one.arguments if isinstance(each, Variable)]
        return [*(each for each in dict.fromkeys(arguments) if each in columns), *sorted(columns - {*arguments})]

    def _relation(self, body: Body, columns: tuple[str, ...]) -> str:
        """The relation of a body; where that is one relation as it is, that one."""
        if len(body.literals) == 1 and not body.negated and not body.comparisons:
            (literal,) = body.literals
            # Predicates hold from the start of the stream on.
            is_predicate = self.plan.plan.sources[literal.relation].kind in ("input", "derived")
            never_before = body.least is None or (is_predicate and body.least <= 0)
            if never_before and literal == Literal(literal.relation, tuple(map(Variable, columns))):
                return literal.relation
        return self.plan._joined_body(body, columns)


def _unpinned(formula: CoreFormula) -> CoreFormula:
    """A formula without the pin that says of which time it speaks."""
    if isinstance(formula, Not):
        return replace(formula, part=_unpinned(formula.part))
    return formula.part if isinstance(formula, At) else formula


def _names_of(comparison: Comparison) -> set[str]:
    return {each.name for each in variables(comparison)}


def _terms_names(term: Term) -> set[str]:
    return _names_of(Comparison("=", term, term))


def _reach_from(operator: str, distance: Number, forward: bool) -> Reach:
    """How far a time may be from a value, of which a comparison says what the difference is, one way or the other."""
    if not forward:
        operator = MIRRORED[operator]
        distance = -distance
    low = distance if operator in (">", ">=", "=") else None
    high = distance if operator in ("<", "<=", "=") else None
    return Reach(low, high, operator == ">", operator == "<")


def _with_now_as_a_value(comparison: Comparison) -> Comparison:
    return replace(comparison, left=_valued(comparison.left), right=_valued(comparison.right))


def _valued(term: Term) -> Term:
    match term:
        case Now():
            return Variable(NOW, span=term.span)
        case Negative(term=inner):
            return replace(term, term=_valued(inner))
        case Arithmetic(left=left, right=right):
            return replace(term, left=_valued(left), right=_valued(right))
        case _:
            return term
