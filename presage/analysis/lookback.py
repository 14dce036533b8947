"""How far behind the time at which a rule instance becomes final the facts lie that it looks at.

A run with several models keeps what it has grounded as long as a new instance of some rule may look at it. That
needs a bound for every rule; the first that has none is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from presage.analysis.differences import INF, NOW
from presage.analysis.subject import Subject
from presage.analysis.timeless import is_timeless
from presage.analysis.timeline import pin_variables
from presage.analysis.timing import RuleTiming, plain
from presage.analysis.uncertain import uncertain_predicates
from presage.model.formulas import Atom, Metric, Over, Pinned, walk
from presage.model.statements import Rule
from presage.model.terms import Bound, Now


@dataclass(frozen=True, slots=True)
class Unbounded:
    """A rule that keeps a run from forgetting, and why."""

    rule: Rule
    reason: str


AnchorName = str
"""`now`, the time at which a rule is looked at, or one of its time variables."""


@dataclass(frozen=True, slots=True)
class LookBack:
    """For each time that decides when an instance of a rule is final: how far before it facts of each predicate may
    lie."""

    rule: Rule
    behind: dict[AnchorName, dict[str, int]]
    pinned: dict[AnchorName, int]
    """How far before it anything may be pinned, in the head too."""
    starts_alone: bool
    """Whether the rule can fire where nothing of the stream holds."""


def anchors_of(subject: Subject, rule: Rule) -> frozenset[AnchorName]:
    """The times of an instance that may be its last. With `reading now` it is looked at anew at each time."""
    if subject.reading == "now":
        return frozenset((NOW,))
    return frozenset(pin_variables(rule)) | (frozenset() if is_timeless(rule) else {NOW})


def look_back(subject: Subject, timing: RuleTiming) -> LookBack | Unbounded:
    rule = timing.rule
    if subject.safety.schematic.get(subject.timings.index(timing)):
        return Unbounded(rule, "has variables that nothing binds")
    behind: dict[AnchorName, dict[str, int]] = {anchor: {} for anchor in anchors_of(subject, rule)}
    for node in (node for literal in rule.body for node in walk(literal)):
        if isinstance(node, Pinned) and node.pin.base is None:
            return Unbounded(rule, "looks at one fixed time for ever")
    for anchor in behind:
        for other in behind:
            if timing.bounds.range(anchor, other)[1] == INF:
                return Unbounded(rule, "has times that may lie any distance apart")
    for occurrence in timing.occurrences:
        name = occurrence.atom.predicate
        if subject.predicates[name].is_static:
            continue
        bounds = timing.bounds.copy()
        for constraint in occurrence.path:
            bounds.between(*constraint)
        for anchor, found in behind.items():
            distance: Bound = bounds.range(anchor, occurrence.node)[1] if bounds.check() else INF
            if not isinstance(distance, int):
                return Unbounded(rule, f"looks back at `{name}` without end")
            found[name] = max(distance, found.get(name, 0))
    pinned = dict.fromkeys(behind, 0)
    for node in (node for formula in rule.formulas() for node in walk(formula)):
        if isinstance(node, Pinned) and node.pin.base is not None:
            base = NOW if isinstance(node.pin.base, Now) else node.pin.base.name
            for anchor in behind:
                distance = timing.bounds.range(anchor, base)[1] - plain(node.pin.offset)
                if not isinstance(distance, int):
                    return Unbounded(rule, "has times that may lie any distance apart")
                pinned[anchor] = max(pinned[anchor], distance)
    needed = (each for each in timing.occurrences if each.conjunct and each.positive)
    starts_alone = all(subject.predicates[each.atom.predicate].is_static for each in needed)
    return LookBack(rule, behind, pinned, starts_alone)


def look_backs(subject: Subject) -> list[LookBack] | Unbounded:
    """How far each rule looks back; the first for which there is no bound."""
    for endless in _endless_heads(subject) if subject.reading == "every" else ():
        return endless
    found = []
    for timing in subject.timings:
        each = look_back(subject, timing)
        if isinstance(each, Unbounded):
            return each
        found.append(each)
    return found


def _endless_heads(subject: Subject) -> Iterator[Unbounded]:
    """The rules after which something that models may differ on holds for ever."""
    uncertain = uncertain_predicates(subject)
    for timing in subject.timings:
        for head in timing.rule.head_atoms:
            nodes = list(walk(head))
            endless = any(isinstance(node, (Metric, Over)) and node.interval.high is None for node in nodes)
            if endless and any(isinstance(node, Atom) and node.predicate in uncertain for node in nodes):
                yield Unbounded(timing.rule, "says something of all times to come")


def how_it_steps(subject: Subject) -> str:
    """What a run of a program that has no one model, or reads `now`, does at each step, and why."""
    found = look_backs(subject)
    if isinstance(found, Unbounded):
        return f"a run grounds all facts anew at each step: the rule in {subject.place(found.rule)} {found.reason}"
    if subject.reading == "now":
        return "with `reading now` each step is an evaluation of its own, over the facts that rules look back to"
    return "a run keeps what it has grounded from step to step"
