"""Texts with holes, in which symbols stand for times and values, as far as they can be compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cmp_to_key
from itertools import cycle, groupby
from operator import itemgetter
from typing import Any

from presage.hypothesis.courses.symbolic import Terms, Trace, Untraceable, code_of, made
from presage.time.sameness import Text

HOLES = re.compile("\x01(\\d+)\x02|q__([kv])(\\d+)__q")
"""Where a text has a time, a part of the key, or a value."""
A_VALUE = "q__v"
LATER = "\x03\x04"
"""Before texts of a list that are put in their order when they have their values: those side by side with one of these
marks, among themselves."""


def arrange(texts: Iterable[str]) -> list[str]:
    """Texts with their values, where their order was left open."""
    found: list[str] = []
    for mark, group in groupby(texts, _mark):
        several = list(group)
        found += sorted(each[1:] for each in several) if mark else several
    return found


def _mark(text: str) -> str:
    return text[0] if text and text[0] in LATER else ""


def left_open(texts: Iterable[str]) -> list[tuple[int, int]]:
    """Between which places the order of texts was left open."""
    found = []
    place = 0
    for mark, group in groupby(texts, _mark):
        begin, place = place, place + sum(1 for _ in group)
        if mark:
            found.append((begin, place))
    return found


def text_order(
    trace: Trace, names: Sequence[Any]
) -> tuple[
    Callable[[str, str], bool],
    Callable[[str, str], bool],
    Callable[[list[str]], tuple[str, ...]],
    Callable[[list[Any]], list[Any]],
]:
    def parts(text: str) -> list[tuple[bool, str]]:
        text = text.lstrip(LATER)
        found: list[tuple[bool, str]] = []
        done = 0
        for hole in HOLES.finditer(text):
            found += [(False, each) for each in text[done : hole.start()]]
            found.append((True, hole.group()))
            done = hole.end()
        return found + [(False, each) for each in text[done:]]

    def value(hole: str) -> Any:
        return trace.sums[int(hole[1:-1])]

    def is_same_hole(one: str, other: str) -> bool:
        if one == other:
            return True
        if one[0] != "\x01" or other[0] != "\x01":
            return False  # different values: names are apart
        first, second = value(one), value(other)
        symbolic = made_of(trace, first) == made_of(trace, second)
        return bool(symbolic)

    def difference(one: str, other: str) -> tuple[tuple[bool, str], tuple[bool, str]] | None:
        first, second = parts(one), parts(other)
        end = (False, "")
        for place in range(max(len(first), len(second))):
            left = first[place] if place < len(first) else end
            right = second[place] if place < len(second) else end
            if left == right or (left[0] and right[0] and is_same_hole(left[1], right[1])):
                continue
            return left, right
        return None

    def same(one: str, other: str) -> bool:
        found = difference(one, other)
        if found is None:
            return True
        for hole, text in (found, found[::-1]):
            if hole[0] and not text[0] and (text[1].isalnum() or text[1] in '-"'):
                if hole[1][0] != "\x01" and text[1].isupper():
                    continue  # a variable: no value is written like one
                raise Untraceable("a text and what is put into another")
        return False

    def before(one: str, other: str) -> bool:
        found = difference(one, other)
        if found is None:
            return False
        if _mark(one) or _mark(other):
            raise Untraceable("the order of texts")
        left, right = found
        if left[0] and right[0] and left[1].startswith(A_VALUE) and right[1].startswith(A_VALUE):
            # The same follows either of them, a comma or a bracket: those come before all that may go on a name.
            return bool(names[_index(left[1])] < names[_index(right[1])])
        if left[0] or right[0]:
            raise Untraceable("the order of texts")
        return left[1] < right[1]

    def order(one: str, other: str) -> int:
        found = difference(one, other)
        if found is not None and (found[0][0] or found[1][0]):
            raise Untraceable("the order of texts")
        return -1 if before(one, other) else 1

    def arranged(texts: list[str]) -> tuple[str, ...]:
        found: list[str] = []
        for each in texts:
            if not any(same(each, known) for known in found):
                found.append(each)
        try:
            return tuple(sorted(found, key=cmp_to_key(order)))
        except Untraceable:
            return tuple(LATER[0] + each for each in found)

    def in_order(told: list[Any]) -> list[Any]:
        found: list[Any] = []
        marks = cycle(LATER)
        for group in by_times(told):
            try:
                found += sorted(group, key=itemgetter(1))
            except Untraceable:
                mark = next(marks)
                found += [((*order[:2], Text(mark + text.text)), Text(mark + text.text)) for order, text in group]
        return found

    return same, before, arranged, in_order


def by_times(told: list[Any]) -> list[list[Any]]:
    """What is told in its order but for the texts: together what has the same time."""
    groups: list[list[Any]] = []
    for each in told:
        order, time, _ = each[0]
        place = len(groups)
        while place:
            other, then, _ = groups[place - 1][0][0]
            if order == other and not then < time and time == then:
                groups[place - 1].append(each)
                break
            if other < order or (order == other and then < time):
                groups.insert(place, [each])
                break
            place -= 1
        else:
            groups.insert(0, [each])
    return groups


def _index(hole: str) -> int:
    return int(hole.removeprefix(A_VALUE).removesuffix("__q"))


def made_of(trace: Trace, known: tuple[Terms, Any]) -> Any:
    """A sum that was shown, as a number again."""
    terms, constant = known
    return made(code_of(terms), constant, trace.value(terms, constant), trace)
