"""Which queries with negation can be worked off by individuals, and what their patterns look like then.

A query qualifies if every atom below it, at any depth, has the same variables: those of the answer, each once and
for each predicate at the same places, and if every time is the answer's plus a constant. What is said of one choice
of values for the variables, an *individual*, then hangs on the facts of this individual alone, and two
individuals with the same facts at the same distances from now are told the same about.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from presage.hypothesis.engine import Hypotheses
from presage.patterns.literals import Lit
from presage.patterns.premises import START, Fixed, Pattern, Premise, SlotOrConstant

MOST_NODES = 64

AtomTemplate = tuple[int | Fixed, ...]
"""The arguments of an atom: numbers of the individual's values, and constants."""


@dataclass(frozen=True, slots=True)
class InputCell:
    """An input atom of an individual."""

    predicate: str
    template: AtomTemplate
    delay: int
    keep: int
    """How long after its time a fact may still matter."""


@dataclass(frozen=True, slots=True)
class AtomNode:
    """An atom of an individual that is asked for or negated."""

    predicate: str
    template: AtomTemplate


@dataclass(frozen=True, slots=True)
class NegatedNode:
    node: int
    offset: int
    outside: bool
    """Whether it counts as settled at a time before the stream."""


@dataclass(frozen=True, slots=True)
class NodePattern:
    """A pattern of a node: cells and negated nodes at distances from its time."""

    index: int
    """Among the node's rules."""
    pattern: Pattern
    premises: tuple[tuple[int, int], ...]
    absences: tuple[NegatedNode, ...]
    low: int
    """The first time it is for."""
    slots: tuple[int, ...]
    """For each of the individual's values, the pattern's slot."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.pattern.names[slot] for slot in self.slots)


@dataclass
class Layout:
    """All that one query's answers hang on."""

    name: str
    width: int
    """How many values make an individual."""
    cells: list[InputCell] = field(default_factory=list)
    nodes: list[AtomNode] = field(default_factory=list)
    rules: list[tuple[NodePattern, ...]] = field(default_factory=list)
    """By node."""
    answers: list[int] = field(default_factory=list)
    """The nodes that are the query's own."""
    negated: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    """For each node, how long after its time it may be asked for."""
    settled: list[int] = field(default_factory=list)
    """For each node, after how long it is decided whatever arrives."""
    lead: int | None = None
    """How far ahead of now an absence may speak for an answer."""
    early: int = 0
    """Answers at times before this are looked at from the first step on."""
    above: list[tuple[int, ...]] = field(default_factory=list)
    """For each node, how far from it answers lie that it may decide."""
    lits: dict[tuple[bool, int, int], Lit] = field(default_factory=dict)
    origins: dict[Lit, tuple[bool, str, AtomTemplate, int]] = field(default_factory=dict)

    def lit(self, positive: bool, index: int, offset: int) -> Lit:
        """A literal of an individual, its values and the answer's time left out."""
        key = (positive, index, offset)
        if key not in self.lits:
            atom = self.cells[index] if positive else self.nodes[index]
            arguments = tuple(each.value if isinstance(each, Fixed) else f"k{each}" for each in atom.template)
            self.lits[key] = Lit(positive, atom.predicate, arguments, offset)
            self.origins[self.lits[key]] = (positive, atom.predicate, atom.template, offset)
        return self.lits[key]

    @property
    def reach(self) -> int:
        """The greatest distance of a literal from its atom."""
        rules = [rule for rules in self.rules for rule in rules]
        premises = [abs(offset) for rule in rules for _, offset in rule.premises]
        return max(premises + [abs(each.offset) for rule in rules for each in rule.absences], default=0)

    @property
    def longest(self) -> int:
        """How long after its time an atom may be asked for at most."""
        return max(self.kept)


class _Unfit(Exception):
    """A query that does not qualify."""


def candidates(hypotheses: Hypotheses) -> list[Layout] | None:
    """The layouts of all queries; `None` if some query has none, or nothing is negated."""
    declared = [each for known in hypotheses.delays.predicates.values() for each in known.inputs]
    if not hypotheses.discrete or any(each.rate is not None or each.learned for each in declared):
        return None
    if not any(pattern.absences for patterns in hypotheses.patterns.values() for pattern in patterns):
        return None
    try:
        return [_Builder(name, hypotheses).layout() for name in sorted(hypotheses.queries)]
    except _Unfit:
        return None


