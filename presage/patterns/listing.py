"""Premise patterns as text ([HA] Definition 10 and section 6.3): for each query, and for each atom that occurs
negated below one, what must arrive or stay away, in the variables of the query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil, floor
from typing import Any

from presage.model.formulas import OPPOSITES, Atom
from presage.model.printer import show_atom, show_number, show_term
from presage.model.statements import Query, Rule
from presage.model.terms import Arithmetic, Constant, Negative, Number, Term, Value, Variable, term_variables
from presage.patterns.clause import When
from presage.patterns.edges import parts_of
from presage.patterns.finish import NoPatterns
from presage.patterns.premises import (
    START,
    Fixed,
    Lookup,
    Pattern,
    PatternCondition,
    Premise,
    SlotOrConstant,
    Tally,
    Time,
)
from presage.patterns.unfold import ANSWER_TIME, Unfolded

AMOUNTS = {
    ("count", ">="): "", ("count", ">"): "", ("count", "<="): "at most ", ("count", "<"): "at most ",
    ("count", "="): "exactly ", ("sum", ">="): "sum ", ("sum", ">"): "sum over ", ("sum", "<"): "sum under ",
    ("sum", "<="): "sum at most ",
}  # fmt: skip
"""What stands before the number of a premise that counts."""
AWAY = {">": 1, "<": -1}
"""A count above a number is at least the next one."""


@dataclass(frozen=True, slots=True)
class ListedPattern:
    """A pattern in words."""

    premises: tuple[str, ...]
    bindings: dict[str, Value]
    """What the pattern fixes of the query's variables."""
    where: tuple[str, ...]
    """Comparisons, static atoms, and what the times have to do with each other."""
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """A query, or an auxiliary one, with the time its answers have."""

    atom: Atom
    when: When
    auxiliary: bool = False

    def __str__(self) -> str:
        if self.when.base is None:
            return f"{show_atom(with_names(self.atom))}@{show_number(self.when.offset)}"
        return f"{show_atom(with_names(self.atom))}@{_moved(self.time, self.when.offset)}"

    @property
    def time(self) -> str:
        """What the answer's time is called."""
        if self.when.base not in (None, ANSWER_TIME):
            return self.when.base
        return _free("T", {each.name for each in with_names(self.atom).arguments if isinstance(each, Variable)})


def asked_by(query: Query) -> AskedQuery:
    pin = query.pin
    if pin is None:
        return AskedQuery(query.atom, When(ANSWER_TIME))
    base = pin.base.name if isinstance(pin.base, Variable) else None if pin.base is None else ANSWER_TIME
    return AskedQuery(query.atom, When(base, pin.offset))  # type: ignore[arg-type]


def patterns_of(asked: AskedQuery, unfolded: Unfolded) -> list[Pattern]:
    """Premises at points, or where there are none such, with times that stay open: what counts is a premise as a whole.
    Raises `NoPatterns` if there are not finitely many."""
    try:
        return unfolded.by_points.patterns(asked.atom, asked.when)
    except NoPatterns as problem:
        try:
            return unfolded.with_open_times.patterns(asked.atom, asked.when)
        except NoPatterns:
            raise problem from None


def below(patterns: Sequence[Pattern]) -> Iterator[AskedQuery]:
    """The auxiliary queries: the negated atoms, at any time."""
    for pattern in patterns:
        for absence in pattern.absences:
            names: dict[int, str] = {}
            terms = tuple(
                Constant(each.value)
                if isinstance(each, Fixed)
                else Variable(names.setdefault(each, f"X{len(names) + 1}" if names else "X"))
                for each in absence.arguments
            )
            yield AskedQuery(Atom(absence.predicate, terms), When(ANSWER_TIME), auxiliary=True)


def listed(asked: AskedQuery, pattern: Pattern) -> ListedPattern:
    return _Writer(asked, pattern).listed()


