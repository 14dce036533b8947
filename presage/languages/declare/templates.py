"""The templates of Declare by name, and those of an activation and a target."""

from __future__ import annotations

from collections.abc import Callable

from presage.languages.declare.conditions import holds
from presage.languages.declare.counted_templates import (
    Absence,
    ChoiceOfTwo,
    End,
    Exactly,
    ExclusiveChoice,
    Existence,
    Init,
)
from presage.languages.declare.watching import ActivityEvent, DeclareConstraint, Verdict, Watch, verdict
from presage.model.terms import Number


class _Pair(Watch):
    """A template of an activation and a target; the activation is the first activity unless a template says else."""

    def __init__(self, constraint: DeclareConstraint, activation: str, target: str) -> None:
        super().__init__(constraint)
        self.activation, self.target = activation, target
        self.failed = False

    def verdict(self, now: Number) -> Verdict:
        return verdict(not self.failed, not self.failed and self._can_fail())

    def _can_fail(self) -> bool:
        return self.can_activate


class _Waiting(_Pair):
    """Those that wait for a target after the activation."""

    def __init__(self, constraint: DeclareConstraint, activation: str, target: str) -> None:
        super().__init__(constraint, activation, target)
        self.open: list[ActivityEvent] = []

    def deadline(self, now: Number) -> Number | None:
        if self.constraint.high is None:
            return None
        return min((each.time + self.constraint.high for each in self.open), default=None)

    def _fulfil(self, event: ActivityEvent) -> None:
        if event.activity == self.target:
            self.open = [each for each in self.open if not self.meets(each, event)]

    def verdict(self, now: Number) -> Verdict:
        if self.failed or not all(self.can_come(each, now) for each in self.open):
            return verdict(False, False)
        if not self.open:
            return verdict(True, self._can_fail())
        return verdict(False, True, tuple(self.asked(each, self.target, now) for each in self.open))


class _Targeted(_Pair):
    """Those to which a target before the activation will do."""

    def __init__(self, constraint: DeclareConstraint, activation: str, target: str) -> None:
        super().__init__(constraint, activation, target)
        self.targets: list[ActivityEvent] = []
        self.settled = False
        """Whether a target has come that will do whatever else comes."""

    def _lacks_target(self, event: ActivityEvent) -> bool:
        return self.activates(event, self.activation) and not any(self.meets(event, each) for each in self.targets)

    def _note(self, event: ActivityEvent) -> None:
        if event.activity == self.target and not self.settled:
            self.targets.append(event)
            if self.will_do(event):
                self.settled, self.targets = True, [event]

    def _can_fail(self) -> bool:
        return self.can_activate and not self.settled


class Response(_Waiting):
    def take(self, event: ActivityEvent) -> None:
        self._fulfil(event)
        if self.activates(event, self.activation):
            self.open.append(event)


class AlternateResponse(_Waiting):
    def take(self, event: ActivityEvent) -> None:
        self._fulfil(event)
        if self.activates(event, self.activation):
            self.failed |= bool(self.open)
            self.open.append(event)


class ChainResponse(_Waiting):
    def take(self, event: ActivityEvent) -> None:
        self._fulfil(event)
        self.failed |= bool(self.open)
        if self.activates(event, self.activation):
            self.open.append(event)


class RespondedExistence(_Targeted, _Waiting):
    def take(self, event: ActivityEvent) -> None:
        self._fulfil(event)
        if self._lacks_target(event):
            self.open.append(event)
        self._note(event)


class Precedence(_Targeted):
    def take(self, event: ActivityEvent) -> None:
        self.failed |= self._lacks_target(event)
        self._note(event)


class AlternatePrecedence(_Pair):
    def __init__(self, constraint: DeclareConstraint, activation: str, target: str) -> None:
        super().__init__(constraint, activation, target)
        self.targets: list[ActivityEvent] = []
        """Since the last activation."""

    def take(self, event: ActivityEvent) -> None:
        if self.activates(event, self.activation):
            self.failed |= not any(self.meets(event, each) for each in self.targets)
            self.targets = []
        if event.activity == self.target:
            self.targets.append(event)


class ChainPrecedence(_Pair):
    def __init__(self, constraint: DeclareConstraint, activation: str, target: str) -> None:
        super().__init__(constraint, activation, target)
        self.last: ActivityEvent | None = None

    def take(self, event: ActivityEvent) -> None:
        if self.activates(event, self.activation):
            last = self.last
            self.failed |= last is None or last.activity != self.target or not self.meets(event, last)
        self.last = event


