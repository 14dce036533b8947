"""How likely a way is to come true: that all its premises hold and arrive, given what has not arrived by now
([HAD] section 6).

Facts are independent. A fact occurs with its `rate`; if it occurs it arrives after a delay of the declared
distribution, or is lost. That it has not arrived yet speaks against it, as far as the distribution says
when it should have; a plain `delay` says nothing about when, so waiting for it changes nothing.
"""

from __future__ import annotations

from itertools import product

from presage.hypothesis.delays import Delays
from presage.hypothesis.judge import Judge
from presage.hypothesis.learning import Learned
from presage.hypothesis.ways import Way
from presage.model.statements import Distribution, Input
from presage.model.terms import Number
from presage.patterns.literals import Lit, Open

MOST_FACTS = 12
FactIdentity = tuple[object, ...]


class NoProbability(Exception):
    """No probability can be given."""


class Confidence:
    def __init__(self, delays: Delays, judge: Judge | None = None) -> None:
        """Negated premises need a judge."""
        self.delays, self.judge = delays, judge
        self.learned = Learned(delays)
        inputs = [each for known in delays.predicates.values() for each in known.inputs]
        self.given = any(each.rate is not None or "rate" in each.learned for each in inputs)

    def of(self, way: Way, now: Number) -> float | None:
        """The probability that all premises of a way come true; `None` where the program does not give one."""
        if not self.given:
            return None
        try:
            return self._of(way, now)
        except NoProbability:
            return None

    def _of(self, way: Way, now: Number) -> float:
        if any(not lit.is_ground for lit in way.needs):
            raise NoProbability
        wanted = {lit.atom for lit in way.needs if lit.positive}
        denied = [lit.atom for lit in way.needs if not lit.positive]
        certain = 1.0
        for atom in wanted:
            certain *= self.chance(atom, now)
        if not denied:
            return certain
        involved = sorted({fact for atom in denied for fact in self._facts(atom, now)} - wanted, key=repr)
        if len(involved) > MOST_FACTS:
            raise NoProbability
        chances = [self.chance(fact, now) for fact in involved]
        total = 0.0
        for arrived in product((False, True), repeat=len(involved)):
            world = wanted | {fact for fact, here in zip(involved, arrived, strict=True) if here}
            if not any(self._true(atom, world) for atom in denied):
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

    def _ways(self, atom: FactIdentity) -> list[frozenset[Lit]]:
        name, arguments, time = atom
        if isinstance(time, Open) or self.judge is None:
            raise NoProbability
        standing = self.judge.standings[name]  # type: ignore[index]
        return [piece.needs() for piece in self.judge.ways(standing, arguments, time)]  # type: ignore[arg-type]

    def _true(self, atom: FactIdentity, world: set[FactIdentity]) -> bool:
        return any(
            all((lit.atom in world) if lit.positive else not self._true(lit.atom, world) for lit in needs)
            for needs in self._ways(atom)
        )

    def chance(self, atom: FactIdentity, now: Number) -> float:
        """That a fact which has not arrived by now still does."""
        name, arguments, time = atom
        declared = self.delays.declaration(name, arguments)  # type: ignore[arg-type]
        if declared is None or (declared.rate is None and "rate" not in declared.learned):
            raise NoProbability
        arrives, by_now = _arrival(declared, now - time)  # type: ignore[operator]
        if "delay" in declared.learned:
            by_now = arrives * self.learned.by(name, now - time)  # type: ignore[arg-type, operator]
        if declared.rate is None:
            rate = self.learned.rate(name, arguments)  # type: ignore[arg-type]
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
