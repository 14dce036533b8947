"""Rules over a stream: their instances, and what follows from each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from presage.analysis.timeless import is_timeless, uses_now
from presage.analysis.timeline import pin_variables
from presage.answer_streams.formulas import Evaluator, Solution, arguments_of, distances
from presage.answer_streams.ordering import Ordering
from presage.answer_streams.settling import Lags, settled_after
from presage.answer_streams.values import Binding, Ground, Invented, Value
from presage.answer_streams.windows import length
from presage.model.formulas import (
    And,
    Atom,
    Formula,
    Metric,
    Over,
    Pinned,
    atoms,
    variables,
    walk,
    walk_outside,
)
from presage.model.statements import Rule
from presage.model.terms import Now, Variable
from presage.model.time import Pin
from presage.model.values import NOW
from presage.time.points import FAR, NEVER, Times


@dataclass(frozen=True)
class RuleView:
    """A rule with what its evaluation needs to know about it."""

    number: int
    rule: Rule
    static_names: frozenset[str]
    lag: Lags | None = None
    """How long after their time facts may still change, where the end of the stream is only that of what has
    arrived. Instances that hang on what may change are not looked at yet."""

    @cached_property
    def body(self) -> Formula:
        return And(self.rule.body) if len(self.rule.body) != 1 else self.rule.body[0]

    @cached_property
    def ordering(self) -> Ordering:
        return Ordering(frozenset(pin_variables(self.rule)), self.static_names)

    @cached_property
    def pins(self) -> tuple[Pin, ...]:
        return tuple(
            node.pin for formula in self.rule.formulas() for node in walk_outside(formula) if isinstance(node, Pinned)
        )

    @cached_property
    def has_open_times(self) -> bool:
        """Whether the body pins something to other times than the one at which it is looked at."""
        nodes = (node for literal in self.rule.body for node in walk_outside(literal))
        return any(isinstance(node, Pinned) and not isinstance(node.pin.base, Now) for node in nodes)

    @cached_property
    def heads(self) -> frozenset[str]:
        return frozenset(atom.predicate for head in self.rule.head_atoms for atom in atoms(head))

    @cached_property
    def needs(self) -> frozenset[str]:
        """The predicates of the body."""
        return frozenset(atom.predicate for literal in self.rule.body for atom in atoms(literal))

    @cached_property
    def uses_now(self) -> bool:
        return any(uses_now(literal) for literal in self.rule.body)

    @cached_property
    def is_timeless(self) -> bool:
        return is_timeless(self.rule)

    def variable_times(self, low: int, high: int) -> Times:
        """The values to try for a time variable: it may lie outside the stream as long as what is pinned does not."""
        most = max((abs(length(pin.offset)) for pin in self.pins if pin.base is not None), default=0)
        return Times.between(low - most, high + most)

    def solutions(self, evaluator: Evaluator, looks: Times, binding: Binding | None = None) -> Iterator[Solution]:
        """The bindings that satisfy the body, each with the times at which the rule is looked at."""
        start = binding or {}
        if self.is_timeless and looks:
            looks = Times.at(looks.first)
        if self.uses_now:
            for at in looks.points():
                yield from self._existing(evaluator, {**start, NOW: at}, Times.at(at))
        else:
            yield from self._existing(evaluator, start, looks)

    def telling(
        self, evaluator: Evaluator, head: Formula, time: int, looks: Times, forward: bool
    ) -> Iterator[Solution]:
        """The solutions whose head says something of a time, and of no earlier one (or no later one)."""
        start: dict[str, Value] = {}
        shift: int | None = 0
        while not isinstance(head, Atom):
            match head:
                case Pinned(formula=head, pin=Pin(base=Now(), offset=offset)):
                    shift = length(offset)
                case Pinned(formula=head, pin=Pin(base=Variable(name=name), offset=offset)):
                    start, shift = {name: time - length(offset)}, None
                case Pinned(formula=head, pin=Pin(offset=offset)):
                    if length(offset) != time:
                        return
                    shift = None
                case Metric(operator=operator, interval=interval, formula=head) if shift is not None:
                    low, high = distances(interval)
                    near, far = (low, high) if operator == "always" else (-high, -low)
                    shift += near if forward else far
                case Over(formula=head):
                    if time != (evaluator.whole.low if forward else evaluator.whole.high):
                        return
                    shift = None
                case _:
                    raise TypeError(f"{head} cannot stand in a head")
        if shift is not None:
            # What a head says of times before the first one is said with the first.
            first = time == (evaluator.whole.low if forward else evaluator.whole.high)
            low, high = (-FAR if first and forward else time - shift), (FAR if first and not forward else time - shift)
            looks &= Times.between(low, high)
        yield from self.solutions(evaluator, looks, start)

    def _existing(self, evaluator: Evaluator, binding: Binding, looks: Times) -> Iterator[Solution]:
        """An instance in which a pin points before the start of the stream, or to no time, does not exist."""
        low, high = evaluator.whole.low, evaluator.whole.high
        looks &= Times.between(low, high - max(0, self.settled_after))
        if evaluator.looked_until is not None and not self.has_open_times:
            looks &= Times.between(evaluator.looked_until - max(0, self.settled_after) + 1, FAR)
        for pin in self.pins:
            if isinstance(pin.base, Now):
                looks &= Times.between(low - length(pin.offset), FAR)
        for found, times in evaluator.solve(self.body, binding, looks):
            fixed = (evaluator.pinned_time(pin, found) for pin in self.pins if not isinstance(pin.base, Now))
            if all(at is not None and at >= low for at in fixed) and self._is_settled(evaluator, found, high):
                if evaluator.looked_until is not None:
                    times = self._new_looks(evaluator, found, times, evaluator.looked_until)
                if times:
                    yield found, times

    def _new_looks(self, evaluator: Evaluator, binding: Binding, times: Times, before: int) -> Times:
        """When an instance is looked at that was not final at a time before."""
        if not self._is_settled(evaluator, binding, before):
            return times
        return NEVER if self.is_timeless else times & Times.between(before - max(0, self.settled_after) + 1, FAR)

    @cached_property
    def settled_after(self) -> int:
        """How long after it is looked at the body is final."""
        if self.lag is None:
            return 0
        return max((settled_after(literal, self.lag) for literal in self.rule.body), default=0)

    def _is_settled(self, evaluator: Evaluator, binding: Binding, high: int) -> bool:
        """Whether what the body pins to fixed times is final."""
        if self.lag is None:
            return True
        for literal in self.rule.body:
            for node in walk(literal):
                if isinstance(node, Pinned) and not isinstance(node.pin.base, Now):
                    if isinstance(node.pin.base, Variable) and node.pin.base.name not in binding:
                        continue  # a local time of an aggregate: how long that takes to be final is known by its bounds
                    at = evaluator.pinned_time(node.pin, binding)
                    if at is None or at + max(0, settled_after(node.formula, self.lag)) > high:
                        return False
        return True

    def derived(self, binding: Binding, times: Times) -> Iterator[tuple[Formula, Ground, Times]]:
        """What the head says, for each of its atoms, when it is looked at at these times."""
        head = self.rule.head
        assert head is not None
        if not head.exists:
            for atom in head.atoms:
                yield from ((atom, *found) for found in _derived(atom, binding, times))
            return
        pinned = all(isinstance(atom, Pinned) and not isinstance(atom.pin.base, Now) for atom in head.atoms)
        each = [times] if pinned or head.lasting else [Times.at(at) for at in times.points()]
        for looks in each:
            full = {**binding, **self._invented(binding, None if pinned or head.lasting else looks.first)}
            for atom in head.atoms:
                yield from ((atom, *found) for found in _derived(atom, full, looks))

    def _invented(self, binding: Binding, at: int | None) -> dict[str, Value]:
        """Values for the variables of `exists`, by what the head shows; time counts unless they are lasting."""
        head = self.rule.head
        assert head is not None
        invented = {variable.name for variable in head.exists}
        if head.lasting:
            shown = [variable.name for each in head.atoms for atom in atoms(each) for variable in variables(atom)]
        else:
            shown = [variable.name for each in head.atoms for variable in variables(each)]
        frontier = tuple(binding[name] for name in sorted({*shown} - invented))
        if at is not None:
            frontier += (at,)
        return {name: Invented(self.number, name, frontier) for name in invented}


def _derived(head: Formula, binding: Binding, times: Times) -> Iterator[tuple[Ground, Times]]:
    match head:
        case Atom():
            yield (head.predicate, arguments_of(head, binding)), times
        case Pinned(formula=inner, pin=pin):
            offset = length(pin.offset)
            if isinstance(pin.base, Now):
                yield from _derived(inner, binding, times.spread(offset, offset))
                return
            base = binding[pin.base.name] if isinstance(pin.base, Variable) else 0
            assert isinstance(base, int)
            yield from _derived(inner, binding, Times.at(base + offset))
        case Over(formula=inner, interval=interval):
            yield from _derived(inner, binding, Times.between(*distances(interval)))
        case Metric(operator=operator, interval=interval, formula=inner):
            low, high = distances(interval)
            moved = times.spread(low, high) if operator == "always" else times.spread(-high, -low)
            yield from _derived(inner, binding, moved)
        case _:
            raise TypeError(f"{head} cannot stand in a head")
