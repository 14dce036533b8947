"""Which things are the same: by hash, or, while times are symbols, by comparing them one by one.

The engine over zones also runs with symbols in place of times (`hypothesis/courses`), where every comparison is noted,
since what follows from it holds for all times of which it is true. A hash notes nothing: so what is told apart by times
goes through here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from fractions import Fraction
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class _State:
    traced = False
    same: Callable[[str, str], bool]
    before: Callable[[str, str], bool]
    arranged: Callable[[list[str]], tuple[str, ...]]
    in_order: Callable[[list[Any]], list[Any]]
    each_between: Callable[[Any, Any], Any] | None = None


def tracing(on: bool, each_between: Callable[[Any, Any], Any] | None = None) -> None:
    """Whether times may be symbols from now on; `each_between` gives what stands for each whole number from one on, and
    before another."""
    _State.traced = on
    _State.each_between = each_between


def each_between(first: Any, after: Any) -> Any:
    """What stands for each whole number from one on and before another, where that is not known; `None` where they are
    numbers, or have to be told one by one."""
    return None if _State.each_between is None else _State.each_between(first, after)


Numbered = tuple[Any, int]


def precedes(one: Numbered, other: Numbered) -> bool:
    """Whether a pair of a number and a small one comes before another. Pairs as such ask first whether the numbers are
    the same, which is more than one has to know."""
    return bool(one[0] <= other[0] if one[1] < other[1] else one[0] < other[0])


def upto(one: Numbered, other: Numbered) -> bool:
    """Whether a pair comes before another, or is the same."""
    return bool(one[0] <= other[0] if one[1] <= other[1] else one[0] < other[0])


def first_of(one: Numbered, other: Numbered) -> Numbered:
    return one if upto(one, other) else other


def last_of(one: Numbered, other: Numbered) -> Numbered:
    return other if upto(one, other) else one


def ordered(items: Iterable[V], pair: Callable[[V], Numbered]) -> list[V]:
    """In the order of pairs; those with the same one as they come."""
    if not _State.traced:
        return sorted(items, key=pair)
    found: list[V] = []
    for each in items:
        place = len(found)
        while place and precedes(pair(each), pair(found[place - 1])):
            place -= 1
        found.insert(place, each)
    return found


def is_traced() -> bool:
    return _State.traced


def is_clearly(one: Numbered, other: Numbered) -> bool:
    """Whether two pairs are the same whatever symbols in them stand for."""
    if one[1] != other[1] or isinstance(one[0], float) or isinstance(other[0], float):
        return False
    away = one[0] - other[0]
    return type(away) in (int, Fraction) and away == 0


class Unordered:
    """A set of things that are compared one by one."""

    __slots__ = ("items",)

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = distinct(items)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Unordered)
            and len(self.items) == len(other.items)
            and all(any(one == each for each in other.items) for one in self.items)
        )

    def __hash__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class Pairs(MutableMapping[K, V]):
    """A mapping whose keys are compared one by one."""

    __slots__ = ("pairs",)

    def __init__(self) -> None:
        self.pairs: list[tuple[K, V]] = []

    def _place(self, key: K) -> int:
        return next((place for place, (known, _) in enumerate(self.pairs) if known == key), -1)

    def __getitem__(self, key: K) -> V:
        place = self._place(key)
        if place < 0:
            raise KeyError(key)
        return self.pairs[place][1]

    def __setitem__(self, key: K, value: V) -> None:
        place = self._place(key)
        if place < 0:
            self.pairs.append((key, value))
        else:
            self.pairs[place] = (self.pairs[place][0], value)

    def __delitem__(self, key: K) -> None:
        place = self._place(key)
        if place < 0:
            raise KeyError(key)
        del self.pairs[place]

    def __iter__(self) -> Iterator[K]:
        return iter([key for key, _ in self.pairs])

    def __len__(self) -> int:
        return len(self.pairs)


def distinct(items: Iterable[V]) -> list[V]:
    """Each once, in their order."""
    if not _State.traced:
        return list(dict.fromkeys(items))
    found: list[V] = []
    for each in items:
        if not any(each == known for known in found):
            found.append(each)
    return found


def mapping() -> MutableMapping[Any, Any]:
    """By keys in which there are times."""
    return Pairs() if _State.traced else {}


def as_set(items: Iterable[Any]) -> Any:
    """To be compared with other such sets only."""
    return Unordered(items) if _State.traced else frozenset(items)


class Text:
    """A text in which times and values are symbols, as far as it can be compared: what differs must not be in them."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Text)
        return same_text(self.text, other.text)

    def __lt__(self, other: Text) -> bool:
        return text_before(self.text, other.text)

    def __hash__(self) -> int:
        return 0


def comparable(text: str) -> Any:
    return Text(text) if _State.traced else text


def texts_of(items: Iterable[Any]) -> tuple[str, ...]:
    """Comparable texts as such, each once."""
    return tuple(each.text if isinstance(each, Text) else each for each in distinct(items))


def same_text(one: str, other: str) -> bool:
    if one == other:
        return True
    return _State.same(one, other)


def text_before(one: str, other: str) -> bool:
    if one == other:
        return False
    return _State.before(one, other)


def arranged(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts in their order, each once; where symbols leave that open, as who puts values in their places wants them."""
    found = list(texts)
    return _State.arranged(found) if _State.traced else tuple(dict.fromkeys(sorted(found)))


def in_order(told: Iterable[V]) -> list[V]:
    """What is told in its order: pairs of what that hangs on, a small number, a time and a text, and of that text."""
    found = list(told)
    return _State.in_order(found) if _State.traced else sorted(found)  # type: ignore[type-var]


def compare_texts_by(same: Any, before: Any, arranged: Any, in_order: Any) -> None:
    """How texts are compared and arranged while times are symbols."""
    _State.same, _State.before = staticmethod(same), staticmethod(before)
    _State.arranged, _State.in_order = staticmethod(arranged), staticmethod(in_order)