class _Never(_Pair):
    """The negative templates: an activation and a target that lie to each other as they must not."""

    before = after = False
    next_to_each_other = False

    def __init__(self, constraint: DeclareConstraint, activation: str, target: str) -> None:
        super().__init__(constraint, activation, target)
        self.activations: list[ActivityEvent] = []
        self.targets: list[ActivityEvent] = []

    def take(self, event: ActivityEvent) -> None:
        def adjacent(other: ActivityEvent) -> bool:
            return not self.next_to_each_other or other.place == event.place - 1

        if self.after and event.activity == self.target:
            self.failed |= any(self.meets(each, event) for each in self.activations if adjacent(each))
        activates = self.activates(event, self.activation)
        if self.before and activates:
            self.failed |= any(self.meets(event, each) for each in self.targets if adjacent(each))
        if self.next_to_each_other:
            self.activations, self.targets = [], []
        if activates and self.after and not self.failed:
            self.activations.append(event)
        if event.activity == self.target and self.before and not self.failed:
            self.targets.append(event)

    def _can_fail(self) -> bool:
        return self.can_activate and holds(self.constraint.target, None, None) is not False


class NotRespondedExistence(_Never):
    before = after = True


class NotResponse(_Never):
    after = True


class NotPrecedence(_Never):
    before = True


class NotChainResponse(_Never):
    after = next_to_each_other = True


class NotChainPrecedence(_Never):
    before = next_to_each_other = True


class Together(Watch):
    """Two templates, both of which are to hold."""

    def __init__(self, constraint: DeclareConstraint, parts: tuple[Watch, ...]) -> None:
        super().__init__(constraint)
        self.parts = parts

    def take(self, event: ActivityEvent) -> None:
        for part in self.parts:
            part.take(event)

    def deadline(self, now: Number) -> Number | None:
        return min((due for part in self.parts if (due := part.deadline(now)) is not None), default=None)

    def verdict(self, now: Number) -> Verdict:
        said = [part.verdict(now) for part in self.parts]
        if any(each.permanent and not each.satisfied for each in said):
            return Verdict(False, True)
        if all(each.permanent for each in said):
            return Verdict(True, True)
        missing = tuple(dict.fromkeys(one for each in said for one in each.missing))
        return Verdict(all(each.satisfied for each in said), False, missing)


PairWatch = Callable[[DeclareConstraint, str, str], Watch]


def _forward(kind: PairWatch) -> Callable[[DeclareConstraint], Watch]:
    return lambda constraint: kind(constraint, constraint.activities[0], constraint.activities[1])


def _backward(kind: PairWatch) -> Callable[[DeclareConstraint], Watch]:
    """The activation is the second activity."""
    return lambda constraint: kind(constraint, constraint.activities[1], constraint.activities[0])


def _both(forward: PairWatch, backward: PairWatch) -> Callable[[DeclareConstraint], Watch]:
    return lambda constraint: Together(constraint, (_forward(forward)(constraint), _backward(backward)(constraint)))


UNARY: dict[str, Callable[[DeclareConstraint], Watch]] = {
    "existence": Existence,
    "absence": Absence,
    "exactly": Exactly,
    "init": Init,
    "end": End,
}
BINARY: dict[str, Callable[[DeclareConstraint], Watch]] = {
    "choice": ChoiceOfTwo,
    "exclusive choice": ExclusiveChoice,
    "responded existence": _forward(RespondedExistence),
    "response": _forward(Response),
    "alternate response": _forward(AlternateResponse),
    "chain response": _forward(ChainResponse),
    "precedence": _backward(Precedence),
    "alternate precedence": _backward(AlternatePrecedence),
    "chain precedence": _backward(ChainPrecedence),
    "co-existence": _both(RespondedExistence, RespondedExistence),
    "succession": _both(Response, Precedence),
    "alternate succession": _both(AlternateResponse, AlternatePrecedence),
    "chain succession": _both(ChainResponse, ChainPrecedence),
    "not responded existence": _forward(NotRespondedExistence),
    "not response": _forward(NotResponse),
    "not precedence": _backward(NotPrecedence),
    "not chain response": _forward(NotChainResponse),
    "not chain precedence": _backward(NotChainPrecedence),
    "not co-existence": _both(NotRespondedExistence, NotRespondedExistence),
    "not succession": _both(NotResponse, NotPrecedence),
    "not chain succession": _both(NotChainResponse, NotChainPrecedence),
}
ALIASES = {
    "coexistence": "co-existence",
    "co existence": "co-existence",
    "not coexistence": "not co-existence",
    "not co existence": "not co-existence",
    "exclusivechoice": "exclusive choice",
    "last": "end",
    "first": "init",
}


def watch_of(constraint: DeclareConstraint) -> Watch:
    return (UNARY.get(constraint.template) or BINARY[constraint.template])(constraint)
