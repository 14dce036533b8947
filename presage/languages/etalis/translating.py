"""Event rules as rules: a predicate for each event, with its beginning and end as arguments, true at the end.

Inputs at points become such events; a pattern becomes its atoms and comparisons between their ends, a rule for each
way in which hulls and alternatives may come out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from presage.languages.etalis.event_patterns import (
    Alternative,
    Event,
    EventPattern,
    EventRule,
    Related,
    Where,
    WithinLength,
    Without,
    names,
    parts,
)
from presage.model.formulas import Atom, Comparison, Formula, Not, Pinned
from presage.model.statements import Head, Input, Query, Rule, Statement
from presage.model.terms import Arithmetic, Constant, Term, Variable
from presage.model.time import Pin


def event_name(predicate: str) -> str:
    return f"{predicate}_event"


@dataclass(frozen=True, slots=True)
class _Way:
    """One way in which a pattern matches: its literals, and between which ends."""

    literals: tuple[Formula, ...]
    begin: Variable
    end: Variable


class _Translator:
    def __init__(self, rule: EventRule, place: int) -> None:
        self.place = place
        self.numbers = count(1)
        taken = {name for each in _atoms(rule.pattern) for name in names(each)}
        self.prefix = next(
            prefix for prefix in ("T", "Time", "EventTime") if not any(n.startswith(prefix) for n in taken)
        )
        self.extra: list[Rule] = []

    def time(self) -> Variable:
        return Variable(f"{self.prefix}{next(self.numbers)}")

    def ways(self, pattern: EventPattern) -> Iterator[_Way]:
        match pattern:
            case Event(atom=atom):
                begin, end = self.time(), self.time()
                named = replace(atom, predicate=event_name(atom.predicate), arguments=(*atom.arguments, begin, end))
                yield _Way((Pinned(named, Pin(end)),), begin, end)
            case Alternative(left=left, right=right):
                yield from self.ways(left)
                yield from self.ways(right)
            case WithinLength(pattern=inner, length=length):
                for way in self.ways(inner):
                    short = Comparison("<=", Arithmetic("-", way.end, way.begin), Constant(length))
                    yield _Way((*way.literals, short), way.begin, way.end)
            case Where(pattern=inner, conditions=conditions):
                for way in self.ways(inner):
                    yield _Way((*way.literals, *conditions), way.begin, way.end)
            case Related(relation=relation, left=left, right=right):
                for one in self.ways(left):
                    for other in self.ways(right):
                        yield from _related(relation, one, other)
            case Without(between=between, first=first, last=last):
                yield from self._without(between, first, last)

    def _without(self, between: EventPattern, first: EventPattern, last: EventPattern) -> Iterator[_Way]:
        variables = tuple(
            Variable(name)
            for name in dict.fromkeys(n for part in (first, last) for each in _atoms(part) for n in names(each))
        )
        name = f"spoiled_{self.place}" + (f"_{len(self.extra)}" if self.extra else "")
        seen: set[tuple[Formula, ...]] = set()
        for one in self.ways(first):
            for middle in self.ways(between):
                for other in self.ways(last):
                    body = (
                        *one.literals,
                        *middle.literals,
                        *other.literals,
                        Comparison("<", one.end, middle.begin),
                        Comparison("<", middle.end, other.begin),
                    )
                    head = Pinned(Atom(name, (*variables, one.begin, other.end)), Pin(other.end))
                    if body not in seen:
                        seen.add(body)
                        self.extra.append(Rule(Head((head,)), body))
        for one in self.ways(first):
            for other in self.ways(last):
                spoiled = Pinned(Atom(name, (*variables, one.begin, other.end)), Pin(other.end))
                body = (*one.literals, *other.literals, Comparison("<", one.end, other.begin), Not(spoiled))
                yield _Way(body, one.begin, other.end)


def _atoms(pattern: EventPattern) -> list[Atom]:
    return [pattern.atom] if isinstance(pattern, Event) else [each for part in parts(pattern) for each in _atoms(part)]


def _less(left: Term, right: Term) -> Comparison:
    return Comparison("<", left, right)


def _same(left: Term, right: Term) -> Comparison:
    return Comparison("=", left, right)


def _related(relation: str, p: _Way, q: _Way) -> Iterator[_Way]:
    both = (*p.literals, *q.literals)
    conditions: dict[str, tuple[Comparison, ...]] = {
        "seq": (_less(p.end, q.begin),),
        "meets": (_same(p.end, q.begin),),
        "overlaps": (_less(p.begin, q.begin), _less(q.begin, p.end), _less(p.end, q.end)),
        "during": (_less(q.begin, p.begin), _less(p.end, q.end)),
        "starts": (_same(p.begin, q.begin), _less(p.end, q.end)),
        "finishes": (_same(p.end, q.end), _less(q.begin, p.begin)),
        "equals": (_same(p.begin, q.begin), _same(p.end, q.end)),
    }
    if relation in conditions:
        begin = p.begin if relation in ("seq", "meets", "overlaps") else q.begin
        yield _Way((*both, *conditions[relation]), begin, q.end)
        return
    if relation == "par":
        both = (
            *both,
            *(_less(one, other) for one in (p.begin, q.begin) for other in (p.end, q.end)),
        )
    # The hull: which of them begins first, and which ends last.
    for first, later in ((p, q), (q, p)):
        for early, last in ((p, q), (q, p)):
            begins = Comparison("<=" if first is p else "<", first.begin, later.begin)
            ends = Comparison("<=" if last is q else "<", early.end, last.end)
            yield _Way((*both, begins, ends), first.begin, last.end)


def translated(rules: Sequence[EventRule], inputs: Sequence[Input], queries: Sequence[Query]) -> list[Statement]:
    found: list[Statement] = list(inputs)
    at = Variable("T")
    for given in inputs:
        arguments = tuple(Variable(f"X{place + 1}") for place in range(len(given.columns)))
        head = Pinned(Atom(event_name(given.predicate), (*arguments, at, at)), Pin(at))
        found.append(Rule(Head((head,)), (Pinned(Atom(given.predicate, arguments), Pin(at)),)))
    for place, rule in enumerate(rules, 1):
        translator = _Translator(rule, place)
        made = []
        for way in translator.ways(rule.pattern):
            event = Atom(event_name(rule.head.predicate), (*rule.head.arguments, way.begin, way.end))
            made.append(Rule(Head((Pinned(event, Pin(way.end)),)), way.literals, span=rule.span))
        found += [replace(each, span=rule.span) for each in translator.extra]
        found += made
    for query in queries:
        ends = (Variable("From"), Variable("To"))
        found.append(Query(Atom(event_name(query.atom.predicate), (*query.atom.arguments, *ends))))
    return found
