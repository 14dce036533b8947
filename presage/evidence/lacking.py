"""What an answer lacks first, where it is not entailed: from the answer down, the rule that came closest and the
first part of its body that does not hold, until something is reached that no rule derives. Below operators that ask
for something at every time, `since` among them, it goes on at the first time at which it was not so.

This asks the two worlds of the prover and needs no premise patterns, so it can be said of any program the prover
knows.
"""

from __future__ import annotations

from dataclasses import dataclass

from presage.core.formulas import All, Any, At, CoreFormula, Every, Lasts, Not, Some, walk
from presage.evidence.proof import Missing, NamedValues, Record, Substitution
from presage.evidence.solve import body_times, distances, from_start, known, matched, names
from presage.evidence.supported import refuse_unknown
from presage.evidence.tabling import SeenStream, StreamReading, Worlds
from presage.model.formulas import Atom, Comparison
from presage.model.terms import Constant, Number, Value
from presage.model.time import TimeSpan
from presage.time.exact_sets import ExactTimes, hull, meet, union, without

DEEPEST = 40


@dataclass(frozen=True, slots=True)
class FailingPart:
    """What within a premise is not so, and when: an atom, or below `not` one that holds."""

    atom: Atom
    instance: Substitution
    when: TimeSpan
    denied: bool = False
    nowhere: bool = False
    """Whether it is at none of these times, rather than at this one."""


@dataclass(frozen=True, slots=True)
class Lack:
    """The chain of reasons, the answer's own rule first, and when the last of them is settled at the latest."""

    chain: tuple[Missing, ...]
    until: Number | None
    literal: CoreFormula | None
    """What is missing at the end of the chain; nothing where no rule gives the answer at all."""
    parts: tuple[FailingPart | None, ...] = ()
    """For each of the chain, what within its premise fails, where that is an operator's doing."""
    met: tuple[FailingPart, ...] = ()
    """The input facts that the last rule found before it failed at a comparison of their values."""

    @property
    def is_denied(self) -> bool:
        """Whether that says of something that it is absent."""
        return self.literal is not None and any(isinstance(part, Not) for part in walk(self.literal))


def first_lack(record: Record, predicate: str, arguments: tuple[Value, ...], time: Number, *, for_ever: bool) -> Lack:
    """What is missing so far or, `for_ever`, what can no longer come."""
    refuse_unknown(record.program, predicate)
    worlds = Worlds(SeenStream(record))
    times = worlds.line.point(time)
    worlds.find(predicate, arguments, times)
    return _Search(worlds, for_ever).of(predicate, arguments, times)


@dataclass(frozen=True, slots=True)
class _Near:
    missing: Missing
    binding: NamedValues
    during: ExactTimes
    literal: CoreFormula
    held: tuple[CoreFormula, ...]
    """The parts of the body that hold before it."""


