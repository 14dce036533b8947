"""How long things matter: when an answer is settled, and until when facts and answers are asked for.

All bounds are distances from the time concerned; `None` is without end.
"""

from __future__ import annotations

from presage.hypothesis.delays import Delays
from presage.model.terms import Number
from presage.patterns.premises import Fixed, Pattern, Premise

ROUNDS = 64
Lifespan = Number | None


class Spans:
    def __init__(self, patterns: dict[str, list[Pattern]], delays: Delays) -> None:
        self.patterns, self.delays = patterns, delays
        self.settled = self._settled()
        self.asked = self._asked()

    def distance(self, pattern: Pattern, premise: Premise, latest: bool) -> Lifespan:
        """The greatest or least distance from the answer's time to a premise's."""
        answer, when = pattern.when, premise.when
        gap = when.offset - answer.offset
        if when.base == answer.base:
            return gap
        most = pattern.upper.get((when.base, answer.base) if latest else (answer.base, when.base))
        if most is None:
            return None
        return gap + most if latest else gap - most

    def _arguments(self, premise: Premise) -> list[object]:
        return [each.value if isinstance(each, Fixed) else None for each in premise.arguments]

    def _settled(self) -> dict[str, Lifespan]:
        """After how long an answer is decided whatever arrives."""
        least = -(10**9)
        found: dict[str, Lifespan] = dict.fromkeys(self.patterns, least)
        for turn in range(ROUNDS):
            changed = False
            for name, patterns in self.patterns.items():
                span: Lifespan = found[name]
                for pattern in patterns:
                    for premise in pattern.literals:
                        span = self._later(span, self._wait(pattern, premise, found))
                if span != found[name]:
                    found[name] = span if turn < ROUNDS - 1 else None
                    changed = True
            if not changed:
                break
        return {name: 0 if span == least else span for name, span in found.items()}

    def _wait(self, pattern: Pattern, premise: Premise, settled: dict[str, Lifespan]) -> Lifespan:
        away = self.distance(pattern, premise, latest=True)
        more = settled[premise.predicate] if not premise.positive else self._delay(premise)
        return None if away is None or more is None else away + more

    def _delay(self, premise: Premise) -> Number:
        return self.delays.of(premise.predicate, self._arguments(premise))

    def _later(self, first: Lifespan, second: Lifespan) -> Lifespan:
        return None if first is None or second is None else max(first, second)

    def _asked(self) -> dict[str, Lifespan]:
        """For each predicate of a literal, how long after its time an answer that hangs on it may be open."""
        found: dict[str, Lifespan] = {}
        for name, patterns in self.patterns.items():
            for pattern in patterns:
                for premise in pattern.literals:
                    away = self.distance(pattern, premise, latest=False)
                    settled = self.settled[name]
                    need = None if away is None or settled is None else settled - away
                    found[premise.predicate] = self._later(found.get(premise.predicate, 0), need)
        return found

    def kept(self, name: str) -> Lifespan:
        """How long after its time an answer of a predicate is remembered."""
        return self._later(self._later(self.settled.get(name, 0), self.asked.get(name, 0)), 0)
