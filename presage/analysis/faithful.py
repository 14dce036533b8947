"""Model-faithful acyclicity (MFA): whether the chase of all conceivable data ends ([LARS+] section 4).

All constants are taken for one, every predicate holds of it everywhere, and the program without windows is chased with
terms f(…) for values, one function for each rule, variable and, where values depend on it, time. If no term ever
contains its own function, there are finitely many, and every chase over the timeline ends: data can only do less. The
class is wider than weak acyclicity, since it follows values through joins instead of positions. It is first tried
without time, as strip(P), then over [0, horizon], as the temporal grounding. A chase that grows too long is given up,
and the program is not recognised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product

from presage.analysis.acyclic import DEFAULT_HORIZON, Relaxed, equal_variables, invents, relax
from presage.analysis.differences import INF, NOW
from presage.analysis.subject import Subject
from presage.model.formulas import Atom, Formula, Implies, Not, Or, Pinned, children, with_children
from presage.model.statements import Rule
from presage.model.terms import Now, Variable

# So many matches are looked at before a chase is given up.
MOST_MATCHES = 200_000


@dataclass(frozen=True, slots=True)
class NullTerm:
    """A value: the one constant has no function. `within` are all functions in it."""

    function: tuple[object, ...] = ()
    values: tuple[NullTerm, ...] = ()
    within: frozenset[tuple[object, ...]] = field(default=frozenset(), compare=False)


ANY = NullTerm()
NullFact = tuple[str, tuple[NullTerm, ...], int]


@dataclass(frozen=True, slots=True)
class Faithful:
    acyclic: bool
    rule: Rule | None = None
    """The rule whose values led to another value of the same kind."""


class _TooLong(Exception):
    pass


class _Cycle(Exception):
    def __init__(self, rule: Rule) -> None:
        self.rule = rule


def faithful_acyclicity(subject: Subject, horizon: int = DEFAULT_HORIZON) -> Faithful:
    if not invents(subject):
        return Faithful(True)
    found: Rule | None = None
    for last in [0, horizon] if subject.discrete else [0]:
        try:
            _Chase(subject, last).run()
        except _Cycle as cycle:
            found = cycle.rule
        except _TooLong:
            pass
        else:
            return Faithful(True)
    return Faithful(False, found)


class _Chase:
    def __init__(self, subject: Subject, last: int) -> None:
        self.last = last
        self.rules: list[tuple[int, Rule, Relaxed, dict[str, str]]] = []
        for number, rule in enumerate(subject.program.rules):
            for body in product(*(_alternatives(literal) for literal in rule.body)):
                one = replace(rule, body=body)
                relaxed = relax(one, max(last, 1))
                if rule.head is not None and (last == 0 or relaxed.bounds.check()):
                    self.rules.append((number, rule, relaxed, equal_variables(one)))
        self.facts: dict[str, set[NullFact]] = {}
        self.new: dict[str, set[NullFact]] = {}
        self.matches = 0
        for name, each in subject.predicates.items():
            for time in range(last + 1):
                self.new.setdefault(name, set()).add((name, (ANY,) * each.arity, time))

    def run(self) -> None:
        first = True
        while self.new or first:
            new, self.new = self.new, {}
            for name, facts in new.items():
                self.facts.setdefault(name, set()).update(facts)
            for number, rule, relaxed, same in self.rules:
                if not relaxed.body:
                    if first:
                        self._tell(number, rule, relaxed, same, {}, {})
                    continue
                for place in range(len(relaxed.body)):
                    if relaxed.body[place][0].predicate in new:
                        self._match(number, rule, relaxed, same, new, place)
            first = False

    def _match(
        self,
        number: int,
        rule: Rule,
        relaxed: Relaxed,
        same: dict[str, str],
        new: dict[str, set[NullFact]],
        place: int,
    ) -> None:
        """Every way to satisfy the body in which the literal at a place is new."""
        order = [relaxed.body[place], *relaxed.body[:place], *relaxed.body[place + 1 :]]

        def go(depth: int, binding: dict[str, NullTerm], times: dict[str, int]) -> None:
            self.matches += 1
            if self.matches > MOST_MATCHES:
                raise _TooLong
            if depth == len(order):
                self._tell(number, rule, relaxed, same, binding, times)
                return
            atom, node = order[depth]
            for fact in tuple((new if depth == 0 else self.facts).get(atom.predicate, ())):
                more = self._at(relaxed, times, node, fact[2])
                found = None if more is None else _unified(atom, fact[1], binding, same)
                if found is not None and more is not None:
                    go(depth + 1, found, more)

        go(0, {}, {})

    def _at(self, relaxed: Relaxed, times: dict[str, int], node: str, time: int) -> dict[str, int] | None:
        """The times with one more, if it fits the others."""
        if self.last == 0:
            return times
        if node in times:
            return times if times[node] == time else None
        low, high = relaxed.bounds.range(node, "start")
        if not low <= time <= high:
            return None
        for other, known in times.items():
            low, high = relaxed.bounds.range(node, other)
            if (low != -INF and time - known < low) or (high != INF and time - known > high):
                return None
        return {**times, node: time}

    def _tell(
        self,
        number: int,
        rule: Rule,
        relaxed: Relaxed,
        same: dict[str, str],
        binding: dict[str, NullTerm],
        times: dict[str, int],
    ) -> None:
        assert rule.head is not None
        shown = _times_shown(rule, relaxed)
        for placed in self._placed(relaxed, times, [*shown, *(node for _, node in relaxed.head)]):
            full = dict(binding)
            invented = {each.name for each in rule.head.exists}
            if invented:
                function = number, *((placed[node] for node in shown) if self.last and not rule.head.lasting else ())
                arguments = (each for atom, _ in relaxed.head for each in atom.arguments if isinstance(each, Variable))
                names = sorted({same.get(each.name, each.name) for each in arguments} - invented)
                frontier = tuple(binding.get(name, ANY) for name in names)
                within = frozenset().union(*(each.within for each in frontier))
                for name in invented:
                    own = (*function, name)
                    if own in within:
                        raise _Cycle(rule)
                    full[name] = NullTerm(own, frontier, within | {own})
            for atom, node in relaxed.head:
                values = tuple(
                    full.get(same.get(each.name, each.name), ANY) if isinstance(each, Variable) else ANY
                    for each in atom.arguments
                )
                fact = atom.predicate, values, placed.get(node, 0)
                if fact not in self.facts.get(atom.predicate, ()):
                    self.new.setdefault(atom.predicate, set()).add(fact)

    def _placed(self, relaxed: Relaxed, times: dict[str, int], nodes: list[str]) -> Iterator[dict[str, int]]:
        """The times with all that some nodes may have."""
        if self.last == 0 or not nodes:
            yield times
            return
        for time in range(self.last + 1) if nodes[0] not in times else [times[nodes[0]]]:
            self.matches += 1
            more = self._at(relaxed, times, nodes[0], time)
            if more is not None:
                yield from self._placed(relaxed, more, nodes[1:])


def _alternatives(formula: Formula) -> list[Formula]:
    """Formulas without `or`, one of which holds at some time if the formula does."""
    match formula:
        case Or(parts=parts):
            return [found for part in parts for found in _alternatives(part)]
        case Not() | Implies():
            return [formula]
        case _:
            below = product(*(_alternatives(part) for part in children(formula)))
            return [with_children(formula, parts) for parts in below]


def _times_shown(rule: Rule, relaxed: Relaxed) -> list[str]:
    """The times that a head shows, which values depend on: none where all atoms have a fixed time."""
    assert rule.head is not None
    shown = []
    for formula, (_, node) in zip(rule.head.atoms, relaxed.head, strict=True):
        if not isinstance(formula, Pinned) or isinstance(formula.pin.base, Now):
            shown.append(NOW)
        elif formula.pin.base is not None:
            shown.append(node)
    return list(dict.fromkeys(shown))


def _unified(
    atom: Atom, values: tuple[NullTerm, ...], binding: dict[str, NullTerm], same: dict[str, str]
) -> dict[str, NullTerm] | None:
    found = dict(binding)
    for argument, value in zip(atom.arguments, values, strict=True):
        if isinstance(argument, Variable):
            if found.setdefault(same.get(argument.name, argument.name), value) != value:
                return None
        elif value != ANY:
            return None
    return found
