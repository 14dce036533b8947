"""Grounding that is kept from step to step: what a run with several models has worked out already stays as it is.

With `reading every` an instance of a rule is looked at once its body is final, and never again. So a step grounds
only the instances that have become final since the last one, over the facts that such an instance can still look
at; all that lies farther back is forgotten. `analysis/lookback.py` says whether there is such a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from presage.analysis.differences import NOW
from presage.analysis.lookback import LookBack
from presage.analysis.subject import Subject
from presage.analysis.uncertain import uncertain_predicates
from presage.answer_streams import saving
from presage.answer_streams.compiling import Unsettled
from presage.answer_streams.expressions import Candidate
from presage.answer_streams.fixpoint import alternating, groups, saturate
from presage.answer_streams.grounding import Bounds, GroundRule, derived_predicates, ground_program
from presage.answer_streams.program_world import ProgramWorld, span_of
from presage.answer_streams.settling import SettlingTimes, settled_after
from presage.answer_streams.streams import FactsInTime
from presage.answer_streams.values import Ground
from presage.answer_streams.windows import length
from presage.core.formulas import At, walk
from presage.core.rules import Core, CoreRule
from presage.io.facts import Fact
from presage.rewrite import core_of
from presage.time.points import Times


def reaches(core: Core, found: Sequence[LookBack], lag: SettlingTimes) -> dict[str, int]:
    """For each predicate in a body: how long after its time a fact can be looked at by an instance that is new."""
    reach: dict[str, int] = {}
    for each in found:
        for anchor, behind in each.behind.items():
            wait = _settled(core.of(each.rule), anchor, lag)
            for name, distance in behind.items():
                reach[name] = max(reach.get(name, 0), distance + wait)
    return reach


def _settled(rule: CoreRule, anchor: str, lag: SettlingTimes) -> int:
    """How long after one of its times an instance may be final."""
    if anchor == NOW:
        return max((0, *(settled_after(literal, lag) for literal in rule.body)))
    pins = (node for literal in rule.body for node in walk(literal) if isinstance(node, At))
    waits = (length(node.offset) + max(0, settled_after(node.part, lag)) for node in pins if node.variable == anchor)
    return max((0, *waits))


class Certain(FactsInTime):
    """Certain facts; each new one is told to the possible ones as well."""

    def __init__(self, possible: FactsInTime) -> None:
        super().__init__()
        self.possible = possible

    def add(self, ground: Ground, times: Times, counted: bool) -> Times:
        new = super().add(ground, times, counted)
        if new:
            self.possible.add(ground, new, counted)
        return new


class Grounder:
    """Takes what arrives, and gives the rule instances that are new by it."""

    def __init__(
        self, subject: Subject, statics: Sequence[Fact], found: Sequence[LookBack], lag: SettlingTimes
    ) -> None:
        self.lag = lag
        core = core_of(subject)
        self.reach = reaches(core, found, lag)
        """How long after its time a fact of each predicate can be looked at."""
        pinned = [
            distance + _settled(core.of(each.rule), anchor, lag)
            for each in found
            for anchor, distance in each.pinned.items()
        ]
        self._farthest = max((0, *self.reach.values(), *pinned))
        self._keeps = max((self._farthest, *lag.of.values())) + 1
        self._starts_alone = any(each.starts_alone for each in found)
        self.possible = FactsInTime()
        self.certain = Certain(self.possible)
        self.uncertain = uncertain_predicates(subject)
        self.world = ProgramWorld(subject, tuple(statics), 0, 0, lag=lag)
        self.now = -1
        self.told_again = False
        """Whether the stream brought facts of predicates that rules derive, and leave open."""
        self._last_change = -1
        self._next_cleaning = 0

    def advance(self, facts: Sequence[Fact], now: int) -> list[GroundRule]:
        """The instances of rules on uncertain facts, and of constraints, that have become final."""
        world = self.world
        world.low, world.high = max(0, self.now + 1 - self._farthest), now
        world.looked_until = None if self.now < 0 else self.now
        before = self.possible.additions
        self.told_again = any(fact.predicate in self.uncertain for fact in facts)
        for fact in facts:
            self.certain.add((fact.predicate, fact.arguments), Times.between(*span_of(fact)), counted=True)
        looks = world.timeline
        for group in groups(world, derived_predicates(world.subject) - self.uncertain):
            self._follow(group, looks)
        unsettled = Unsettled(self.uncertain, counts_all=False)
        for group in groups(world, self.uncertain):
            rules = [view for view in world.rules if view.heads & group]
            saturate(world, self.possible, self.certain, rules, group, looks, unsettled)
        ground = ground_program(world, looks, Bounds(self.certain, self.possible, unsettled)).rules
        # A rule that is looked at several times may say again what is final; nothing new follows from it.
        new = [rule for rule in ground if not any(self._was_final(each) for part in rule.alternatives for each in part)]
        self.now = now
        if new or before != self.possible.additions:
            self._last_change = now
        return new

    def _was_final(self, candidate: Candidate) -> bool:
        (name, _), time = candidate
        return time + self.lag.of[name] <= self.now

    def _follow(self, group: frozenset[str], looks: Times) -> None:
        """Adds what surely holds of a group of predicates by the new instances."""
        world = self.world
        rules = [view for view in world.rules if view.heads & group]
        inner = (edge for edge in world.subject.dependencies if edge.head in group and edge.body in group)
        if not any(edge.negative for edge in inner):
            saturate(world, self.certain, self.certain, rules, group, looks)
            return
        for ground, times in alternating(world, self.certain, rules, group, looks).ground():
            if ground[0] in group:
                self.certain.add(ground, times, counted=False)

    @property
    def is_idle(self) -> bool:
        """Whether nothing can follow before something arrives: nothing is in memory, and no rule starts by itself
        or, where one does, it has had nothing to say for as long as rules look back."""
        if self._starts_alone and self.now - self._last_change <= self._keeps:
            return False
        if self.now - self._last_change > self._keeps:
            self.forget()
        return not any(self.possible.ground())

    def forget(self) -> None:
        """Drops what no new instance can look at, and nobody is still to be told."""
        first = self.now + 1 - self._keeps
        if self.now >= self._next_cleaning or self.now - self._last_change > self._keeps:
            self._next_cleaning = self.now + max(self._keeps, 16)
            self.certain.forget_before(first)
            self.possible.forget_before(first)

    def memory(self) -> dict[str, Any]:
        """All that a step depends on, as plain JSON values."""
        return {
            "statics": [saving.fact(each) for each in self.world.given],
            "certain": [saving.table(each) for each in (self.certain.counted, self.certain.others)],
            "possible": [saving.table(each) for each in (self.possible.counted, self.possible.others)],
            "times": [self.now, self._last_change, self._next_cleaning],
        }

    def remember(self, memory: dict[str, Any]) -> None:
        self.certain.counted, self.certain.others = map(saving.read_table, memory["certain"])
        self.possible.counted, self.possible.others = map(saving.read_table, memory["possible"])
        self.now, self._last_change, self._next_cleaning = map(int, memory["times"])
