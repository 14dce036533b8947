"""What an individual need not remember: the fewer facts there are, the more individuals are alike."""

from __future__ import annotations

from typing import Any

from presage.hypothesis.ranges.engine import AnswersKey, Ranges
from presage.hypothesis.ranges.told import Told, beyond
from presage.patterns.premises import Fixed
from presage.time import sameness
from presage.time.stretches import BEGINNING, Stretch


def forget_superfluous(engine: Ranges, now: Any) -> None:
    """Forgets facts of which nothing that is still open makes any use: fewer individuals differ then.

    What is open hangs on the ways of the answers that were looked at: a fact that none of them has as evidence is none
    of what can still come. For where another piece has it, a way needs no more for the same times of the answer; what
    arrives is something less to need for both, so it stays like that. What makes an absence hopeless is another matter;
    and facts that may come a second time stay.
    """
    asked: dict[str, set[str]] = {}
    for name, found in engine.matchings.items():
        for matching in found:
            for literal in matching.pattern.literals:
                asked.setdefault(literal.predicate, set()).add(name if literal.positive else "")
    looked_at = {name for name, _ in engine.looked_at}
    used: dict[str, list[tuple[Any, Stretch]]] = {}
    spoken: list[Any] = []
    for (name, arguments), pieces in engine.looked_at.items():
        told = engine.told.get((name, arguments))
        confirmed = () if told is None else told.confirmed
        sure = (each for each in pieces if not each.needs and not each.limits)
        going_on = (each for each in sure if not confirmed or any(True for _ in beyond(each, confirmed)))
        for piece in (*engine.ways[name, arguments], *going_on):
            for predicate, row, times in piece.because:
                used.setdefault(predicate, []).append((row, times))
        spoken += (fact for piece in pieces for fact in piece.because)
    for predicate, names in asked.items():
        if predicate not in engine.memory.facts or not names <= looked_at or not names <= set(engine.asked):
            continue
        if not all(is_single(matching) for name in names for matching in engine.matchings[name]):
            continue
        known, delay = used.get(predicate, []), engine.delays.plain[predicate]

        def is_wanted(row: Any, times: Stretch, name: str = predicate, known: Any = known, delay: Any = delay) -> bool:
            if (row, times) in known:
                return True
            # Where one answer is looked at alone, facts about others may well be new to it.
            return (engine.only is None or (name, row, times) in spoken) and times.first[0] + delay > now

        engine.memory.keep(predicate, is_wanted)
    _forget_refuting(engine, now, asked, looked_at)
    for key in list(engine.looked_at):
        told = engine.told.get(key)
        if told is None or not told.confirmed:
            continue
        # What nothing can lead to again needs not be known.
        told.confirmed = [each for each in told.confirmed if any(True for _ in engine.pieces(key, each))]
        _forget_beginning(engine, key, told, now)
        if not told:
            del engine.told[key]
            engine.wakes.pop(key, None)


def _forget_beginning(engine: Ranges, key: AnswersKey, told: Told, now: Any) -> None:
    """Forgets when it began that answers are confirmed, if all before is decided: it is never looked at again."""
    span = engine.spans[key[0]]
    if span is not None and told.confirmed and not told.at:
        first, last = told.confirmed[0]
        if first != BEGINNING and first[0] <= now - span:
            told.confirmed[0] = Stretch(BEGINNING, last)


def _forget_refuting(engine: Ranges, now: Any, asked: dict[str, set[str]], looked_at: set[str]) -> None:
    """Forgets facts that make no absence hopeless that somebody still asks for: without them all is the same."""
    if engine.negates_derived:
        return
    single = all(is_single(matching) for found in engine.matchings.values() for matching in found)
    if not single or not set(engine.asked) <= looked_at:
        return

    def all_pieces() -> list[Any]:
        return [sameness.as_set(engine.pieces(key, engine.undecided(key))) for key in engine.looked_at]

    known = None
    for predicate, names in asked.items():
        if "" not in names or predicate not in engine.memory.facts:
            continue
        delay = engine.delays.plain[predicate]
        for row, times in [(row, each) for row, several in engine.memory.facts[predicate].items() for each in several]:
            if times.first[0] + delay > now:
                continue
            known = all_pieces() if known is None else known
            kept = engine.memory.facts[predicate][row]
            rest = [each for each in kept if each is not times]
            engine.memory.facts[predicate][row] = rest
            if all_pieces() != known:
                engine.memory.facts[predicate][row] = kept
        engine.memory.keep(predicate, lambda row, times: True)


def is_single(matching: Any) -> bool:
    """Whether an individual has one answer only, at each time: its arguments are the key."""
    pattern = matching.pattern
    slots = {each for each in pattern.arguments if not isinstance(each, Fixed)}
    return all(slots <= set(literal.arguments) for literal in pattern.literals)
