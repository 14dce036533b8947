"""Templates that count: how many events of an activity there are, whether one is first or last, which of two."""

from __future__ import annotations

import math

from presage.languages.declare.conditions import holds
from presage.languages.declare.watching import ActivityEvent, DeclareConstraint, NeededEvent, Verdict, Watch, verdict
from presage.model.terms import Number


class _Counted(Watch):
    """Existence, absence, exactly: how many events of an activity there are, at which distance from the first event."""

    def __init__(self, constraint: DeclareConstraint) -> None:
        super().__init__(constraint)
        self.begin: Number | None = None
        self.found = 0

    def take(self, event: ActivityEvent) -> None:
        if self.begin is None:
            self.begin = event.time
        if self.activates(event, self.constraint.activities[0]) and self.constraint.in_time(event.time - self.begin):
            self.found += 1

    def can_reach(self, number: int, now: Number) -> bool:
        """Whether there may still be so many. An activity happens once at a time in a case, and times are whole."""
        high = self.constraint.high
        if not self.can_activate:
            return self.found >= number
        if high is None or self.begin is None:
            return True
        earliest = max(math.floor(now) + 1, math.ceil(self.begin + self.constraint.low))
        return self.found + max(0, math.floor(self.begin + high) - earliest + 1) >= number

    def deadline(self, now: Number) -> Number | None:
        """At each time of the bounds there is one less at which it can still happen."""
        high = self.constraint.high
        if high is None or self.begin is None or self.begin + high <= now:
            return None
        return max(
            now + 1, math.ceil(self.begin + self.constraint.low), math.floor(self.begin + high) - self._lacking()
        )

    def _lacking(self) -> int:
        return max(0, self.constraint.number - self.found)

    def missing(self, now: Number) -> tuple[NeededEvent, ...]:
        low, high, begin = self.constraint.low, self.constraint.high, self.begin or 0
        earliest = begin + low if begin + low > now else None
        return (NeededEvent(self.constraint.activities[0], earliest, None if high is None else begin + high),)


class Existence(_Counted):
    def verdict(self, now: Number) -> Verdict:
        if self.found >= self.constraint.number:
            return verdict(True, False)
        return verdict(False, self.can_reach(self.constraint.number, now), self.missing(now))


class Absence(_Counted):
    def verdict(self, now: Number) -> Verdict:
        if self.found >= self.constraint.number:
            return verdict(False, False)
        return verdict(True, self.can_reach(self.constraint.number, now))


class Exactly(_Counted):
    def verdict(self, now: Number) -> Verdict:
        if self.found > self.constraint.number:
            return verdict(False, False)
        done = self.found == self.constraint.number
        return verdict(done, self.can_reach(self.constraint.number + done, now), self.missing(now))


class Init(Watch):
    def __init__(self, constraint: DeclareConstraint) -> None:
        super().__init__(constraint)
        self.first: bool | None = None

    def take(self, event: ActivityEvent) -> None:
        if self.first is None:
            self.first = self.activates(event, self.constraint.activities[0]) and self.constraint.in_time(0)

    def verdict(self, now: Number) -> Verdict:
        return verdict(bool(self.first), False)


class End(_Counted):
    """The last event; that it is the last is known when the case is complete."""

    def __init__(self, constraint: DeclareConstraint) -> None:
        super().__init__(constraint)
        self.last = False

    def take(self, event: ActivityEvent) -> None:
        before = self.found
        super().take(event)
        self.last = self.found > before

    def verdict(self, now: Number) -> Verdict:
        if self.last:
            return verdict(True, True)
        return verdict(False, self.can_reach(self.found + 1, now), self.missing(now))


class ChoiceOfTwo(Watch):
    """At least one of two activities, the second under the target's condition."""

    exclusive = False

    def __init__(self, constraint: DeclareConstraint) -> None:
        super().__init__(constraint)
        self.begin: Number | None = None
        self.found = [False, False]

    def take(self, event: ActivityEvent) -> None:
        if self.begin is None:
            self.begin = event.time
        in_time = self.constraint.in_time(event.time - self.begin)
        conditions = (self.constraint.activation, self.constraint.target)
        for side, (activity, condition) in enumerate(zip(self.constraint.activities, conditions, strict=True)):
            if in_time and event.activity == activity and holds(condition, event.data, event.data) is True:
                self.found[side] = True

    def _can_come(self, side: int, now: Number) -> bool:
        high = self.constraint.high
        condition = (self.constraint.activation, self.constraint.target)[side]
        return holds(condition, None, None) is not False and (
            high is None or self.begin is None or now < self.begin + high
        )

    def deadline(self, now: Number) -> Number | None:
        high = self.constraint.high
        due = None if high is None or self.begin is None else self.begin + high
        return due if due is not None and due > now else None

    def verdict(self, now: Number) -> Verdict:
        if not any(self.found):
            can = [side for side in (0, 1) if self._can_come(side, now)]
            # Either would do: the first is named.
            return verdict(False, bool(can), tuple(NeededEvent(self.constraint.activities[side]) for side in can[:1]))
        if not self.exclusive:
            return verdict(True, False)
        if all(self.found):
            return verdict(False, False)
        return verdict(True, self._can_come(0 if self.found[1] else 1, now))


class ExclusiveChoice(ChoiceOfTwo):
    exclusive = True
