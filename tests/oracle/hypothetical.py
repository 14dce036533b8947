"""What may still become of an answer, decided by looking at every way the stream can go on.

[HA] Definitions 18 to 20 and [HAD] Definitions 1 and 2 speak of all possible evolutions of what has
arrived. Over a finite domain and finitely many times there are finitely many, and of those only
the ones that differ in something an answer hangs on. So the truth of an atom is a table with one bit
for each evolution, and the model of a ground program is computed for all evolutions at once: a
conjunction is `&`, a rule adds with `|`, negation is the well-founded model by alternating fixpoint.

Ways are those of [HA] 6.3: the rules are unfolded from the answer down to input atoms and negated
atoms; at a time these are evidence, open premises, or hopeless.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from presage.model import Atom, Constant, Distribution, Program
from presage.model.formulas import variables
from presage.model.printer import show_atom

from .evaluator import NotTotal
from .grounding import GroundFact, GroundRule, constants_of, ground, is_null
from .looks import ground_atom
from .streams import Ground, Value

MOST_CANDIDATES = 14
MOST_LEAF_SETS = 5_000
_TYPES: dict[str, type] = {"text": str, "int": int}

Delays = Callable[[str, tuple[Value, ...]], int]


class TooLarge(Exception):
    """More evolutions, or more ways, than one wants to look at."""


@dataclass(frozen=True, order=True)
class Literal:
    predicate: str
    arguments: tuple[Value, ...]
    time: int
    positive: bool = True

    @staticmethod
    def of(fact: GroundFact, positive: bool = True) -> Literal:
        return Literal(*fact, positive)

    @property
    def fact(self) -> GroundFact:
        return self.predicate, self.arguments, self.time

    def __str__(self) -> str:
        atom = show_atom(Atom(self.predicate, tuple(Constant(each) for each in self.arguments)))  # type: ignore[arg-type]
        return f"{'' if self.positive else 'not '}{atom}@{self.time}"


Leaves = frozenset[Literal]
Ways = dict[Leaves, set[Leaves]]
"""Each minimal set of premises, with its minimal sets of evidence."""


def declared_delays(program: Program) -> Delays:
    """The delay of each fact: of the declarations that match it, the last."""

    def delay(predicate: str, arguments: tuple[Value, ...]) -> int:
        found = 0
        for declared in program.inputs:
            if declared.predicate != predicate:
                continue
            values = dict(zip((column.name for column in declared.columns), arguments, strict=True))
            if all(values[condition.column] == condition.value.value for condition in declared.where):
                if isinstance(declared.delay, Distribution):
                    found = max(int(wait) for wait, share in declared.delay.parts if share)  # type: ignore[arg-type]
                else:
                    found = int(declared.delay or 0)  # type: ignore[arg-type]
        return found

    return delay


@dataclass
class _Table:
    """In which evolutions each atom of an answer's cone is true, as the bits of a number."""

    everywhere: int
    true: dict[GroundFact, int]

    def of(self, literal: Literal) -> int:
        bits = self.true.get(literal.fact, 0)
        return bits if literal.positive else self.everywhere & ~bits


