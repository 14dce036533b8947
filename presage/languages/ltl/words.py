"""What is missing for a property to hold, in words, and when it is decided."""

from __future__ import annotations

from typing import Any

from presage.languages.ltl.formulas import (
    FALSE,
    TRUE,
    Before,
    Both,
    Either,
    LtlFormula,
    Next,
    SignedAtom,
    Truth,
    UntilRelease,
    negated,
    show,
    show_fact,
)
from presage.languages.ltl.progression import Duty, Left


def signature(left: Left, following: int) -> frozenset[frozenset[Any]]:
    """What is left, such that time alone does not change it: with the times by which something is owed."""
    return frozenset(frozenset(_told_once(duty, following) for duty in duties) for duties in left)


def _told_once(duty: Duty, following: int) -> Any:
    if isinstance(duty, UntilRelease) and not duty.past:
        begin = following + duty.low if duty.low else None
        end = None if duty.high is None else following + duty.high
        return (duty.dual, duty.left, duty.right, begin, end)
    return (duty, following)


def ways_of(left: Left, now: int, because: tuple[str, ...]) -> list[dict[str, Any]]:
    ways = []
    for duties in left:
        needs: list[tuple[int, str]] = []
        unless: list[str] = []
        decided: list[int | None] = []
        number = 0
        for duty in sorted(duties, key=repr):
            assert isinstance(duty, (SignedAtom, Truth, Both, Either, Next, UntilRelease, Before))
            text, begin, bounds, end = _premise(duty, now + 1, f"T{number + 1}")
            number += bool(bounds)
            needs.append((begin, text))
            unless += bounds
            decided.append(end)
        latest = None if None in decided else max((each for each in decided if each is not None), default=now)
        texts = tuple(text for _, text in sorted(needs))
        way = {"because": because, "needs": texts, "unless": tuple(unless), "decided_by": latest, "confidence": None}
        ways.append(way)
    return sorted(ways, key=lambda way: (len(way["needs"]), way["needs"]))


_FAR = 1 << 62


def _premise(duty: LtlFormula, following: int, variable: str) -> tuple[str, int, list[str], int | None]:
    """Its text, where it is sorted, the bounds of its open time, and when it is decided."""
    ahead = _end(duty, following)
    if isinstance(duty, SignedAtom):
        return f"{_literal(duty)}@{following}", following, [], ahead
    if isinstance(duty, UntilRelease) and not duty.past and isinstance(duty.right, SignedAtom):
        begin = following + duty.low
        end = None if duty.high is None else following + duty.high
        if duty.dual and duty.left == FALSE:
            stretch = f"[{begin},inf)" if end is None else f"[{begin},{end}]" if end > begin else str(begin)
            return f"{_literal(duty.right)}@{stretch}", begin, [], ahead
        if not duty.dual and duty.left == TRUE:
            if end == begin:
                return f"{_literal(duty.right)}@{begin}", begin, [], ahead
            bounds = [f"{variable} < {begin}"] + ([] if end is None else [f"{variable} > {end}"])
            return f"{_literal(duty.right)}@{variable}", _FAR, bounds, ahead
    return f"({show(duty)})@{following}", following, [], ahead


def _literal(fact: SignedAtom) -> str:
    return show_fact(fact) if fact.present else f"not {show_fact(negated(fact))}"  # type: ignore[arg-type]


def _end(formula: LtlFormula, at: int) -> int | None:
    """When a formula at a position is decided whatever comes; `None` if never."""
    match formula:
        case SignedAtom() | Truth():
            return at
        case Next(inner):
            return _end(inner, at + 1)
        case Before(inner, _):
            return _end(inner, at)
        case Both(left, right) | Either(left, right):
            ends = (_end(left, at), _end(right, at))
        case UntilRelease():
            if not formula.past and formula.high is None:
                return None
            last = at if formula.past else at + (formula.high or 0)
            ends = (_end(formula.left, last), _end(formula.right, last))
    first, second = ends
    return None if first is None or second is None else max(first, second)


def look_ahead(formula: LtlFormula) -> int:
    """How far a formula looks ahead, as far as that is bounded."""
    match formula:
        case SignedAtom() | Truth():
            return 0
        case Next(inner):
            return 1 + look_ahead(inner)
        case Before(inner, _):
            return look_ahead(inner)
        case Both(left, right) | Either(left, right):
            return max(look_ahead(left), look_ahead(right))
        case UntilRelease():
            ahead = 0 if formula.past else formula.low if formula.high is None else formula.high
            return ahead + max(look_ahead(formula.left), look_ahead(formula.right))