class _Writer:
    def __init__(self, asked: AskedQuery, pattern: Pattern) -> None:
        self.asked, self.pattern = asked, pattern
        self.slots: dict[int, str] = {}
        self.equal: list[str] = []
        self.bindings: dict[str, Value] = {}
        terms = with_names(asked.atom).arguments
        for term, place in zip(terms, pattern.arguments, strict=True):
            if not isinstance(term, Variable):
                continue
            if isinstance(place, Fixed):
                self.bindings[term.name] = place.value
            elif self.slots.setdefault(place, term.name) != term.name:
                self.equal.append(f"{term.name} = {self.slots[place]}")
        taken = {term.name for term in terms if isinstance(term, Variable)}
        for slot, name in enumerate(pattern.names):
            if slot not in self.slots:
                self.slots[slot] = _free(name, taken)
                taken.add(self.slots[slot])
        self.times: dict[int, tuple[str, Number]] = {}
        answer = asked.time
        # The answer's time is the query's variable; what is said of the pattern's own is moved accordingly.
        if pattern.when.base != START:
            self.times[pattern.when.base] = (answer, asked.when.offset - pattern.when.offset)
        elif asked.when.base is not None:
            self.bindings[answer] = pattern.when.offset - asked.when.offset
        taken.add(answer)
        for index, name in enumerate(pattern.time_names):
            if index not in self.times:
                # Times that operators bring along have names nobody wrote.
                chosen = _free(name if name.isidentifier() else "T1", taken)
                self.times[index] = (chosen, 0)
                taken.add(chosen)

    def listed(self) -> ListedPattern:
        literals = sorted(self.pattern.literals, key=self._order)
        where = [
            *self.equal,
            *map(self._condition, self.pattern.conditions),
            *self._lookups(self.pattern.lookups),
            *self._bounds(),
        ]
        where += [
            f"{self._literal(each)} counts only from the start of the stream on"
            for each in literals
            if each.outside and not self._is_later(each)
        ]
        premises = [self._literal(each) for each in literals]
        for tally in self.pattern.tallies:
            premises.append(self._tally(tally))
            where += self._inside(tally)
        return ListedPattern(tuple(premises), self.bindings, tuple(dict.fromkeys(where)), self.pattern.rules)

    def _tally(self, tally: Tally) -> str:
        """How many, or how much, as premises of ways say it."""
        bound = self._term(tally.bound)
        words = AMOUNTS[tally.function, tally.operator]
        if tally.function == "count" and tally.operator in AWAY:
            away = AWAY[tally.operator]
            if isinstance(bound, Constant) and not isinstance(bound.value, str):
                bound = Constant(floor(bound.value) + 1 if away > 0 else ceil(bound.value) - 1)
            else:
                bound = Arithmetic("+" if away > 0 else "-", bound, Constant(1))
        elif tally.operator == "=" and bound == Constant(0):
            words = "at most "
        return f"{words}{show_term(bound)} of {self._differ(tally)}{self._literal(tally.premise)}"

    def _differ(self, tally: Tally) -> str:
        """What must differ, where that is not all that is open."""
        named = {self.pattern.terms.get(each.name) for term in tally.terms for each in term_variables(term)}
        opened: set[Any] = {each for each in tally.premise.arguments if each in tally.locals}
        is_timed = any(isinstance(each, Time) and each.base in tally.times for each in named)
        if opened <= named and (is_timed or not tally.times):
            return ""
        return f"{', '.join(show_term(self._term(each)) for each in tally.terms)}: "

    def _inside(self, tally: Tally) -> Iterator[str]:
        """Which choices count."""
        yield from map(self._condition, tally.conditions)
        yield from self._lookups(tally.lookups)
        for x, y, low, high in tally.reaches:
            if x.base == START or y.base == START:
                continue  # from the start of the stream on, as everything
            for limit, sign in ((low, ">"), (high, "<")):
                if limit is not None:
                    away, side = parts_of(limit)
                    other = _moved(self._time(y), away, spaced=True)
                    yield f"{self._time(x)} {sign}{'' if side else '='} {other}"

    def _is_later(self, premise: Premise) -> bool:
        """Whether a literal lies at the answer's time or after, and so never before the stream."""
        answer = self.pattern.when
        return premise.when.base == answer.base and premise.when.offset >= answer.offset

    def _order(self, premise: Premise) -> tuple[int, Number, str]:
        base = premise.when.base
        rank = 0 if base == START else 1 if base == self.pattern.when.base else 2 + base
        return rank, premise.when.offset, self._literal(premise)

    def _literal(self, premise: Premise) -> str:
        atom = show_atom(Atom(premise.predicate, tuple(map(self._argument, premise.arguments))))
        return f"{'' if premise.positive else 'not '}{atom}@{self._when(premise)}"

    def _when(self, premise: Premise) -> str:
        held = premise.held
        if held is None:
            return self._time(premise.when)
        first, last = "[" if held.closed_low else "(", "]" if held.closed_high else ")"
        return f"{first}{self._time(premise.when)},{self._time(held.until)}{last}"

    def _argument(self, argument: SlotOrConstant) -> Variable | Constant:
        return Constant(argument.value) if isinstance(argument, Fixed) else Variable(self.slots[argument])

    def _time(self, when: Time) -> str:
        if when.base == START:
            return show_number(when.offset)
        name, moved = self.times[when.base]
        return _moved(name, moved + when.offset)

    def _lookups(self, lookups: Sequence[Lookup]) -> Iterator[str]:
        for lookup in lookups:
            atom = show_atom(Atom(lookup.predicate, tuple(map(self._argument, lookup.arguments))))
            yield atom if lookup.positive else f"not {atom}"

    def _condition(self, condition: PatternCondition) -> str:
        operator = condition.operator if condition.wanted else OPPOSITES[condition.operator]
        return f"{show_term(self._term(condition.left))} {operator} {show_term(self._term(condition.right))}"

    def _term(self, term: Term) -> Term:
        match term:
            case Variable(name=name):
                place = self.pattern.terms.get(name)
                if isinstance(place, Time):
                    return Constant(place.offset) if place.base == START else self._time_term(place)
                return term if place is None else Variable(self.slots[place])
            case Negative(term=inner):
                return Negative(self._term(inner))
            case Arithmetic(operator=operator, left=left, right=right):
                return Arithmetic(operator, self._term(left), self._term(right))
            case _:
                return term

    def _time_term(self, when: Time) -> Term:
        name, moved = self.times[when.base]
        offset = moved + when.offset
        if not offset:
            return Variable(name)
        return Arithmetic("+" if offset > 0 else "-", Variable(name), Constant(max(offset, -offset)))

    def _bounds(self) -> Iterator[str]:
        """The bounds between times that do not follow from the others, nor from where the stream starts."""
        kept: dict[tuple[int, int], Any] = {(START, x): self._first(x) for x in range(len(self.pattern.time_names))}
        told = {pair: most for pair, most in self.pattern.upper.items() if most < kept.get(pair, most + 1)}
        for pair in sorted(told, reverse=True):
            rest = {other: most for other, most in told.items() if other != pair}
            if _follows(kept | rest, *pair, told[pair]):
                told = rest
        for (x, y), most in sorted(told.items()):
            limit, side = parts_of(most)
            equal = "" if side else "="
            if x == START:
                name, moved = self.times[y]
                yield f"{name} >{equal} {show_number(-limit - moved)}"
            elif y == START:
                name, moved = self.times[x]
                yield f"{name} <{equal} {show_number(limit - moved)}"
            else:
                (first, own), (second, other) = self.times[x], self.times[y]
                gap = limit + other - own
                if x > y:
                    yield f"{first} <{equal} {_moved(second, gap, spaced=True)}"
                else:
                    yield f"{second} >{equal} {_moved(first, -gap, spaced=True)}"

    def _first(self, x: int) -> Number:
        """How far before the start a time variable lies at most, since no literal and no answer lies before it."""
        offsets = [each.when.offset for each in self.pattern.literals if each.when.base == x and not each.outside]
        if self.pattern.when.base == x:
            offsets.append(self.pattern.when.offset)
        return min(offsets, default=0)


