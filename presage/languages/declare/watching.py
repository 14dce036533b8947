"""A template over one case, as its events come, over all ways in which the case may go on.

A watch is one template over one case. It knows whether the trace so far satisfies it, and whether what may still come
can change that: together one of the four verdicts. Events that may still come lie after now and may be of any activity
and have any data, except that what is known of an activation already counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from presage.languages.declare.conditions import ALWAYS, DataCondition, EventData, holds
from presage.model.terms import Number


@dataclass(frozen=True, slots=True)
class DeclareConstraint:
    """A template with its activities, conditions and bounds on the distance of times."""

    template: str
    number: int
    activities: tuple[str, ...]
    activation: DataCondition = ALWAYS
    target: DataCondition = ALWAYS
    low: Number = 0
    high: Number | None = None

    def in_time(self, distance: Number) -> bool:
        return self.low <= distance and (self.high is None or distance <= self.high)


@dataclass(slots=True)
class ActivityEvent:
    place: int
    time: Number
    activity: str
    data: EventData = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NeededEvent:
    """An event that would still be needed, not before and not after these times."""

    activity: str
    earliest: Number | None = None
    latest: Number | None = None
    since: tuple[str, Number] | None = None
    """The activity and time of the event that asks for it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    satisfied: bool
    permanent: bool
    missing: tuple[NeededEvent, ...] = ()


def verdict(satisfied: bool, can_change: bool, missing: tuple[NeededEvent, ...] = ()) -> Verdict:
    return Verdict(satisfied, not can_change, missing if can_change and not satisfied else ())


class Watch:
    """A template at work on one case."""

    def __init__(self, constraint: DeclareConstraint) -> None:
        self.constraint = constraint

    def take(self, event: ActivityEvent) -> None:
        raise NotImplementedError

    def verdict(self, now: Number) -> Verdict:
        raise NotImplementedError

    def deadline(self, now: Number) -> Number | None:
        """The next time at which the verdict may change though nothing comes."""
        return None

    # What several templates ask

    @property
    def can_activate(self) -> bool:
        return holds(self.constraint.activation, None, None) is not False

    def activates(self, event: ActivityEvent, activity: str) -> bool:
        return event.activity == activity and holds(self.constraint.activation, event.data, {}) is True

    def meets(self, activation: ActivityEvent, target: ActivityEvent) -> bool:
        """Whether an event is what an activation asks for, its activity aside."""
        distance = max(target.time - activation.time, activation.time - target.time)
        return self.constraint.in_time(distance) and holds(self.constraint.target, activation.data, target.data) is True

    def can_come(self, activation: ActivityEvent, now: Number) -> bool:
        """Whether an event after now may still be what an activation asks for."""
        high = self.constraint.high
        in_time = high is None or activation.time + high > now
        return in_time and holds(self.constraint.target, activation.data, None) is not False

    def will_do(self, target: ActivityEvent) -> bool:
        """Whether an event is what every later activation asks for, whatever its data and time."""
        bounded = self.constraint.low > 0 or self.constraint.high is not None
        return not bounded and holds(self.constraint.target, None, target.data) is True

    def asked(self, activation: ActivityEvent, activity: str, now: Number) -> NeededEvent:
        low, high = self.constraint.low, self.constraint.high
        earliest = activation.time + low if activation.time + low > now else None
        latest = None if high is None else activation.time + high
        return NeededEvent(activity, earliest, latest, (activation.activity, activation.time))
