"""How long things matter: after how long an answer is decided, and for how long a fact may be asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from presage.hypothesis.delays import Delays
from presage.hypothesis.lifetimes import Lifespan
from presage.patterns.zoned import Moment, RangePattern
from presage.time.zones import ANSWER, START, Zone

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
    found: dict[str, Lifespan] = {}

    def of(name: str) -> Lifespan:
        if name not in found:
            latest: Lifespan = 0
            for pattern in patterns[name]:
                for literal in pattern.literals:
                    away = distance(pattern.zone, literal.high, latest=True)
                    inner = of(literal.predicate) if literal.predicate in patterns and not literal.positive else None
                    if literal.predicate not in patterns or literal.positive:
                        inner = delays.of(literal.predicate, [None] * len(literal.arguments))
                    if away is None or inner is None or latest is None:
                        latest = None
                        break
                    latest = max(latest, away + inner)
                if latest is None:
                    break
            found[name] = latest
        return found[name]

    for name in patterns:
        of(name)
    return found


def needed(patterns: RangePatterns, asked: Iterable[str], spans: Mapping[str, Lifespan]) -> dict[str, Lifespan]:
    """For how long after its time a fact of each input may matter."""
    found: dict[str, Lifespan] = {}
    keep: dict[str, Lifespan] = {}
    todo = [(name, spans[name]) for name in asked]
    while todo:
        name, kept = todo.pop()
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
