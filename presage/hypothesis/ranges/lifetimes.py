"""How long things matter: after how long an answer is decided, and for how long a fact may be asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from presage.hypothesis.delays import Delays
from presage.hypothesis.lifetimes import Lifespan
from presage.patterns.zoned import Moment, RangePattern
from presage.time.zones import ANSWER, START, Zone

ROUNDS = 64
RangePatterns = Mapping[str, Sequence[RangePattern]]


def distance(zone: Zone, moment: Moment, latest: bool) -> Lifespan:
    """The greatest or least distance of a moment from the answer's time."""
    if moment.base == START:
        # At a fixed time: as far as the answer's own time goes.
        bound = zone.bound(START, ANSWER) if latest else zone.bound(ANSWER, START)
        return None if bound is None else moment.offset + (bound[0] if latest else -bound[0])
    bound = zone.bound(moment.base, ANSWER) if latest else zone.bound(ANSWER, moment.base)
    if bound is None:
        return None
    return moment.offset + (bound[0] if latest else -bound[0])


def settled(patterns: RangePatterns, delays: Delays) -> dict[str, Lifespan]:
    """After how long an answer of each predicate is decided whatever arrives."""
    found: dict[str, Lifespan] = dict.fromkeys(patterns, 0)
    for turn in range(ROUNDS):
        before = dict(found)
        for name, known in patterns.items():
            latest: Lifespan = 0
            for literal, away in (
                (each, distance(one.zone, each.high, True)) for one in known for each in one.literals
            ):
                if literal.predicate in patterns and not literal.positive:
                    inner = found[literal.predicate]
                else:
                    inner = delays.of(literal.predicate, [None] * len(literal.arguments))
                latest = None if None in (away, inner, latest) else max(latest, away + inner)  # type: ignore[operator, type-var]
            found[name] = latest if latest == before[name] or turn < ROUNDS - 1 else None
        if found == before:
            break
    return found


def kept(patterns: RangePatterns, spans: Mapping[str, Lifespan]) -> dict[str, Lifespan]:
    """For how long after its time what became of an atom may matter to what hangs on it and is not decided."""
    found = dict(spans)
    for name, known in patterns.items():
        for pattern in known:
            for literal in pattern.literals:
                away, span = distance(pattern.zone, literal.low, latest=False), spans[name]
                need = None if away is None or span is None else max(0, span - away)
                before = found.get(literal.predicate, need)
                found[literal.predicate] = None if before is None or need is None else max(before, need)
    return found


def circles(patterns: RangePatterns) -> dict[str, frozenset[str]]:
    """For each derived predicate that hangs on its own absence those in a circle with it."""
    direct = {
        name: {each.predicate for pattern in known for each in pattern.absences if each.predicate in patterns}
        for name, known in patterns.items()
    }
    reached: dict[str, set[str]] = {}
    for name in patterns:
        found: set[str] = set()
        todo = [*direct[name]]
        while todo:
            each = todo.pop()
            if each not in found:
                found.add(each)
                todo += direct[each]
        reached[name] = found
    return {
        name: frozenset(each for each in found if name in reached[each])
        for name, found in reached.items()
        if name in found
    }


def needed(
    patterns: RangePatterns,
    asked_for: Iterable[str],
    spans: Mapping[str, Lifespan],
    circular: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> dict[str, Lifespan]:
    """For how long after its time a fact of each input may matter. What became of atoms in a circle is remembered."""
    found: dict[str, Lifespan] = {}
    keep: dict[str, Lifespan] = {}
    todo = [(name, spans[name]) for name in asked_for]
    while todo:
        name, kept = todo.pop()
        if name in circular:
            kept = spans[name]
        if name in keep and (keep[name] is None or (kept is not None and keep[name] >= kept)):  # type: ignore[operator]
            continue
        keep[name] = kept
        for pattern in patterns[name]:
            for literal in pattern.literals:
                away = distance(pattern.zone, literal.low, latest=False)
                need = None if away is None or kept is None else kept - away
                if not literal.positive and literal.predicate in patterns:
                    todo.append((literal.predicate, need))
                    continue
                before = found.get(literal.predicate, need)
                found[literal.predicate] = None if before is None or need is None else max(before, need)
    return found
