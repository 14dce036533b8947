"""How likely a way is to come true: that all its premises hold and arrive, given what has not arrived by now
([HAD] section 6).

Facts are independent. A fact occurs with its `rate`; if it occurs it arrives after a delay of the declared
distribution, or is lost. That it has not arrived yet speaks against it, as far as the distribution says
when it should have; a plain `delay` says nothing about when, so waiting for it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

from presage.hypothesis.delays import Delays
from presage.hypothesis.learning import Learned
from presage.hypothesis.together import Premises, WaysOf
from presage.model.statements import Distribution, Input
from presage.model.terms import Number
from presage.patterns.literals import Argument, Lit, Open

MOST_FACTS = 12
FactIdentity = tuple[str, tuple[Argument, ...], Number | Open]


class NoProbability(Exception):
    """No probability can be given."""


class Confidence:
    def __init__(self, delays: Delays, ways: WaysOf | None = None) -> None:
        """Negated premises need to know the `ways` of an atom: what is missing in each."""
        self.delays, self.ways = delays, ways
        self.learned = Learned(delays)
        inputs = [each for known in delays.predicates.values() for each in known.inputs]
        self.given = any(each.rate is not None or "rate" in each.learned for each in inputs)

    def of(self, needs: Premises, now: Number) -> float | None:
        """The probability that all premises of a way come true; `None` where the program does not give one."""
        if not self.given:
            return None
        try:
            return self.of_any([needs], now)
        except NoProbability:
            return None

    def of_any(self, choices: Sequence[Premises], now: Number) -> float:
        """The probability that all premises of some choice come true; raises `NoProbability`."""
        if any(not lit.is_ground for needs in choices for lit in needs):
            raise NoProbability
        shared = frozenset.intersection(*choices)
        wanted = {lit.atom for lit in shared if lit.positive}
        certain = 1.0
        for atom in wanted:
            certain *= self.chance(atom, now)
        rest = [needs - {lit for lit in shared if lit.positive} for needs in choices]
        if not any(rest):
            return certain
        asked = {lit for needs in rest for lit in needs}
        involved = {lit.atom for lit in asked if lit.positive}
        involved |= {fact for lit in asked if not lit.positive for fact in self._facts(lit.atom, now)}
        facts = sorted(involved - wanted, key=repr)
        if len(facts) > MOST_FACTS:
            raise NoProbability
        chances = [self.chance(fact, now) for fact in facts]
        total = 0.0
        for arrived in product((False, True), repeat=len(facts)):
            world = wanted | {fact for fact, here in zip(facts, arrived, strict=True) if here}
            if any(all(self._holds(lit, world) for lit in needs) for needs in rest):
                share = 1.0
                for chance, here in zip(chances, arrived, strict=True):
                    share *= chance if here else 1 - chance
                total += share
        return certain * total

    def _facts(self, atom: FactIdentity, now: Number, depth: int = 0) -> set[FactIdentity]:
        """The facts that are still out and on which an atom's truth hangs."""
        if depth > MOST_FACTS:
            raise NoProbability
        found: set[FactIdentity] = set()
        for needs in self._ways(atom):
            for lit in needs:
                if not lit.is_ground:
                    raise NoProbability
                found |= {lit.atom} if lit.positive else self._facts(lit.atom, now, depth + 1)
                if len(found) > MOST_FACTS:
                    raise NoProbability
        return found

    def _ways(self, atom: FactIdentity) -> Iterable[Premises]:
        if isinstance(atom[2], Open) or self.ways is None:
            raise NoProbability
        return self.ways(Lit(True, *atom))

    def _holds(self, lit: Lit, world: set[FactIdentity]) -> bool:
        if lit.positive:
            return lit.atom in world
        return not any(all(self._holds(each, world) for each in needs) for needs in self._ways(lit.atom))

    def chance(self, atom: FactIdentity, now: Number) -> float:
        """That a fact which has not arrived by now still does."""
        name, arguments, time = atom
        assert not isinstance(time, Open)
        declared = self.delays.declaration(name, arguments)
        if declared is None or (declared.rate is None and "rate" not in declared.learned):
            raise NoProbability
        arrives, by_now = _arrival(declared, now - time)
        if "delay" in declared.learned:
            by_now = arrives * self.learned.by(name, now - time)
        if declared.rate is None:
            rate = self.learned.rate(name, arguments)
        else:
            rate = float(declared.rate)
        return rate * (arrives - by_now) / (1 - rate * by_now) if rate * by_now < 1 else 0.0


def _arrival(declared: Input, waited: Number) -> tuple[float, float]:
    """The probability that a fact which occurs ever arrives, and that it has arrived after waiting so long."""
    if isinstance(declared.delay, Distribution):
        arrives = sum(float(share) for _, share in declared.delay.parts)
        by_now = sum(float(share) for wait, share in declared.delay.parts if wait <= waited)  # type: ignore[operator, misc]
        return arrives, by_now
    return 1 - float(declared.loss or 0), 0.0
