"""Terms made the same by what variables become.

What a rule invents is a term of its own: made of the rule, the variable of `exists`, and what the value depends on. It
meets variables, and what the same rule invents for the same values at the same time; no constant is one of those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from presage.model.formulas import Atom
from presage.model.terms import Variable, subterms
from presage.patterns.clause import When


@dataclass(frozen=True, slots=True)
class InventedValue:
    """A value that a rule invents."""

    rule: int
    """Which of the program's rules."""
    name: str
    frontier: tuple[PatternTerm, ...]
    """The values that it depends on."""
    times: tuple[When, ...]
    """The times that it depends on."""


PatternTerm = Any
"""A term, or an invented value, which can stand for one nowhere but here."""
Unifier = dict[str, PatternTerm]
KnownTimes = dict[str, When]


def time_of(when: When, times: KnownTimes) -> When:
    """What a time has become."""
    while when.base is not None and when.base in times:
        known = times[when.base]
        when = When(known.base, known.offset + when.offset)
    return when


def same_time(first: When, second: When, times: KnownTimes) -> KnownTimes | None:
    """Two times made one."""
    one, other = time_of(first, times), time_of(second, times)
    if one.base == other.base:
        return times if one.offset == other.offset else None
    if one.base is not None:
        return {**times, one.base: When(other.base, other.offset - one.offset)}
    assert other.base is not None
    return {**times, other.base: When(None, one.offset - other.offset)}


def resolve(term: PatternTerm, bindings: Unifier) -> PatternTerm:
    while isinstance(term, Variable) and term.name in bindings:
        term = bindings[term.name]
    return term


def resolve_whole(term: PatternTerm, bindings: Unifier, times: KnownTimes) -> PatternTerm:
    """A term with what it depends on."""
    found = resolve(term, bindings)
    if not isinstance(found, InventedValue):
        return found
    return replace(
        found,
        frontier=tuple(resolve_whole(each, bindings, times) for each in found.frontier),
        times=tuple(time_of(each, times) for each in found.times),
    )


def unify(
    left: tuple[PatternTerm, ...], right: tuple[PatternTerm, ...], bindings: Unifier, times: KnownTimes
) -> tuple[Unifier, KnownTimes] | None:
    bindings = dict(bindings)
    todo = list(zip(left, right, strict=True))
    while todo:
        first, second = todo.pop(0)
        a, b = resolve(first, bindings), resolve(second, bindings)
        if a == b and not isinstance(a, InventedValue):
            continue
        if isinstance(a, Variable) or isinstance(b, Variable):
            variable, other = (a, b) if isinstance(a, Variable) else (b, a)
            assert isinstance(variable, Variable)
            if variable.name in made_of(other, bindings):
                return None
            bindings[variable.name] = other
        elif isinstance(a, InventedValue) and isinstance(b, InventedValue) and (a.rule, a.name) == (b.rule, b.name):
            todo += zip(a.frontier, b.frontier, strict=True)
            for one, another in zip(a.times, b.times, strict=True):
                known = same_time(one, another, times)
                if known is None:
                    return None
                times = known
        else:
            return None
    return bindings, times


def made_of(term: PatternTerm, bindings: Unifier) -> set[str]:
    """The variables that an invented value depends on."""
    found = resolve(term, bindings)
    if isinstance(found, InventedValue):
        return {name for each in found.frontier for name in _names(each, bindings)}
    return set()


def _names(term: PatternTerm, bindings: Unifier) -> set[str]:
    found = resolve(term, bindings)
    return {found.name} if isinstance(found, Variable) else made_of(found, bindings)


def inventions_in(term: PatternTerm, bindings: Unifier) -> Iterator[InventedValue]:
    """The invented values of which a term speaks."""
    for part in [term] if isinstance(term, InventedValue) else subterms(term):
        found = resolve(part, bindings)
        if isinstance(found, InventedValue):
            yield found


def renamed(atom: Atom, mark: str) -> Atom:
    """The atom with a mark at each of its variables."""

    def put(term: PatternTerm) -> PatternTerm:
        match term:
            case Variable(name=name):
                return Variable(name + mark)
            case InventedValue(frontier=frontier, times=times):
                marked = tuple(when if when.base is None else When(when.base + mark, when.offset) for when in times)
                return replace(term, frontier=tuple(map(put, frontier)), times=marked)
            case _:
                return term

    return with_terms(atom, put)


def with_terms(atom: Atom, put: Callable[[PatternTerm], PatternTerm]) -> Atom:
    return Atom(atom.predicate, tuple(map(put, atom.arguments)))
