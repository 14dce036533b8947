"""What an answer lacks first, where it is not entailed: from the answer down, the rule that came closest and the
first part of its body that does not hold, until something is reached that no rule derives.

This asks the two worlds of the prover and needs no premise patterns, so it can be said of any program the prover
knows.
"""

from __future__ import annotations

from dataclasses import dataclass

from presage.core.formulas import All, Any, At, Every, Formula, Not, Some, walk
from presage.evidence.proof import Missing, Record, Value
from presage.evidence.solve import Binding, body_times, known, matched
from presage.evidence.supported import refuse_unknown
from presage.evidence.tabling import SeenStream, StreamReading, Worlds
from presage.model.formulas import Atom, Comparison
from presage.model.terms import Constant, Number
from presage.time.exact_sets import Times, hull, meet

DEEPEST = 40


@dataclass(frozen=True, slots=True)
class Lack:
    """The chain of reasons, the answer's own rule first, and when the last of them is settled at the latest."""

    chain: tuple[Missing, ...]
    until: Number | None
    literal: Formula | None
    """What is missing at the end of the chain; nothing where no rule gives the answer at all."""

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
    binding: Binding
    during: Times
    literal: Formula
    held: int
    """How many parts of the body hold before it."""


class _Search:
    def __init__(self, worlds: Worlds, for_ever: bool) -> None:
        self.worlds, self.line, self.stream = worlds, worlds.line, worlds.stream
        self.for_ever = for_ever

    def of(self, predicate: str, arguments: tuple[Value | None, ...], during: Times) -> Lack:
        chain: list[Missing] = []
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
            if atom is None or self.stream.is_input(atom.predicate) or not during:
                break
            predicate, arguments = atom.predicate, tuple(known(term, near.binding) for term in atom.arguments)
        if near is None:
            return Lack((), None, None)
        return Lack(tuple(chain), self._settled(near.literal, near.binding, near.missing.when.high), near.literal)

    def _nearest(self, predicate: str, arguments: tuple[Value | None, ...], during: Times) -> _Near | None:
        found = [
            near
            for number, place in self.stream.heads.get(predicate, [])
            if (near := self._failing(number, place, arguments, during)) is not None
        ]
        return max(found, key=lambda near: near.held, default=None)

    def _failing(self, number: int, place: int, arguments: tuple[Value | None, ...], during: Times) -> _Near | None:
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
                return _Near(missing, values, during, rule.body[premise], held)
            closest = more
        return None

    def _solution(
        self, world: StreamReading, parts: list[Formula], binding: Binding, when: Times
    ) -> tuple[Binding, Times] | None:
        """A binding with which all parts hold at some of the times, once nothing more is to be worked out."""
        while True:
            found = world.all_of(parts, binding, when)
            if not self.worlds.sure.todo and not self.worlds.maybe.todo:
                return found[0] if found else None
            self.worlds.settle()

    def _atom(self, literal: Formula, during: Times) -> tuple[Atom | None, Times]:
        """The atom a literal is about, if it is one, and its times."""
        if isinstance(literal, At):
            offset, fixed = literal.offset, literal.base is None
            during = self.line.point(offset) if fixed else self.line.shifted(during, offset)
            literal = literal.part
        return (literal, during) if isinstance(literal, Atom) else (None, during)

    def _settled(self, literal: Formula, binding: Binding, latest: Number | None) -> Number | None:
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


def _latest(times: list[Number | None]) -> Number | None:
    known_times = [time for time in times if time is not None]
    return max(known_times) if known_times and len(known_times) == len(times) else None