class _Search:
    def __init__(self, worlds: Worlds, for_ever: bool) -> None:
        self.worlds, self.line, self.stream = worlds, worlds.line, worlds.stream
        self.for_ever = for_ever

    def of(self, predicate: str, arguments: tuple[Value | None, ...], during: ExactTimes) -> Lack:
        chain: list[Missing] = []
        parts: list[FailingPart | None] = []
        seen: set[object] = set()
        near: _Near | None = None
        while len(chain) < DEEPEST and (predicate, arguments, during) not in seen:
            seen.add((predicate, arguments, during))
            closer = self._nearest(predicate, arguments, during)
            if closer is None:
                break
            near = closer
            chain.append(near.missing)
            atom, during = self._atom(near.literal, near.during)
            part = None
            if atom is None and during and not _is_denied_atom(near.literal):
                part = self._part(near.literal, near.binding, near.during)
                if part is not None and not part.denied and not part.nowhere:
                    atom, during = part.atom, self.line.span(part.when)
            parts.append(part)
            if atom is None or self.stream.is_input(atom.predicate) or not during:
                break
            predicate, arguments = atom.predicate, tuple(known(term, near.binding) for term in atom.arguments)
        if near is None:
            return Lack((), None, None)
        until = self._settled(near.literal, near.binding, near.missing.when.high)
        return Lack(tuple(chain), until, near.literal, tuple(parts), self._met(near))

    def _met(self, near: _Near) -> tuple[FailingPart, ...]:
        """The input facts whose values a comparison does not like."""
        if not isinstance(near.literal, Comparison):
            return ()
        found = []
        for literal in near.held:
            atom, during = self._atom(literal, near.during)
            if atom is not None and during and self.stream.is_input(atom.predicate):
                found.append(FailingPart(atom, _instance(near.binding), self.line.as_span(during[0])))
        return tuple(found)

    def _part(self, formula: CoreFormula, binding: NamedValues, during: ExactTimes) -> FailingPart | None:
        """The atom below operators that keeps a formula from holding at the first of these times, and when it does."""
        during = self.line.some_point(during[0], latest=False)
        match formula:
            case Atom():
                return FailingPart(formula, _instance(binding), self.line.as_span(during[0]))
            case Not(part=Atom() as atom):
                return FailingPart(atom, _instance(binding), self.line.as_span(during[0]), denied=True)
            case At(part=inner):
                _, moved = self._atom(formula, during)
                return self._part(inner, binding, moved) if moved else None
            case All(parts=parts):
                found = (each for each in parts if not self._held(each, binding, during))
                failing = next(found, None)
                return None if failing is None else self._part(failing, binding, during)
            case Every(reach=reach, part=inner):
                seen = hull(self.line.later(during, distances(self.line, reach)))
                seen = meet(seen, from_start(self.line)) if formula.clip else seen
                return self._broken(inner, binding, seen)
            case Lasts(reach=reach, left=left, right=right):
                seen = meet(hull(self.line.later(during, distances(self.line, reach))), from_start(self.line))
                begun = self._held(right, binding, seen)
                if not begun:
                    return _never(right, binding, self.line.as_span(seen[0])) if seen else None
                nearest = self.line.some_point(begun[-1] if formula.is_past else begun[0], latest=formula.is_past)
                ends = sorted((self.line.ends(nearest[0])[0], self.line.ends(during[0])[0]))
                return self._broken(left, binding, self.line.between(*ends))
            case _:
                return None

    def _broken(self, formula: CoreFormula, binding: NamedValues, during: ExactTimes) -> FailingPart | None:
        """Why a formula does not hold throughout: at the first time at which it does not."""
        if names(formula) - binding.keys():
            return None
        gone = without(during, self._held(formula, binding, during))
        if gone and isinstance(formula, Atom) and not self.line.discrete:
            # No single one of so many times.
            return FailingPart(formula, _instance(binding), self.line.as_span(gone[0]))
        return self._part(formula, binding, gone) if gone else None

    def _held(self, formula: CoreFormula, binding: NamedValues, during: ExactTimes) -> ExactTimes:
        """When a formula holds or, `for_ever`, may hold, once nothing more is to be worked out."""
        world = self.worlds.maybe if self.for_ever else self.worlds.sure
        while True:
            found = union(times for _, times in world.solve(formula, binding, during))
            if not self.worlds.sure.todo and not self.worlds.maybe.todo:
                return found
            self.worlds.settle()

    def _nearest(self, predicate: str, arguments: tuple[Value | None, ...], during: ExactTimes) -> _Near | None:
        found = [
            near
            for number, place in self.stream.heads.get(predicate, [])
            if (near := self._failing(number, place, arguments, during)) is not None
        ]
        return max(found, key=lambda near: len(near.held), default=None)

    def _failing(
        self, number: int, place: int, arguments: tuple[Value | None, ...], during: ExactTimes
    ) -> _Near | None:
        rule = self.stream.rules[number]
        head = rule.conclusions[place]
        binding = matched(head.atom, arguments, {})
        if binding is None or rule.is_fact:
            return None
        when = meet(hull(body_times(self.line, head, during)), self.stream.rule_times(rule))
        if not when:
            return None
        if not self.for_ever and self._solution(self.worlds.maybe, list(rule.body), binding, when) is None:
            # There is nothing to wait for in a rule that can no longer fire.
            return None
        # What binds variables comes first; within that, the order of the text.
        order = sorted(range(len(rule.body)), key=lambda each: isinstance(rule.body[each], (Not, Comparison)))
        world = self.worlds.maybe if self.for_ever else self.worlds.sure
        closest = (binding, when)
        for held, premise in enumerate(order):
            more = self._solution(world, [rule.body[each] for each in order[: held + 1]], binding, when)
            if more is None:
                values, during = closest
                missing = Missing(number, tuple(sorted(values.items())), self.line.as_span(during[0]), premise)
                return _Near(
                    missing, values, during, rule.body[premise], tuple(rule.body[each] for each in order[:held])
                )
            closest = more
        return None

    def _solution(
        self, world: StreamReading, parts: list[CoreFormula], binding: NamedValues, when: ExactTimes
    ) -> tuple[NamedValues, ExactTimes] | None:
        """A binding with which all parts hold at some of the times, once nothing more is to be worked out."""
        while True:
            found = world.all_of(parts, binding, when)
            if not self.worlds.sure.todo and not self.worlds.maybe.todo:
                return found[0] if found else None
            self.worlds.settle()

    def _atom(self, literal: CoreFormula, during: ExactTimes) -> tuple[Atom | None, ExactTimes]:
        """The atom a literal is about, if it is one, and its times."""
        if isinstance(literal, At):
            offset, fixed = literal.offset, literal.base is None
            during = self.line.point(offset) if fixed else self.line.shifted(during, offset)
            literal = literal.part
        return (literal, during) if isinstance(literal, Atom) else (None, during)

    def _settled(self, literal: CoreFormula, binding: NamedValues, latest: Number | None) -> Number | None:
        """The latest time at which an input fact may arrive that the literal hangs on; none if that is not known."""
        match literal:
            case _ if latest is None:
                return None
            case Atom(predicate=name, arguments=arguments) if self.stream.is_input(name):
                pattern = tuple(
                    term.value if isinstance(term, Constant) else known(term, binding) for term in arguments
                )
                derived = name in self.stream.heads
                return None if derived else latest + self.stream.delay(name, pattern)
            case At(base=base, offset=offset, part=inner):
                return self._settled(inner, binding, offset if base is None else latest + offset)
            case Not(part=inner):
                return self._settled(inner, binding, latest)
            case All(parts=parts) | Any(parts=parts):
                return _latest([self._settled(each, binding, latest) for each in parts])
            case Some(reach=reach, part=inner) | Every(reach=reach, part=inner):
                return None if reach.far is None else self._settled(inner, binding, latest + reach.far)
            case _:
                return None


def _instance(binding: NamedValues) -> Substitution:
    return tuple(sorted(binding.items()))


def _is_denied_atom(literal: CoreFormula) -> bool:
    return isinstance(literal.part if isinstance(literal, At) else literal, Not)


def _never(formula: CoreFormula, binding: NamedValues, during: TimeSpan) -> FailingPart | None:
    """What was at no time within reach, where that is an atom."""
    return FailingPart(formula, _instance(binding), during, nowhere=True) if isinstance(formula, Atom) else None


def _latest(times: list[Number | None]) -> Number | None:
    known_times = [time for time in times if time is not None]
    return max(known_times) if known_times and len(known_times) == len(times) else None