class _Builder:
    def __init__(self, name: str, hypotheses: Hypotheses) -> None:
        self.name, self.hypotheses = name, hypotheses
        self.places: dict[str, tuple[int, ...]] = {}
        """For each predicate, where the individual's values are."""
        self.cells: dict[tuple[str, AtomTemplate], int] = {}
        self.nodes: dict[tuple[str, AtomTemplate], int] = {}
        self.found = Layout(name, 0)

    def layout(self) -> Layout:
        found, engine = self.found, self.hypotheses
        patterns = engine.patterns[self.name]
        if not patterns:
            raise _Unfit
        places = [tuple(at for at, each in enumerate(one.arguments) if not isinstance(each, Fixed)) for one in patterns]
        self.places[self.name] = places[0]
        found.width = len(places[0])
        if not found.width or any(each != places[0] for each in places):
            raise _Unfit
        for pattern in patterns:
            keys = {place: index for index, place in enumerate(places[0])}
            template = tuple(
                each if isinstance(each, Fixed) else keys[place] for place, each in enumerate(pattern.arguments)
            )
            node = self.node(self.name, template)
            if node not in found.answers:
                found.answers.append(node)
        todo = 0
        while todo < len(found.nodes):
            found.rules.append(self.rules(found.nodes[todo]))
            todo += 1
        for node in found.answers:
            # Which of several rules speaks for everybody would depend on how many each makes an exception of.
            if sum(not rule.premises for rule in found.rules[node]) > 1:
                raise _Unfit
        found.negated = sorted({each.node for rules in found.rules for rule in rules for each in rule.absences})
        self.times()
        return found

    def times(self) -> None:
        found, engine = self.found, self.hypotheses
        lead = engine.leads[self.name]
        found.lead = None if lead is None else self.whole(lead)
        found.early = max(
            (
                len(engine.sight.never_below(pattern))
                for pattern in engine.patterns[self.name]
                if pattern.absences or not pattern.premises
            ),
            default=0,
        )
        for node in found.nodes:
            found.kept.append(self.whole(engine.spans.kept(node.predicate)))
            found.settled.append(self.whole(engine.spans.settled[node.predicate]))
            found.above.append(
                tuple(self.whole(far) for name, far in engine.above.get(node.predicate, ()) if name == self.name)
            )

    def whole(self, number: object) -> int:
        if not isinstance(number, int):
            raise _Unfit
        return number

    def node(self, predicate: str, template: AtomTemplate) -> int:
        key = (predicate, template)
        if key not in self.nodes:
            if len(self.nodes) == MOST_NODES:
                raise _Unfit
            self.nodes[key] = len(self.nodes)
            self.found.nodes.append(AtomNode(predicate, template))
        return self.nodes[key]

    def cell(self, predicate: str, template: AtomTemplate) -> int:
        key = (predicate, template)
        if key not in self.cells:
            delays, spans = self.hypotheses.delays, self.hypotheses.spans
            delay = self.whole(delays.plain.get(predicate))
            keep = self.whole(spans.asked.get(predicate, 0))
            self.cells[key] = len(self.cells)
            self.found.cells.append(InputCell(predicate, template, delay, max(keep, delay)))
        return self.cells[key]

    def rules(self, node: AtomNode) -> tuple[NodePattern, ...]:
        found: list[NodePattern] = []
        for pattern in self.hypotheses.patterns[node.predicate]:
            rule = self.rule(len(found), node, pattern)
            if rule is not None:
                found.append(rule)
        return tuple(found)

    def rule(self, index: int, node: AtomNode, pattern: Pattern) -> NodePattern | None:
        base = pattern.when.base
        if pattern.lookups or pattern.conditions or base == START or len(pattern.time_names) != 1:
            raise _Unfit
        bound: dict[int, int | Fixed] = {}
        for want, have in zip(pattern.arguments, node.template, strict=True):
            if isinstance(want, Fixed):
                if not isinstance(have, Fixed):
                    raise _Unfit
                if want != have:
                    return None
            elif bound.setdefault(want, have) != have:
                raise _Unfit
        if len(bound) != len(pattern.names) or pattern.upper.get((base, START)) is not None:
            raise _Unfit
        premises = []
        for premise in pattern.premises:
            if premise.outside:
                raise _Unfit
            premises.append(
                (self.cell(premise.predicate, self.template(premise, bound)), self.offset(premise, pattern))
            )
        absences = [
            NegatedNode(self.node(each.predicate, self.template(each, bound)), self.offset(each, pattern), each.outside)
            for each in pattern.absences
        ]
        least = pattern.upper.get((START, base))
        low = self.whole(pattern.when.offset - (0 if least is None else least))
        slots = {key: slot for slot, key in bound.items() if not isinstance(key, Fixed)}
        if len(slots) != self.found.width:
            raise _Unfit
        keys = tuple(slots[key] for key in range(self.found.width))
        return NodePattern(index, pattern, tuple(premises), tuple(absences), max(low, 0), keys)

    def offset(self, premise: Premise, pattern: Pattern) -> int:
        if premise.when.base != pattern.when.base:
            raise _Unfit
        return self.whole(premise.when.offset - pattern.when.offset)

    def template(self, premise: Premise, bound: dict[int, int | Fixed]) -> AtomTemplate:
        """A literal in the individual's values: each once, at the places where its predicate always has them."""

        def known(argument: SlotOrConstant) -> int | Fixed:
            if not isinstance(argument, Fixed) and argument not in bound:
                raise _Unfit
            return argument if isinstance(argument, Fixed) else bound[argument]

        found = tuple(map(known, premise.arguments))
        keys = {each: place for place, each in enumerate(found) if not isinstance(each, Fixed)}
        if sorted(keys) != list(range(self.found.width)) or sum(not isinstance(each, Fixed) for each in found) != len(
            keys
        ):
            raise _Unfit
        places = tuple(keys[key] for key in range(self.found.width))
        if self.places.setdefault(premise.predicate, places) != places:
            raise _Unfit
        return found
