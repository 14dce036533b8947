"""When a premise is settled whatever arrives: a fact when it can no longer arrive, an absence when all it
hangs on is."""

from __future__ import annotations

from collections.abc import Iterable

from presage.hypothesis.delays import Delays
from presage.hypothesis.lifetimes import Spans
from presage.model.terms import Number
from presage.patterns.literals import Lit, Open
from presage.patterns.premises import START, Fixed, Pattern, Premise

DEPTH = 8


class Settle:
    def __init__(self, patterns: dict[str, list[Pattern]], spans: Spans, delays: Delays) -> None:
        self.patterns, self.spans, self.delays = patterns, spans, delays

    def of(self, lit: Lit) -> Number | None:
        """The time at which a literal is settled; `None` if that cannot be told."""
        if isinstance(lit.time, Open):
            return None
        if lit.positive:
            return lit.time + self.delays.of(lit.predicate, lit.arguments)
        return self._absence(lit.predicate, lit.arguments, lit.time, ())

    def all_of(self, lits: Iterable[Lit]) -> Number | None:
        """The time at which all of some literals are settled; `None` if there are none, or it cannot be told."""
        latest: Number | None = None
        for lit in lits:
            settled = self.of(lit)
            if settled is None:
                return None
            latest = settled if latest is None else max(latest, settled)
        return latest

    def _absence(self, name: str, arguments: tuple[object, ...], time: Number, above: tuple[str, ...]) -> Number | None:
        """The latest time at which anything an atom hangs on may arrive; through recursion, a bound."""
        if name in above or len(above) > DEPTH:
            span = self.spans.settled[name]
            return None if span is None else time + span
        latest: Number = time
        found = False
        for pattern in self.patterns[name]:
            values = self._bound(pattern, arguments)
            times: list[Number | None] = [None] * len(pattern.time_names)
            at = time - pattern.when.offset
            if pattern.when.base != START:
                times[pattern.when.base] = at
            if values is None or not pattern.fits(times) or (pattern.when.base == START and at != 0):
                continue
            for premise in pattern.literals:
                settled = self._premise(pattern, premise, values, times, (*above, name))
                if settled is None:
                    return None
                latest = settled if not found else max(latest, settled)
                found = True
        return latest

    def _bound(self, pattern: Pattern, arguments: tuple[object, ...]) -> dict[int, object] | None:
        values: dict[int, object] = {}
        for want, given in zip(pattern.arguments, arguments, strict=True):
            if isinstance(given, Open):
                continue
            if isinstance(want, Fixed):
                if want.value != given:
                    return None
            elif values.setdefault(want, given) != given:
                return None
        return values

    def _premise(
        self,
        pattern: Pattern,
        premise: Premise,
        values: dict[int, object],
        times: list[Number | None],
        above: tuple[str, ...],
    ) -> Number | None:
        base = premise.when.base
        at = 0 if base == START else times[base] if times[base] is not None else pattern.bounds(base, times)[1]
        if at is None:
            return None
        when = at + premise.when.offset
        arguments = tuple(
            each.value if isinstance(each, Fixed) else values.get(each, Open(pattern.names[each]))
            for each in premise.arguments
        )
        if premise.positive:
            return when + self.delays.of(premise.predicate, arguments)
        return when if when < 0 else self._absence(premise.predicate, arguments, when, above)
