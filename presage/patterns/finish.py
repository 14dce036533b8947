"""A derivation so far, and the pattern its leaves make: names become numbers, bounds are closed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from presage.analysis.differences import Differences
from presage.analysis.subject import Subject
from presage.model.formulas import OPPOSITES, Atom, Comparison
from presage.model.statements import Rule
from presage.model.terms import Arithmetic, Constant, Number, Term, Variable, map_term, number, shown, term_variables
from presage.model.values import is_true, value_of
from presage.patterns.clause import RULE_TIME, ClauseLiteral, Counting, TimeDistance, When
from presage.patterns.edges import Edge
from presage.patterns.premises import (
    START,
    AnswerShape,
    Fixed,
    HeldStretch,
    InventedArgument,
    Lookup,
    Pattern,
    PatternCondition,
    Premise,
    SlotOrConstant,
    Tally,
    Time,
)
from presage.patterns.unifying import InventedValue, Unifier, inventions_in, resolve, resolve_whole, time_of
from presage.support import NO_PATTERNS

BOUND_OF_STREAM = NO_PATTERNS["aggregate compared with the stream"]
TIME_AS_VALUE = NO_PATTERNS["time as a value"]
MOST_PATTERNS = 500
TOO_MANY = "there are too many premise patterns to keep track of"


class NoPatterns(Exception):
    """A query whose premise patterns are not finitely many, or not within reach; and the rules to blame."""

    def __init__(self, reason: str, rules: tuple[Rule, ...] = (), endless: bool = False) -> None:
        self.reason, self.rules, self.endless = reason, rules, endless
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Goal:
    literal: ClauseLiteral
    ancestors: tuple[tuple[ClauseLiteral, Rule], ...] = ()


@dataclass(frozen=True, slots=True)
class Derivation:
    """A derivation so far."""

    goals: tuple[Goal, ...]
    bindings: Unifier
    times: dict[str, When]
    leaves: tuple[ClauseLiteral, ...]
    lookups: tuple[tuple[Atom, bool], ...]
    comparisons: tuple[tuple[Comparison, bool], ...]
    reaches: tuple[TimeDistance, ...]
    rules: tuple[Rule, ...]
    counted: tuple[Counting, ...] = ()

    def time(self, when: When) -> When:
        return time_of(when, self.times)

    def literal(self, literal: ClauseLiteral) -> ClauseLiteral:
        arguments = tuple(resolve_whole(each, self.bindings, self.times) for each in literal.atom.arguments)
        atom, stretch = Atom(literal.atom.predicate, arguments), literal.stretch
        if stretch is not None:
            stretch = replace(stretch, until=self.time(stretch.until))
        return ClauseLiteral(atom, self.time(literal.when), literal.positive, literal.outside, stretch)


class Finish:
    """A derivation's leaves as a pattern: names become numbers, bounds are closed."""

    def __init__(self, subject: Subject, node: Derivation) -> None:
        self.subject, self.node = subject, node
        self.slots: dict[str, int] = {}
        self.times: dict[str, int] = {}
        self.bounds = Differences()
        self.locals: dict[str, None] = {}
        """The variables that only the braces of an aggregate name."""
        counted = [each.body for each in node.counted]
        self.bases = {
            *(each.when.base for each in node.leaves),
            *(each.literals[0].when.base for each in counted),
            *(side.base for reach in node.reaches for side in (reach.x, reach.y)),
            *(side.base for body in counted for reach in body.reaches for side in (reach.x, reach.y)),
        }

    def pattern(self, atom: Atom, when: When) -> Pattern | None:
        self.node = node = self.without_other_names(atom)
        vacuous = self.before_the_start()
        for reach in (*node.reaches, *(TimeDistance(when, When(None), None, -1) for _, when in vacuous)):
            if not self.reach(reach):
                return None
        relations = [
            (each, wanted)
            for each, wanted in node.comparisons
            if not self.about_times(each, wanted) and not self.invents(each)
        ]
        if not self.bounds.check():
            return None
        if any(map(self.is_time, node.bindings)):
            raise NoPatterns(TIME_AS_VALUE, node.rules)
        answered = self.time(when)
        arguments, shape = self.answer(atom, answered)
        literals: dict[Premise, None] = {}
        for literal in sorted(node.leaves, key=lambda each: not each.positive):
            resolved = node.literal(literal)
            if (resolved.atom, resolved.when) in vacuous:
                continue
            if self.invents(resolved.atom):
                if literal.positive:
                    return None  # No fact that arrives has such a value.
                continue
            literals.setdefault(
                Premise(
                    resolved.atom.predicate,
                    tuple(self.argument(each) for each in resolved.atom.arguments),
                    self.time(resolved.when),
                    literal.positive,
                    literal.outside == "true",
                    self.held(resolved),
                )
            )
        # A stretch may have no times, or not the one it begins with: what holds throughout one contradicts nothing yet.
        single = [each for each in literals if each.held is None]
        opposite = {(each.predicate, each.arguments, each.when, not each.positive) for each in single}
        if any((each.predicate, each.arguments, each.when, each.positive) in opposite for each in single):
            return None
        if any(positive and self.invents(each) for each, positive in node.lookups):
            return None
        lookups = dict.fromkeys(
            Lookup(each.predicate, tuple(self.argument(term) for term in each.arguments), positive)
            for each, positive in sorted(node.lookups, key=lambda pair: not pair[1])
            if not self.invents(each)
        )
        conditions = [found for each, wanted in relations if (found := self.condition(each, wanted)) is not None]
        if any(not each.slots and not each.times and not self.constant_truth(each) for each in conditions):
            return None
        conditions = [each for each in conditions if each.slots or each.times]
        spoken_of = {answered.base, START, *(each.when.base for each in literals)}
        if any(not each.times <= spoken_of for each in conditions):
            reason = "a comparison with a time at which nothing is asked for has no premise patterns"
            raise NoPatterns(reason, self.node.rules)
        known = {each for lookup in lookups if lookup.positive for each in lookup.arguments if isinstance(each, int)}
        for each in (*conditions, *conditions):
            if each.operator == "=" and each.wanted and len(each.slots - known) == 1:
                known |= each.slots
        tallies = tuple(self.tally(each, known) for each in node.counted)
        terms: dict[str, int | Time] = dict(self.slots)
        for name in node.times.keys() | self.times.keys():
            resolved_time = node.time(When(name))
            if resolved_time.base is None or resolved_time.base in self.times:
                terms[name] = self.time(resolved_time)
        spoken = [side for each in conditions for side in (each.left, each.right)]
        for tally in tallies:
            spoken += [tally.bound, *tally.terms]
            spoken += [side for each in tally.conditions for side in (each.left, each.right)]
        for term in spoken:
            # A time that is tied to another goes by its name here.
            for variable in term_variables(term):
                if variable.name not in terms:
                    terms[variable.name] = self.time(When(variable.name))
        return Pattern(
            arguments,
            answered,
            tuple(each for each in literals if each.positive),
            tuple(each for each in literals if not each.positive),
            tuple(lookups),
            tuple(dict.fromkeys(conditions)),
            _names(self.slots, self.locals),
            _names(self.times),
            self.closed(),
            tuple(dict.fromkeys(node.rules)),
            terms,
            tallies,
            shape,
        )

    def answer(self, atom: Atom, answered: Time) -> tuple[tuple[SlotOrConstant, ...], AnswerShape]:
        """The arguments of the answer; for those that are invented, what they depend on."""
        arguments: list[SlotOrConstant] = []

        def made(term: Any) -> InventedArgument | None:
            resolved = resolve(term, self.node.bindings)
            if not isinstance(resolved, InventedValue):
                arguments.append(self.argument(resolved))
                return None
            values = tuple(map(made, resolved.frontier))
            return InventedArgument(
                resolved.rule, resolved.name, values, tuple(away(self.time(each)) for each in resolved.times)
            )

        def away(at: Time) -> tuple[bool, Number] | None:
            if at.base == START:
                return False, at.offset
            return (True, number(at.offset - answered.offset)) if at.base == answered.base else None

        shape = tuple(map(made, atom.arguments))
        return tuple(arguments), shape if any(shape) else ()

    def invents(self, spoken: Atom | Comparison) -> bool:
        """Whether an atom or a comparison speaks of an invented value."""
        terms = spoken.arguments if isinstance(spoken, Atom) else (spoken.left, spoken.right)
        return any(True for term in terms for _ in inventions_in(term, self.node.bindings))

    def without_other_names(self, atom: Atom) -> Derivation:
        """The derivation without variables that no atom has and that `=` makes another name of one."""
        node = self.node
        counted = (literal for each in node.counted for literal in each.body.literals)
        atoms = [*(each.atom for each in (*node.leaves, *counted)), *(each for each, _ in node.lookups), atom]
        bindings = dict(node.bindings)
        spoken_of = {resolve(given, bindings) for each in atoms for given in each.arguments}
        kept = []
        for comparison, wanted in node.comparisons:
            sides = [resolve(each, bindings) for each in (comparison.left, comparison.right)]
            own = next(
                (
                    each
                    for each in sides
                    if isinstance(each, Variable) and each not in spoken_of and not self.is_time(each.name)
                ),
                None,
            )
            other = sides[1] if sides[0] == own else sides[0]
            plain = isinstance(other, Constant) or (isinstance(other, Variable) and not self.is_time(other.name))
            if comparison.operator == "=" and wanted and own is not None and plain and own != other:
                bindings[own.name] = other
            else:
                kept.append((comparison, wanted))
        return node if len(kept) == len(node.comparisons) else replace(node, bindings=bindings, comparisons=tuple(kept))

    def tally(self, counting: Counting, known: set[int]) -> Tally:
        """How much there is of what, with numbers for names; `known` are the slots that static facts fill."""
        node = self.node
        before, times_before = len(self.slots), set(self.times)
        bound = self.term(counting.bound)
        bound_slots = {self.slots.get(each.name) for each in term_variables(bound)}
        if not node.goals and not bound_slots <= known:
            raise NoPatterns(BOUND_OF_STREAM, node.rules)
        leaf, *rest = (node.literal(each) for each in counting.body.literals)
        shared = {
            each.name
            for name in counting.shared
            if isinstance(each := resolve(Variable(name), node.bindings), Variable)
        }
        outside = {node.time(When(name)).base for name in counting.shared if self.is_time(name)}
        found = Tally(
            counting.function,
            counting.operator,
            bound,
            tuple(map(self.term, counting.terms)),
            Premise(
                leaf.atom.predicate, tuple(self.argument(each) for each in leaf.atom.arguments), self.time(leaf.when)
            ),
            tuple(
                Lookup(each.atom.predicate, tuple(self.argument(term) for term in each.atom.arguments), each.positive)
                for each in rest
            ),
            tuple(
                made for each, wanted in counting.body.comparisons if (made := self.condition(each, wanted)) is not None
            ),
            tuple((self.time(each.x), self.time(each.y), each.low, each.high) for each in counting.body.reaches),
            frozenset(),
            frozenset(index for name, index in self.times.items() if name not in times_before and name not in outside),
            counting.some,
        )
        for term in found.terms:
            for variable in term_variables(term):
                if not self.is_time(variable.name):
                    self.slots.setdefault(variable.name, len(self.slots))
        own = {name: slot for name, slot in self.slots.items() if slot >= before and name not in shared}
        self.locals.update(dict.fromkeys(own))
        return replace(found, locals=frozenset(own.values()))

    def held(self, literal: ClauseLiteral) -> HeldStretch | None:
        if literal.stretch is None:
            return None
        stretch = literal.stretch
        return HeldStretch(self.time(stretch.until), stretch.closed_low, stretch.closed_high)

    def before_the_start(self) -> set[tuple[Atom, When]]:
        """Atoms that hold throughout a window and are absent as well: that can be before the start alone, where
        the window has no times and nothing holds."""
        found = [self.node.literal(each) for each in self.node.leaves if each.stretch is None]
        absent = {(each.atom, each.when) for each in found if not each.positive and each.outside == "true"}
        return {
            (each.atom, each.when)
            for each in found
            if each.positive and each.outside == "true" and (each.atom, each.when) in absent
        }

    def reach(self, reach: TimeDistance) -> bool:
        x, y = self.node.time(reach.x), self.node.time(reach.y)
        gap = y.offset - x.offset
        low: Any = None if reach.low is None else reach.low + gap
        high: Any = None if reach.high is None else reach.high + gap
        if x.base == y.base:
            return (low is None or low <= 0) and (high is None or high >= 0)
        first, second = x.base or "", y.base or ""
        if high is not None:
            self.bounds.at_most(first, second, high)
        if low is not None:
            self.bounds.at_most(second, first, -low)
        return True

    def about_times(self, comparison: Comparison, wanted: bool) -> bool:
        """Adds a comparison of two times, or of one with a number, to the bounds. One that speaks of values too, or
        that only leaves gaps, stays a condition."""
        operator = comparison.operator
        if not wanted:
            operator = OPPOSITES[operator]
        sides = [self.as_time(side) for side in (comparison.left, comparison.right)]
        if sides[0] is None or sides[1] is None or operator == "!=":
            return False
        left, right = sides[0], sides[1]
        if operator in ("<", ">") and not self.subject.discrete:
            return False
        gap = 1 if operator in ("<", ">") else 0
        fits = True
        if operator in ("<", "<=", "="):
            fits &= self.reach(TimeDistance(left, right, None, -gap))
        if operator in (">", ">=", "="):
            fits &= self.reach(TimeDistance(left, right, gap, None))
        if not fits:
            self.bounds.consistent = False
        return True

    def as_time(self, term: Term) -> When | None:
        """A term that is a time: a time variable plus a constant, or a constant."""
        match term:
            case Constant(value=value) if not isinstance(value, str):
                return When(None, value)
            case Variable(name=name) if self.is_time(name):
                return self.node.time(When(name))
            case Arithmetic(operator="+" | "-" as operator, left=left, right=Constant(value=value)) if not isinstance(
                value, str
            ):
                found = self.as_time(left)
                return None if found is None else found.later(value if operator == "+" else -value)
            case Arithmetic(operator="+", left=Constant(value=value), right=right) if not isinstance(value, str):
                found = self.as_time(right)
                return None if found is None else found.later(value)
            case _:
                return None

    def is_time(self, name: str) -> bool:
        return name in self.bases or name in self.node.times

    def argument(self, term: Term) -> SlotOrConstant:
        resolved = resolve(term, self.node.bindings)
        if isinstance(resolved, Constant):
            return Fixed(resolved.value)
        assert isinstance(resolved, Variable)
        if self.is_time(resolved.name):
            raise NoPatterns(TIME_AS_VALUE, self.node.rules)
        return self.slots.setdefault(resolved.name, len(self.slots))

    def time(self, when: When) -> Time:
        when = self.node.time(when)
        if when.base is None:
            return Time(START, when.offset)
        low, high = self.bounds.range(when.base, "")
        if low == high and not isinstance(low, float):
            return Time(START, when.offset + low)
        for name, index in self.times.items():
            low, high = self.bounds.range(when.base, name)
            if low == high and not isinstance(low, float):
                return Time(index, when.offset + low)
        return Time(self.times.setdefault(when.base, len(self.times)), when.offset)

    def condition(self, comparison: Comparison, wanted: bool) -> PatternCondition | None:
        left, right = self.term(comparison.left), self.term(comparison.right)
        slots, times = set(), set()
        for variable in (*term_variables(left), *term_variables(right)):
            if variable.name in self.slots:
                slots.add(self.slots[variable.name])
            elif self.is_time(variable.name):
                resolved = self.time(When(variable.name))
                if resolved.base != START:
                    times.add(resolved.base)
            else:
                slots.add(self.slots.setdefault(variable.name, len(self.slots)))
        return PatternCondition(comparison.operator, left, right, wanted, frozenset(slots), frozenset(times))

    def constant_truth(self, condition: PatternCondition) -> bool:
        """Whether a comparison of constants, and of times that are fixed, comes out as it should."""

        def known(name: str) -> Number | None:
            at = self.time(When(name)) if self.is_time(name) else None
            return at.offset if at is not None and at.base == START else None

        left, right = value_of(condition.left, known), value_of(condition.right, known)
        return is_true(condition.operator, left, right) == condition.wanted

    def term(self, term: Term) -> Term:
        return map_term(term, lambda part: resolve(part, self.node.bindings))

    def closed(self) -> dict[tuple[int, int], Number]:
        """The bounds between the times that the pattern speaks of, and the start."""
        places = {**self.times, "": START}
        found: dict[tuple[int, int], Number] = {}
        for first, x in places.items():
            for second, y in places.items():
                if x != y:
                    high = self.bounds.range(first, second)[1]
                    if not isinstance(high, float):
                        found[x, y] = high if isinstance(high, Edge) else number(high)
        return found


def _names(places: dict[str, int], numbered: Collection[str] = ()) -> tuple[str, ...]:
    """Names as in the rules where they are unique, with a number where they are not."""
    taken: set[str] = set()
    names = []
    for name in sorted(places, key=lambda each: places[each]):
        plain = shown(name.split("'")[0])
        chosen_by_an_operator = not plain
        plain = "T" if plain in ("", RULE_TIME) else "X" if plain.startswith("_") else plain
        chosen, tries = (f"{plain}1" if name in numbered or chosen_by_an_operator else plain), count(2)
        while chosen in taken:
            chosen = f"{plain}{next(tries)}"
        taken.add(chosen)
        names.append(chosen)
    return tuple(names)
