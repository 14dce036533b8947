"""What failed: of an answer that can no longer come true, the instance of a pattern that came closest.

The facts that arrived are matched with a pattern's premises in every way. What is not met and can no longer
be, and what must not be true but is, has failed. The closest instance has fewest failures; if the answer was
possible a step before, those count first that failed at this very step. Where each premise by itself is still
possible, it is that some of them cannot hold together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from presage.hypothesis.choices import by_delay, chosen
from presage.hypothesis.engine import Hypotheses
from presage.hypothesis.pieces import Piece
from presage.hypothesis.records import Matcher
from presage.hypothesis.standing import bind_answer
from presage.hypothesis.ways import Way, texts
from presage.hypothesis.words import condition_clause, show_clause
from presage.model.formulas import OPPOSITES
from presage.model.printer import show_number
from presage.model.statements import Rule
from presage.model.terms import Number, Value, Values, number
from presage.patterns.literals import Lit, Open, show, show_time
from presage.patterns.premises import START, Premise

MOST_TRIALS = 20_000
"""So many partial matches are looked at for the closest."""

TrueSince = Callable[[str, Values, Number, Number], tuple[Number, Way, tuple[Rule, ...]] | None]
SlotValues = tuple[list[Value | None], list[Number | None]]


@dataclass(frozen=True, slots=True)
class FailedPremise:
    """A premise that failed, when, and why in words; what was there beside it, by which rules it would have done."""

    kind: str
    """`late`: did not arrive; `true`: must not hold but does; `together`: cannot hold together with others;
    `static`, `condition`: against background knowledge, or a comparison; `start`, `arguments`, `rules`: no rule."""
    reason: str
    premise: Lit | None = None
    between: tuple[Number, Number | None] | None = None
    """Where the premise's time is open: the times it could have had."""
    when: Number | None = None
    met: tuple[Lit, ...] = ()
    others: tuple[Lit, ...] = ()
    """Further premises that failed; for `together`, those that exclude it."""
    because: tuple[Lit, ...] = ()
    """What made the atom below `not` true."""
    because_rules: tuple[Rule, ...] = ()
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class _Failed:
    lit: Lit
    when: Number
    kind: str
    reason: str
    because: tuple[Lit, ...] = ()
    rules: tuple[Rule, ...] = ()
    between: tuple[Number, Number | None] | None = None


@dataclass(frozen=True, slots=True)
class _Instance:
    piece: Piece
    failed: tuple[_Failed, ...]
    beside: bool
    """Whether facts match a premise that failed; they lead to other instances."""