class Outlook:
    """What is known at `now` of a normalised program, on the discrete timeline 0..end. `fresh` constants
    stand for all those that occur nowhere; `constants` are others that matter, such as those of later facts."""

    def __init__(
        self,
        program: Program,
        arrived: Iterable[GroundFact],
        now: int,
        end: int,
        delays: Delays,
        statics: Iterable[Ground] = (),
        fresh: int = 1,
        constants: Iterable[Value] = (),
    ) -> None:
        self.program, self.now, self.end, self.delays = program, now, end, delays
        self.arrived = frozenset(arrived)
        if any(not 0 <= time <= end for _, _, time in self.arrived):
            raise ValueError("a fact lies outside the timeline")
        background = frozenset(statics)
        domain = set(constants) | {value for _, values, _ in self.arrived for value in values}
        taken = domain | constants_of(program) | {value for _, values in background for value in values}
        names = (f"other{number}" for number in range(1, fresh + len(taken) + 1))
        domain |= set([name for name in names if name not in taken][:fresh])
        self.grounding = ground(program, end, background, frozenset(domain))
        self._types = {each.predicate: [column.type for column in each.columns] for each in program.inputs}
        self._live, self._beyond = self._find_live()
        self._rules: dict[GroundFact, list[GroundRule]] = {}
        for rule in self._live:
            self._rules.setdefault(rule.head, []).append(rule)
        self._cones: dict[GroundFact, set[GroundFact]] = {}
        self._tables: dict[GroundFact, _Table] = {}

    # -- what can arrive -------------------------------------------------------------------------

    def is_input(self, fact: GroundFact) -> bool:
        return fact[0] in self.grounding.inputs

    def is_candidate(self, fact: GroundFact) -> bool:
        """Whether a fact has not arrived but still may ([HAD] Definition 1)."""
        predicate, arguments, time = fact
        if not self.is_input(fact) or fact in self.arrived or any(map(is_null, arguments)):
            return False
        types = self._types.get(predicate, [])
        fits = all(isinstance(value, _TYPES.get(kind, object)) for value, kind in zip(arguments, types, strict=False))
        return fits and self.now < time + self.delays(predicate, arguments)

    def _find_live(self) -> tuple[list[GroundRule], set[GroundFact]]:
        """The instances whose positive atoms may all come true, negation aside; and what may depend on
        times past the end."""
        rules = self.grounding.rules | self.grounding.beyond
        bodies = {atom for rule in rules for atom in rule.positive}
        possible = {atom for atom in bodies if atom in self.arrived or self.is_candidate(atom)}
        while True:
            more = {rule.head for rule in rules if rule.positive <= possible} - possible
            if not more:
                break
            possible |= more
        live = [rule for rule in self.grounding.rules if rule.positive <= possible]
        return live, {rule.head for rule in self.grounding.beyond if rule.positive <= possible}

    def cone(self, answer: GroundFact) -> set[GroundFact]:
        """All atoms the answer hangs on, itself included."""
        if answer not in self._cones:
            found, todo = {answer}, [answer]
            while todo:
                for rule in self._rules.get(todo.pop(), ()):
                    todo += rule.body - found
                    found |= rule.body
            self._cones[answer] = found
        return self._cones[answer]

    def judged(self, answer: GroundFact) -> bool:
        """Whether all that the answer hangs on lies on the timeline."""
        return not self.cone(answer) & self._beyond

    def settled(self, answer: GroundFact) -> bool:
        """Whether nothing that the answer hangs on can still arrive."""
        return not any(map(self.is_candidate, self.cone(answer)))

    def answers(self, last: int) -> Iterator[GroundFact]:
        """All instances of the declared queries up to a time."""
        constants = sorted(self.grounding.constants, key=repr)
        for query in self.program.queries:
            fixed = query.pin is not None and query.pin.base is None
            times = [int(query.pin.offset)] if query.pin and fixed else range(last + 1)  # type: ignore[arg-type]
            names = sorted({each.name for each in variables(query.atom)})
            for values in product(constants, repeat=len(names)):
                for time in times:
                    yield (*ground_atom(query.atom, dict(zip(names, values, strict=True))), time)

    # -- truth in the evolutions -----------------------------------------------------------------

    def table(self, answer: GroundFact) -> _Table:
        if answer not in self._tables:
            self._tables[answer] = self._tabulate(self.cone(answer))
        return self._tables[answer]

    def _tabulate(self, cone: set[GroundFact]) -> _Table:
        candidates = sorted(filter(self.is_candidate, cone), key=repr)
        if len(candidates) > MOST_CANDIDATES:
            raise TooLarge(f"2^{len(candidates)} evolutions")
        size = 1 << len(candidates)
        everywhere = (1 << size) - 1
        given = dict.fromkeys(cone & self.arrived, everywhere)
        for number, fact in enumerate(candidates):
            block = 1 << number  # as in a truth table: 2^number times false, as often true, and again
            given[fact] = everywhere // ((1 << 2 * block) - 1) * (((1 << block) - 1) << block)
        rules = [rule for atom in cone for rule in self._rules.get(atom, ())]

        def least(opposite: dict[GroundFact, int]) -> dict[GroundFact, int]:
            found = dict(given)
            changed = True
            while changed:
                changed = False
                for rule in rules:
                    bits = everywhere
                    for atom in rule.positive:
                        bits &= found.get(atom, 0)
                    for atom in rule.negative:
                        bits &= ~opposite.get(atom, 0)
                    before = found.get(rule.head, 0)
                    if bits & ~before:
                        found[rule.head] = before | bits
                        changed = True
            return found

        surely: dict[GroundFact, int] = dict(given)
        while True:
            maybe = least(surely)
            more = least(maybe)
            if more == surely:
                break
            surely = more
        if any(maybe.get(atom, 0) != surely.get(atom, 0) for atom in cone):
            raise NotTotal("some atom is neither true nor false in some evolution")
        return _Table(everywhere, surely)

    def certain(self, answer: GroundFact) -> bool:
        """True in all evolutions."""
        table = self.table(answer)
        return table.of(Literal.of(answer)) == table.everywhere

    def may(self, answer: GroundFact) -> bool:
        """True in some evolution."""
        return self.table(answer).of(Literal.of(answer)) != 0

    # -- ways ------------------------------------------------------------------------------------

    def ways(self, answer: GroundFact) -> Ways:
        """The minimal premise sets with their minimal sets of evidence. A premise set that suffices
        without any evidence is none, and makes larger ones superfluous all the same. What has
        the empty premise set is confirmed."""
        table = self.table(answer)
        found: Ways = {}
        for leaves in self.leaf_sets(answer):
            evidence = frozenset(each for each in leaves if self._is_evidence(table, each))
            found.setdefault(leaves - evidence, set()).add(evidence)
        return {
            premises: evidence  # minimal: no leaf set contains another one
            for premises, evidence in found.items()
            if frozenset() not in evidence and not any(other < premises for other in found)
        }

    def proved(self, answer: GroundFact) -> bool:
        """Whether some single way has nothing left to wait for; a certain answer may be so by cases only."""
        table = self.table(answer)
        return any(all(self._is_evidence(table, each) for each in leaves) for leaves in self.leaf_sets(answer))

    def status(self, answer: GroundFact) -> str:
        if self.certain(answer):
            return "confirmed"
        if not self.may(answer):
            return "impossible"
        return "possible" if self.ways(answer) else "open"

    def _is_evidence(self, table: _Table, leaf: Literal) -> bool:
        return leaf.fact in self.arrived if leaf.positive else not table.true.get(leaf.fact)

    def leaf_sets(self, answer: GroundFact) -> Iterator[Leaves]:
        """The leaf sets that hold in some evolution."""
        table = self.table(answer)
        known: dict[tuple[GroundFact, frozenset[GroundFact]], set[Leaves]] = {}
        for leaves in self._unfold(answer, frozenset(), known):
            bits = table.everywhere
            for each in leaves:
                bits &= table.of(each)
            if bits:
                yield leaves

    def _unfold(
        self,
        atom: GroundFact,
        above: frozenset[GroundFact],
        known: dict[tuple[GroundFact, frozenset[GroundFact]], set[Leaves]],
    ) -> set[Leaves]:
        """The leaf sets from which an atom follows without passing through an atom above it. A set that
        contains another can be left out: so do its premises or its evidence, and if the smaller
        one is hopeless so is the larger."""
        if atom in above:
            return set()
        key = (atom, above & self.cone(atom))
        if key in known:
            return known[key]
        found: set[Leaves] = set()
        if atom in self.arrived or self.is_candidate(atom):
            found.add(frozenset({Literal.of(atom)}))
        for rule in self._rules.get(atom, ()):
            sets: set[Leaves] = {frozenset(Literal.of(each, positive=False) for each in rule.negative)}
            for each in rule.positive:
                below = self._unfold(each, above | {atom}, known)
                sets = _minimal({first | second for first, second in product(sets, below)})
                if len(sets) > MOST_LEAF_SETS:
                    raise TooLarge("too many ways")
            found |= sets
        known[key] = _minimal(found)
        return known[key]


def _minimal(sets: set[Leaves]) -> set[Leaves]:
    return {each for each in sets if not any(other < each for other in sets)}
