"""Rules over a stream: their instances, and what follows from each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from presage.analysis.timeless import is_timeless
from presage.answer_streams.aggregates import Solved
from presage.answer_streams.formulas import Evaluator, arguments_of
from presage.answer_streams.ordering import Ordering
from presage.answer_streams.settling import SettlingTimes, settled_after
from presage.answer_streams.values import Assignment, Ground, Invented, ValueOrInvented
from presage.answer_streams.windows import ends, length
from presage.core.formulas import All, At, CoreFormula, uses_now, variables, walk, walk_outside
from presage.core.rules import Conclusion, CoreRule, Pinpoint
from presage.model.terms import Now, Variable
from presage.model.values import NOW
from presage.time.points import FAR, NEVER, Times


@dataclass(frozen=True)
class RuleView:
    """A rule with what its evaluation needs to know about it."""

    number: int
    rule: CoreRule
    static_names: frozenset[str]
    lag: SettlingTimes | None = None
    """How long after their time facts may still change, where the end of the stream is only that of what has
    arrived. Instances that hang on what may change are not looked at yet."""

    @cached_property
    def body(self) -> CoreFormula:
        return All(self.rule.body) if len(self.rule.body) != 1 else self.rule.body[0]

    @cached_property
    def ordering(self) -> Ordering:
        return Ordering(frozenset(self.rule.times), self.static_names)

    @cached_property
    def pins(self) -> tuple[Pinpoint, ...]:
        return self.rule.pins

    @cached_property
    def has_open_times(self) -> bool:
        """Whether the body pins something to other times than the one at which it is looked at."""
        nodes = (node for literal in self.rule.body for node in walk_outside(literal))
        return any(isinstance(node, At) and not isinstance(node.base, Now) for node in nodes)

    @cached_property
    def heads(self) -> frozenset[str]:
        return frozenset(head.atom.predicate for head in self.rule.conclusions)

    @cached_property
    def needs(self) -> frozenset[str]:
        """The predicates of the body."""
        return frozenset(self.rule.below())

    @cached_property
    def uses_now(self) -> bool:
        return any(uses_now(literal) for literal in self.rule.body)

    @cached_property
    def is_timeless(self) -> bool:
        return is_timeless(self.rule.rule)

    def variable_times(self, low: int, high: int) -> Times:
        """The values to try for a time variable: it may lie outside the stream as long as what is pinned does not."""
        most = max((abs(length(pin.offset)) for pin in self.pins if pin.base is not None), default=0)
        return Times.between(low - most, high + most)

    def solutions(self, evaluator: Evaluator, looks: Times, binding: Assignment | None = None) -> Iterator[Solved]:
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
        self, evaluator: Evaluator, head: Conclusion, time: int, looks: Times, forward: bool
    ) -> Iterator[Solved]:
        """The solutions whose head says something of a time, and of no earlier one (or no later one)."""
        start: dict[str, ValueOrInvented] = {}
        near, far = ends(head.reach)
        shift: int | None = None
        if isinstance(head.base, Now):
            shift = near if forward else far
        elif isinstance(head.base, Variable):
            start = {head.base.name: time - near}
        elif near != far:
            if time != (evaluator.whole.low if forward else evaluator.whole.high):
                return
        elif near != time:
            return
        if shift is not None:
            # What a head says of times before the first one is said with the first.
            first = time == (evaluator.whole.low if forward else evaluator.whole.high)
            low, high = (-FAR if first and forward else time - shift), (FAR if first and not forward else time - shift)
            looks &= Times.between(low, high)
        yield from self.solutions(evaluator, looks, start)

    def _existing(self, evaluator: Evaluator, binding: Assignment, looks: Times) -> Iterator[Solved]:
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

    def _new_looks(self, evaluator: Evaluator, binding: Assignment, times: Times, before: int) -> Times:
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

    def _is_settled(self, evaluator: Evaluator, binding: Assignment, high: int) -> bool:
        """Whether what the body pins to fixed times is final."""
        if self.lag is None:
            return True
        for literal in self.rule.body:
            for node in walk(literal):
                if isinstance(node, At) and not isinstance(node.base, Now):
                    if node.variable is not None and node.variable not in binding:
                        continue  # a local time of an aggregate: how long that takes to be final is known by its bounds
                    at = evaluator.pinned_time(node, binding)
                    if at is None or at + max(0, settled_after(node.part, self.lag)) > high:
                        return False
        return True

    def derived(self, binding: Assignment, times: Times) -> Iterator[tuple[Conclusion, Ground, Times]]:
        """What the head says, for each of its atoms, when it is looked at at these times."""
        rule = self.rule
        if not rule.exists:
            yield from ((each, *_derived(each, binding, times)) for each in rule.conclusions)
            return
        anytime = rule.lasting or all(not isinstance(each.base, Now) for each in rule.conclusions)
        for looks in [times] if anytime else [Times.at(at) for at in times.points()]:
            full = {**binding, **self._invented(binding, None if anytime else looks.first)}
            yield from ((each, *_derived(each, full, looks)) for each in rule.conclusions)

    def _invented(self, binding: Assignment, at: int | None) -> dict[str, ValueOrInvented]:
        """Values for the variables of `exists`, by what the head shows; time counts unless they are lasting."""
        invented = {variable.name for variable in self.rule.exists}
        shown = {variable.name for each in self.rule.conclusions for variable in variables(each.atom)}
        if not self.rule.lasting:
            shown |= {each.base.name for each in self.rule.conclusions if isinstance(each.base, Variable)}
        frontier = tuple(binding[name] for name in sorted(shown - invented))
        if at is not None:
            frontier += (at,)
        return {name: Invented(self.number, name, frontier) for name in invented}


def _derived(head: Conclusion, binding: Assignment, times: Times) -> tuple[Ground, Times]:
    """The atom that a head says, and when, looked at at these times."""
    ground = head.atom.predicate, arguments_of(head.atom, binding)
    near, far = ends(head.reach)
    if isinstance(head.base, Now):
        return ground, times.spread(near, far)
    base = binding[head.base.name] if isinstance(head.base, Variable) else 0
    assert isinstance(base, int)
    return ground, Times.between(base + near, FAR if far >= FAR else base + far)