class Failing:
    def __init__(self, engine: Hypotheses, true_since: TrueSince) -> None:
        self.engine, self.judge, self.true_since = engine, engine.judge, true_since
        assert engine.now is not None
        self.now: Number = engine.now
        self.trials = 0

    def of(self, name: str, arguments: Values, time: Number, before: Number | None) -> FailedPremise:
        """Why an answer is impossible; `before` is the step before this one, if the answer was possible there."""
        matchers = self.engine.standings[name].matchers
        found: list[tuple[tuple[object, ...], _Instance]] = []
        refusals: list[FailedPremise] = []
        for matcher in matchers:
            binding = bind_answer(matcher, arguments, time)
            starts = [] if binding is None else list(matcher.completed(list(binding[0]), list(binding[1])))
            if binding is None or not starts:
                refusals.append(self._refusal(name, matcher, arguments, time, binding))
            for slots, times in starts:
                for instance in self._instances(matcher, (list(slots), list(times))):
                    found.append((self._rank(instance, before), instance))
        if found:
            return self._failure(min(found, key=lambda pair: pair[0])[1])
        order = ["condition", "static", "start", "arguments"]
        return min(refusals, key=lambda each: order.index(each.kind), default=_no_rule(name))

    def _rank(self, instance: _Instance, before: Number | None) -> tuple[object, ...]:
        stale = 0 if before is None else sum(each.when <= before for each in instance.failed)
        met = len(instance.piece.because())
        first = min((each.when for each in instance.failed), default=0)
        return bool(stale), instance.beside, stale, len(instance.failed), -met, first

    def _failure(self, instance: _Instance) -> FailedPremise:
        rules = instance.piece.matcher.pattern.rules
        met = tuple(sorted(instance.piece.because(), key=lambda lit: lit.order))
        if not instance.failed:
            return self._conflict(instance.piece, met)
        first, *others = sorted(instance.failed, key=lambda each: (each.when, each.lit.order))
        return FailedPremise(
            first.kind,
            first.reason,
            first.lit,
            first.between,
            first.when,
            met,
            tuple(each.lit for each in others),
            first.because,
            first.rules,
            rules,
        )

    # -- matching ---------------------------------------------------------------------------------

    def _instances(self, matcher: Matcher, start: SlotValues) -> Iterator[_Instance]:
        for binding, met in self._matches(matcher, 0, start, 0):
            piece = Piece(matcher, tuple(binding[0]), tuple(binding[1]), met | matcher.outside(tuple(binding[1])))
            parts = [part for each in by_delay(piece) for part in chosen(each, self.now, self.engine.discrete)]
            for part in parts or [piece]:
                judged, failed = self._judged(part)
                beside = any(
                    each.kind == "late" and self._extensions(matcher, premise, binding)
                    for each in failed
                    for index, premise in enumerate(matcher.pattern.premises)
                    if not part.met >> index & 1 and matcher.lit(premise, part.slots, part.times) == each.lit
                )
                yield _Instance(judged, failed, beside)

    def _matches(self, matcher: Matcher, index: int, binding: SlotValues, met: int) -> Iterator[tuple[SlotValues, int]]:
        if index == len(matcher.pattern.premises):
            yield binding, met
            return
        self.trials += 1
        extensions = self._extensions(matcher, matcher.pattern.premises[index], binding)
        if any(each == binding for each in extensions):
            yield from self._matches(matcher, index + 1, binding, met | 1 << index)
            return
        for each in extensions if self.trials < MOST_TRIALS else extensions[:1]:
            yield from self._matches(matcher, index + 1, each, met | 1 << index)
        if not extensions or self.trials < MOST_TRIALS:
            yield from self._matches(matcher, index + 1, binding, met)

    def _extensions(self, matcher: Matcher, premise: Premise, binding: SlotValues) -> list[SlotValues]:
        """What a binding becomes by the facts that meet a premise."""
        at = matcher.time(premise.when, binding[1])
        known = self.engine.facts.get(premise.predicate, {})
        found: list[SlotValues] = []
        for time in known if at is None else [at] if at in known else []:
            for arguments in known[time]:
                alone = matcher._match(premise, arguments, time)
                merged = None if alone is None else _merged(binding, (list(alone[0]), list(alone[1])))
                if merged is not None and matcher.pattern.fits(merged[1]):
                    found.extend((list(slots), list(times)) for slots, times in matcher.completed(*merged))
        return found

    # -- judging ----------------------------------------------------------------------------------

    def _judged(self, piece: Piece) -> tuple[Piece, tuple[_Failed, ...]]:
        matcher, pattern = piece.matcher, piece.matcher.pattern
        failed: list[_Failed] = []
        for index, premise in enumerate(pattern.premises):
            if piece.met >> index & 1:
                continue
            chance = matcher.last_chance(premise, piece.slots, piece.times, piece.excluded(premise))
            if chance is not None and chance <= self.now:
                failed.append(self._late(piece, premise, chance))
        sure = still_open = 0
        for index, absence in enumerate(pattern.absences):
            lit = matcher.lit(absence, piece.slots, piece.times)
            parts = self.judge.absence(replace(piece, sure=0, open=0), index, absence)
            if not parts:
                failed.append(self._true(lit))
            elif all(part.sure for part in parts):
                sure |= 1 << index
            else:
                still_open |= 1 << index
        return replace(piece, sure=sure, open=still_open), tuple(failed)

    def _late(self, piece: Piece, premise: Premise, chance: Number) -> _Failed:
        matcher, by = piece.matcher, show_number(chance)
        lit = matcher.lit(premise, piece.slots, piece.times)
        text, between = str(lit), None
        if isinstance(lit.time, Open):
            low, high = (
                None if bound is None else number(bound + premise.when.offset)
                for bound in matcher.pattern.bounds(premise.when.base, piece.times)
            )
            between = (max(low or 0, 0), high)
            last = "" if high is None else f" to {show_number(high)}"
            text = f"{show(lit.predicate, lit.arguments)} at a time from {show_number(between[0])}{last}"
        elif lit.time < 0:
            return _Failed(lit, chance, "start", f"{text} would lie before the start of the stream")
        if lit.is_ground:
            return _Failed(lit, chance, "late", f"{text} did not arrive by {by}")
        unless = [
            each for each in map(show_clause, piece.limits()) if any(str(a) in each.split() for a in lit.arguments)
        ]
        but = f" (not counting {'; '.join(unless)})" if unless else ""
        there = self._extensions(matcher, premise, (list(piece.slots), list(piece.times)))
        seen = sorted({str(matcher.lit(premise, *binding)) for binding in there})
        beside = f", apart from {', '.join(seen[:3])}{' and others' if len(seen) > 3 else ''}," if seen else ""
        return _Failed(lit, chance, "late", f"no {text}{but}{beside} arrived by {by}", between=between)

    def _true(self, lit: Lit) -> _Failed:
        if isinstance(lit.time, Open) or lit.time < 0:
            reason = f"{lit} speaks of a time before the start of the stream"
            return _Failed(lit, 0, "start", reason)
        atom = Lit(True, *lit.atom)
        since = self.true_since(*lit.atom, self.now) if lit.is_ground else None  # type: ignore[arg-type]
        if since is None:
            return _Failed(lit, self.now, "true", f"{atom} is true")
        when, way, rules = since
        because = tuple(sorted(way.because, key=lambda each: each.order))
        verb = "arrived" if because == (atom,) else "became true"
        by = f", by {', '.join(map(str, because))}" if because and because != (atom,) else ""
        return _Failed(lit, when, "true", f"{atom} {verb} at {show_number(when)}{by}", because, rules)

    def _conflict(self, piece: Piece, met: tuple[Lit, ...]) -> FailedPremise:
        """Premises that are possible one by one: a smallest part of them that cannot hold together."""
        needs = piece.needs()
        if self.judge.together(needs):
            reason = "its premises cannot all hold, however the stream goes on"
            return FailedPremise("together", reason, when=self.now, met=met, rules=piece.matcher.pattern.rules)
        for lit in sorted(needs, key=lambda each: (not each.positive, each.order)):
            if not self.judge.together(needs - {lit}):
                needs -= {lit}
        denied = sorted((each for each in needs if not each.positive), key=lambda each: each.order)
        others = tuple(sorted(needs - {denied[0]}, key=lambda each: each.order))
        if others:
            reason = f"{denied[0]} cannot hold together with {', '.join(texts(others))}"
        else:
            reason = f"{Lit(True, *denied[0].atom)} comes true however the stream goes on"
        rules = piece.matcher.pattern.rules
        return FailedPremise("together", reason, denied[0], when=self.now, met=met, others=others, rules=rules)

    # -- patterns that do not apply ---------------------------------------------------------------

    def _refusal(self, name: str, matcher: Matcher, arguments: Values, time: Number, binding: object) -> FailedPremise:
        pattern, rules = matcher.pattern, matcher.pattern.rules
        answer = Piece(matcher, (None,) * len(pattern.names), (None,) * len(pattern.time_names), 0).answer
        if binding is None:
            if _differ(answer[0], arguments):
                return FailedPremise("arguments", f"the rule gives {show(name, answer[0])} only", rules=rules)
            return self._wrong_time(matcher, time)
        slots, times = bind_answer(matcher, arguments, time) or ([], [])
        matcher.solve(slots, times)
        for condition in pattern.conditions:
            if matcher.judge(condition, slots, times) is False:
                turned = replace(condition, operator=OPPOSITES[condition.operator])
                clause = show_clause(condition_clause(turned, matcher, slots, times))
                return FailedPremise("condition", f"{clause} is not so", rules=rules)
        for lookup in pattern.lookups:
            given = [matcher.value(each, slots) for each in lookup.arguments]
            if any(True for _ in matcher.statics(lookup.predicate, given)) != lookup.positive:
                atom = show(
                    lookup.predicate,
                    tuple(
                        Open(pattern.names[place]) if value is None else value  # type: ignore[index]
                        for place, value in zip(lookup.arguments, given, strict=True)
                    ),
                )
                text = f"{atom} is {'not ' if lookup.positive else ''}among the static facts"
                return FailedPremise("static", text, rules=rules)
        return FailedPremise("static", "no static facts meet what the rules ask of them", rules=rules)

    def _wrong_time(self, matcher: Matcher, time: Number) -> FailedPremise:
        pattern, rules = matcher.pattern, matcher.pattern.rules
        if pattern.when.base == START:
            only = f"the rule gives it at {show_time(pattern.when.offset)} only"
            return FailedPremise("start", only, rules=rules)
        low, high = pattern.bounds(pattern.when.base, [None] * len(pattern.time_names))
        if low is not None and time < low + pattern.when.offset:
            first = show_number(number(low + pattern.when.offset))
            reason = f"the rule gives it from {first} on: before, a premise would lie before the start of the stream"
            return FailedPremise("start", reason, rules=rules)
        last = "" if high is None else f" up to {show_number(number(high + pattern.when.offset))}"
        return FailedPremise(
            "start", f"the rule does not give it at this time, but{last or ' at others'} only", rules=rules
        )


def _no_rule(name: str) -> FailedPremise:
    return FailedPremise("rules", f"no rule derives `{name}`, and no input brings it")


def _merged(first: SlotValues, second: SlotValues) -> SlotValues | None:
    merged: list[list[object]] = []
    for ones, others in zip(first, second, strict=True):
        merged.append([])
        for one, other in zip(ones, others, strict=True):  # type: ignore[call-overload]
            if one is not None and other is not None and one != other:
                return None
            merged[-1].append(other if one is None else one)
    return merged[0], merged[1]  # type: ignore[return-value]


def _differ(pattern: Sequence[object], arguments: Values) -> bool:
    """Whether constants or repeated variables of a pattern's answer exclude the arguments."""
    values: dict[object, Value] = {}
    return any(
        values.setdefault(want, have) != have if isinstance(want, Open) else want != have
        for want, have in zip(pattern, arguments, strict=True)
    )