def _follows(bounds: dict[tuple[int, int], Any], x: int, y: int, most: Any) -> bool:
    """Whether x − y ≤ most follows: a shortest path through the other bounds."""
    best: dict[int, Any] = {x: 0}
    for _ in range(len(bounds) + 1):
        for (start, end), length in bounds.items():
            if start in best and (end not in best or best[start] + length < best[end]):
                best[end] = best[start] + length
    return y in best and best[y] <= most


def _moved(name: str, offset: Number, spaced: bool = False) -> str:
    if not offset:
        return name
    sign, away = "+" if offset > 0 else "-", show_number(max(offset, -offset))
    return f"{name} {sign} {away}" if spaced else f"{name}{sign}{away}"


def _free(name: str, taken: set[str]) -> str:
    plain, tries = name, count(2)
    while name in taken:
        name = f"{plain.rstrip('0123456789') or plain}{next(tries)}"
    return name


def with_names(atom: Atom) -> Atom:
    """The atom with names for the variables whose author gave none."""
    taken = {each.name for each in atom.arguments if isinstance(each, Variable) and not _is_nameless(each)}
    terms: list[Term] = []
    for place, each in enumerate(atom.arguments, 1):
        if isinstance(each, Variable) and _is_nameless(each):
            each = Variable(_free(f"X{place}", taken))
            taken.add(each.name)
        terms.append(each)
    return Atom(atom.predicate, tuple(terms))


def _is_nameless(variable: Variable) -> bool:
    return variable.is_anonymous or "#" in variable.name
