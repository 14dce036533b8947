"""The partition key: on which columns a stream may be sharded without changing any answer.

A key gives every predicate that depends on the stream one argument position, such that in every
rule the same value stands at the position of every atom, in body and head alike. Then facts with
different values never meet, and each shard can work alone. Several keys together are a finer key.

Static predicates, and derived ones that depend on the program's own facts only, are known on every
shard and need no key. A program without a key names the rules that prevent it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from presage.analysis.aggregates import needs_a_tuple
from presage.analysis.graph import reachable
from presage.analysis.route import CLINGO, Route
from presage.analysis.strata import Stratification
from presage.analysis.subject import Subject
from presage.analysis.timing import Occurrence, RuleTiming
from presage.model.formulas import (
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Implies,
    Not,
    Or,
    Reset,
    Top,
    Windowed,
    aggregates,
    children,
    walk,
)
from presage.model.statements import Rule
from presage.model.terms import Constant, Term, Variable
from presage.model.windows import RowsWindow

KeyPositions = dict[str, int]
"""For each predicate the position of its key argument."""

MOST_KEYS_TRIED = 200


@dataclass(frozen=True, slots=True)
class Blocker:
    rule: Rule
    reason: str


@dataclass(frozen=True, slots=True)
class Partition:
    """Per input the columns of the key; `None` with the reasons where there is none."""

    columns: dict[str, list[str]] | None
    blockers: tuple[Blocker, ...] = ()
    everywhere: frozenset[str] = frozenset()
    """The predicates that do not depend on the stream: with a key, every shard knows all of them."""
    places: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """For every predicate that depends on the stream the arguments that are the key, in the order of the columns."""


class _Refused(Exception):
    def __init__(self, rule: Rule, reason: str) -> None:
        self.blocker = Blocker(rule, reason)
        super().__init__(reason)


def partition_key(subject: Subject, route: Route, strata: Stratification) -> Partition:
    rules = [timing for timing in subject.relevant_rules() if timing.occurrences or timing.heads]
    keyed = _keyed(subject)
    blockers = list(_outright(subject, route, strata, rules, keyed))
    if blockers:
        return Partition(None, tuple(blockers))
    groups = _groups(rules, keyed)
    number_of = {name: number for number, group in enumerate(groups) for name in group}
    rules_of: list[list[RuleTiming]] = [[] for _ in groups]
    for timing in rules:
        for number in {number_of[atom.predicate] for atom, _ in _atoms_of(timing) if atom.predicate in number_of}:
            rules_of[number].append(timing)
    columns: dict[str, list[str]] = {}
    places: dict[str, tuple[int, ...]] = {}
    for group, own in zip(groups, rules_of, strict=True):
        keys, refused = _keys(subject, own, group)
        if not keys:
            blockers.extend(refused)
        for name in sorted(group):
            known = subject.predicates[name]
            places[name] = tuple(key[name] for key in keys if name in key)
            if known.is_input:
                columns[name] = [_column(subject, name, key[name]) for key in keys]
    if blockers or any(not names for names in columns.values()):
        return Partition(None, tuple(dict.fromkeys(blockers)))
    for name, known in subject.predicates.items():
        if known.is_input and name not in columns and known.is_declared:
            columns[name] = [_column(subject, name, index) for index in range(known.arity)]
    if not columns:
        return Partition(None)
    return Partition(columns, everywhere=frozenset(subject.predicates) - keyed, places=places)


def _column(subject: Subject, name: str, position: int) -> str:
    columns = subject.predicates[name].columns
    return columns[position].name if position < len(columns) else str(position + 1)


def _keyed(subject: Subject) -> frozenset[str]:
    """The predicates that depend on the stream."""
    above: dict[str, set[str]] = {}
    for head, bodies in subject.successors.items():
        for body in bodies:
            above.setdefault(body, set()).add(head)
    inputs = {name for name, each in subject.predicates.items() if each.is_input and name in subject.relevant}
    return frozenset(reachable(inputs, above)) & subject.relevant


def _outright(
    subject: Subject, route: Route, strata: Stratification, rules: list[RuleTiming], keyed: frozenset[str]
) -> Iterator[Blocker]:
    """What no choice of columns can put right."""
    numbers = {id(rule): index for index, rule in enumerate(subject.program.rules)}
    for timing in rules:
        rule = timing.rule
        if numbers[id(rule)] in subject.safety.schematic:
            yield Blocker(rule, "an answer that leaves a variable open is about all shards")
        elif any(head.atom.predicate in keyed for head in timing.heads) and not _needs_the_stream(timing, keyed):
            yield Blocker(rule, "it needs no fact of the stream to hold, so it would hold on every shard")
        if rule.is_constraint and route.engine == CLINGO:
            yield Blocker(rule, "a constraint that fails on one shard leaves no model on any")
        for occurrence in timing.occurrences:
            for window in occurrence.rows:
                yield from (Blocker(rule, reason) for reason in _why_not_rows(occurrence, window))
        if any(_counts_above_a_reset(literal) for literal in rule.body):
            yield Blocker(rule, "how far back a window of rows reaches depends on all shards")
    if not strata.stratified:
        edge = next(edge for edge in strata.cycle if edge.negative)
        yield Blocker(edge.rule, "a program that may have no model is decided as a whole")


def _needs_the_stream(timing: RuleTiming, keyed: frozenset[str]) -> bool:
    """Whether a rule can fire only where some fact of the stream, or derived from it, holds."""
    return any(_needs(literal, keyed) for literal in timing.rule.body)


def _needs(formula: Formula, keyed: frozenset[str]) -> bool:
    match formula:
        case Atom(predicate=predicate):
            return predicate in keyed
        case Comparison():
            return any(
                needs_a_tuple(formula, each) and any(_needs(literal, keyed) for literal in each.body)
                for each in aggregates(formula)
            )
        case Top() | Not() | Implies():
            return False
        case Or(parts=parts):
            return all(_needs(part, keyed) for part in parts)
        case BinaryMetric(right=right):
            return _needs(right, keyed)
        case _:
            return any(_needs(part, keyed) for part in children(formula))


def _why_not_rows(occurrence: Occurrence, window: RowsWindow) -> Iterator[str]:
    if not window.by:
        yield "a window of rows counts the facts of all shards"
    elif [pattern.predicate for pattern in window.by] != [occurrence.atom.predicate]:
        yield "a window's partitions are made of other facts than those it is asked for"
    elif not occurrence.conjunct:
        yield "how far back a window of rows reaches depends on all shards"


def _counts_above_a_reset(formula: Formula) -> bool:
    """Whether rows say at which times something is looked at that is not among them: no occurrence knows of these."""
    return any(
        isinstance(each, Windowed)
        and isinstance(each.window, RowsWindow)
        and any(isinstance(below, Reset) for below in walk(each))
        for each in walk(formula)
    )


def _atoms_of(timing: RuleTiming) -> Iterator[tuple[Atom, bool]]:
    """The atoms of a rule, and whether each is in the head."""
    for head in timing.heads:
        yield head.atom, True
    for occurrence in timing.occurrences:
        yield occurrence.atom, False


def _groups(rules: list[RuleTiming], keyed: frozenset[str]) -> list[frozenset[str]]:
    """Predicates that some rule relates, directly or through others: each group has keys of its own."""
    joined: dict[str, set[str]] = {name: set() for name in keyed}
    for timing in rules:
        names = [atom.predicate for atom, _ in _atoms_of(timing) if atom.predicate in keyed]
        for first, second in pairwise(names):
            joined[first].add(second)
            joined[second].add(first)
    groups: list[frozenset[str]] = []
    seen: set[str] = set()
    for name in sorted(keyed):
        if name not in seen:
            groups.append(frozenset(reachable({name}, joined)))
            seen |= groups[-1]
    return groups


def _keys(subject: Subject, rules: list[RuleTiming], group: frozenset[str]) -> tuple[list[KeyPositions], list[Blocker]]:
    """All keys of a group that use each position once, and why others fail."""
    inputs = sorted(name for name in group if subject.predicates[name].is_input)
    anchor = min(inputs, key=lambda name: (subject.predicates[name].arity, name))
    found: list[KeyPositions] = []
    refused: list[Blocker] = []
    for position in range(subject.predicates[anchor].arity):
        tries = [0]
        key = _extend(rules, group, {anchor: position}, refused, tries)
        if key is not None and not any(key[name] == other[name] for other in found for name in inputs):
            found.append(key)
    if not found and rules and subject.predicates[anchor].arity == 0:
        rule = next((r.rule for r in rules if any(a.predicate == anchor for a, _ in _atoms_of(r))), rules[0].rule)
        refused.append(Blocker(rule, f"`{anchor}` has no argument to shard on"))
    return found, refused


def _extend(
    rules: list[RuleTiming], group: frozenset[str], key: KeyPositions, refused: list[Blocker], tries: list[int]
) -> KeyPositions | None:
    """Completes a partial key: first what is forced, rule by rule, then by trying what is left open."""
    tries[0] += 1
    if tries[0] > MOST_KEYS_TRIED:
        return None
    key = dict(key)
    by_name: dict[str, list[RuleTiming]] = {}
    for timing in rules:
        for name in {atom.predicate for atom, _ in _atoms_of(timing)}:
            by_name.setdefault(name, []).append(timing)
    todo = list(rules)
    open_choices: dict[str, list[int]] = {}
    while todo:
        timing = todo.pop()
        try:
            choices = _choices(timing, group, key)
        except _Refused as found:
            refused.append(found.blocker)
            return None
        if choices is None:
            continue
        name, positions = choices
        if len(positions) == 1:
            key[name] = positions[0]
            todo.extend(by_name[name])
        else:
            open_choices[name] = positions
    for name, positions in open_choices.items():
        if name not in key:
            for position in positions:
                complete = _extend(rules, group, {**key, name: position}, refused, tries)
                if complete is not None:
                    return complete
            return None
    return key


def _choices(timing: RuleTiming, group: frozenset[str], key: KeyPositions) -> tuple[str, list[int]] | None:
    """The positions a predicate of the rule may take, if one is still open; raises if none is left."""
    same = _representatives(timing.rule)
    here = [(atom, in_head) for atom, in_head in _atoms_of(timing) if atom.predicate in group]
    decided = [(atom, in_head) for atom, in_head in here if atom.predicate in key]
    if not decided:
        return None
    _check_windows(timing, group, key)
    value = _value(decided[0][0], key[decided[0][0].predicate], same)
    for atom, in_head in decided[1:]:
        other = _value(atom, key[atom.predicate], same)
        if other != value or (isinstance(other, Variable) and other.name.startswith("_#")):
            where = "derives" if in_head else "joins"
            raise _Refused(timing.rule, f"it {where} `{atom.predicate}` facts of another shard")
    for atom, in_head in here:
        if atom.predicate in key:
            continue
        fitting = [index for index in range(len(atom.arguments)) if _value(atom, index, same) == value]
        if not fitting:
            where = "does not carry" if in_head else "is joined without"
            raise _Refused(timing.rule, f"`{atom.predicate}` {where} the key")
        return atom.predicate, fitting
    return None


def _check_windows(timing: RuleTiming, group: frozenset[str], key: KeyPositions) -> None:
    for occurrence in timing.occurrences:
        for window in occurrence.rows:
            for pattern in window.by:
                if pattern.predicate not in group:
                    continue
                position = key.get(pattern.predicate)
                if position is None:
                    continue
                argument = pattern.arguments[position] if position < len(pattern.arguments) else None
                named = isinstance(argument, Variable) and not argument.is_anonymous
                if not named and not isinstance(argument, Constant):
                    raise _Refused(timing.rule, "a window's partitions span shards")


def _value(atom: Atom, position: int, same: dict[str, Term]) -> Term | None:
    if position >= len(atom.arguments):
        return None
    argument = atom.arguments[position]
    return same.get(argument.name, argument) if isinstance(argument, Variable) else argument


def _representatives(rule: Rule) -> dict[str, Term]:
    """For each variable that the body equates with another or with a constant, one term for all."""
    terms: dict[str, Term] = {}

    def find(term: Term) -> Term:
        while isinstance(term, Variable) and term.name in terms:
            term = terms[term.name]
        return term

    for literal in rule.body:
        match literal:
            case Comparison(operator="=", left=Variable() | Constant() as left, right=Variable() | Constant() as right):
                first, second = find(left), find(right)
                if first == second:
                    continue
                if isinstance(first, Variable):
                    terms[first.name] = second
                elif isinstance(second, Variable):
                    terms[second.name] = first
    return {name: find(Variable(name)) for name in terms}
