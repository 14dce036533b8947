"""What event pattern engines are asked beside us: a program of ours, the same in their words, a stream, and a count of
matches by plain loops over the definition.

At any time there is at most one event of a key, and events of one time come in no order that would mean anything.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow

from bench.breadth import THREE, UNPAID, WITHIN

KEYS, MANY_KEYS, STEPS, FACTS, COUNTRIES = 5_000, 50_000, 1_000, 1_000_000, 8
FAR = 10_000
"""How much later a stream is the next time: nothing of before matters any more."""


@dataclass(frozen=True)
class Events:
    """Columns: which kind of event, when, of whom, with which word (-1: none) and which number."""

    kind: Any
    time: Any
    key: Any
    word: Any
    number: Any

    def __len__(self) -> int:
        return len(self.time)

    def by_key(self) -> dict[int, list[tuple[int, int, int, int]]]:
        """Of each key what happens: time, kind, word, number."""
        found: dict[int, list[tuple[int, int, int, int]]] = {}
        columns = (self.key, self.time, self.kind, self.word, self.number)
        for key, *rest in zip(*(each.tolist() for each in columns), strict=True):
            found.setdefault(key, []).append(tuple(rest))
        return found


@dataclass(frozen=True)
class PatternClass:
    name: str
    program: str
    inputs: dict[str, dict[str, str]]
    """By predicate what its columns are: `key`, `word` or `number` of events, whose kind is the predicate's place."""
    stream: Callable[[], Events]
    matches: Callable[[Events], int]
    esper: str
    siddhi: str = ""
    """Nothing, where it is not asked."""
    tells_more: bool = True
    """Whether it has possible answers."""

    def tables(self, events: Events) -> dict[str, Any]:
        """The events as Arrow tables, texts as texts."""
        found = {}
        for place, (name, columns) in enumerate(self.inputs.items()):
            own = np.flatnonzero(events.kind == place)
            made = {title: _column(events, kind, own) for title, kind in columns.items()}
            found[name] = pyarrow.table({**made, "time": pyarrow.array(events.time[own])})
        return found


def _column(events: Events, kind: str, rows: Any) -> Any:
    numbers = getattr(events, kind)[rows]
    if kind == "number":
        return pyarrow.array(numbers)
    names = pyarrow.array([f"{kind[0]}{number}" for number in range(int(numbers.max()) + 1)])
    return names.take(pyarrow.array(numbers))


# -- programs ---------------------------------------------------------------------------------------

TURBINES = """
timeline discrete.
input temp(device, level).
malf(X)@T :- temp(X, w0)@T, temp(X, w0)@T+1, temp(X, w0)@T+2.
query malf(X).
"""
HOT = """
timeline discrete.
input temp(device, value).
hot(X) :- temp(X, V), V > 70.
malf(X)@T :- hot(X)@T, hot(X)@T+1, hot(X)@T+2.
query malf(X).
"""
COUNT = """
timeline discrete.
input e(k, v: int).
often(K) :- e(K, V), count { W, T : window(600) e(K, W)@T } >= 5.
query often(K).
"""
SUM = """
timeline discrete.
input e(k, v: int).
total(K, S) :- e(K, V), S = sum { W, T : window(600) e(K, W)@T }.
query total(K, S).
"""

# -- the same for Esper -----------------------------------------------------------------------------

# A window that ends with time t+600 still has what happens then; time comes before events, hence the half second.
ESPER_ROW = """
@name('matches') select * from temp match_recognize (
  partition by key measures A.time as begun all matches after match skip to next row pattern (A B C)
  define A as {hot}, B as {hot_b} and B.time = A.time + 1, C as {hot_c} and C.time = A.time + 2);
"""
ESPER_TURBINES = ESPER_ROW.format(hot="A.text = 'w0'", hot_b="B.text = 'w0'", hot_c="C.text = 'w0'")
ESPER_HOT = ESPER_ROW.format(hot="A.value > 70", hot_b="B.value > 70", hot_c="C.value > 70")
ESPER_WITHIN = """
@name('matches') select one.key as key from pattern [
  every one=a -> two=b(key = one.key) where timer:within(600.5 sec)];
"""
ESPER_UNPAID = """
@name('matches') select one.key as key from pattern [
  every one=`order` -> (timer:interval(30.5 sec) and not paid(key = one.key))];
"""
ESPER_THREE = """
@name('matches') select one.key as key from pattern [
  every one=tx -> (two=tx(key = one.key, text != one.text)
    -> three=tx(key = one.key, text != one.text, text != two.text)) where timer:within(60.5 sec)];
"""
ESPER_COUNT = """
@name('matches') select key, time, count(*) as n from e#groupwin(key)#time(600.5 sec) group by key having count(*) >= 5;
"""
ESPER_SUM = """
@name('matches') select key, time, sum(value) as total from e#groupwin(key)#time(600.5 sec) group by key;
"""

# -- the same for Siddhi ----------------------------------------------------------------------------

# By the time in the event: a window that goes by playback took half as long again.
SIDDHI = """
define stream e (key string, value int, time long);
@info(name='matches')
from e#window.externalTime(time, 600500) select key, time, {wanted} insert into told;
"""
SIDDHI_COUNT = SIDDHI.format(wanted="count() as n group by key having n >= 5")
SIDDHI_SUM = SIDDHI.format(wanted="sum(value) as total group by key")

# -- streams ----------------------------------------------------------------------------------------


def readings() -> Events:
    """A reading of each device at each time, two thirds of them hot."""
    dice = np.random.default_rng(1)
    steps = FACTS // KEYS
    time, key = np.repeat(np.arange(steps), KEYS), np.tile(np.arange(KEYS), steps)
    hot = dice.random(len(time)) < 0.67
    return _events(time, key, word=np.where(hot, 0, 1), number=np.where(hot, 75, 65))


def two_kinds(second: int) -> Callable[[], Events]:
    """Of a thousandth of all events, those of the second kind."""

    def make() -> Events:
        time, key = _some_keys(KEYS)
        kind = (np.random.default_rng(2).random(len(time)) * 1_000 < second).astype(np.int32)
        return _events(time, key, kind=kind)

    return make


def payments() -> Events:
    time, key = _some_keys(KEYS)
    return _events(time, key, word=np.random.default_rng(2).integers(0, COUNTRIES, len(time)))


def amounts() -> Events:
    time, key = _some_keys(MANY_KEYS)
    return _events(time, key, number=np.random.default_rng(2).integers(0, 1_000_000, len(time)))


def _some_keys(keys: int) -> tuple[Any, Any]:
    """At each time some keys."""
    dice = np.random.default_rng(1)
    each = FACTS // STEPS
    return np.repeat(np.arange(STEPS), each), np.concatenate([dice.permutation(keys)[:each] for _ in range(STEPS)])


def _events(time: Any, key: Any, kind: Any = 0, word: Any = -1, number: Any = 0) -> Events:
    return Events(*(np.broadcast_to(each, len(time)).astype(np.int32) for each in (kind, time, key, word, number)))


# -- matches by the definition ----------------------------------------------------------------------


def three_in_a_row(events: Events) -> int:
    hot = {(key, time) for key, time, number in _rows(events, "key", "time", "number") if number > 70}
    return sum((key, time + 1) in hot and (key, time + 2) in hot for key, time in hot)


def within(events: Events) -> int:
    """Each first event that a second follows in time."""
    found = 0
    for happened in events.by_key().values():
        seconds = [time for time, kind, _, _ in happened if kind]
        for time, kind, _, _ in happened:
            found += not kind and bisect_right(seconds, time + 600) > bisect_left(seconds, time + 1)
    return found


def without(events: Events) -> int:
    """Each first event that no second follows in time."""
    found = 0
    for happened in events.by_key().values():
        seconds = [time for time, kind, _, _ in happened if kind]
        for time, kind, _, _ in happened:
            found += not kind and bisect_right(seconds, time + 30) == bisect_left(seconds, time)
    return found


def three_countries(events: Events) -> int:
    found = 0
    for happened in events.by_key().values():
        for place, (first, _, country, _) in enumerate(happened):
            lands = {country}
            for time, _, other, _ in happened[place + 1 :]:
                lands.add(other)
                if time > first + 60 or len(lands) == 3:
                    found += time <= first + 60
                    break
    return found


def often(events: Events) -> int:
    found = 0
    for happened in events.by_key().values():
        times = [time for time, *_ in happened]
        found += sum(place + 1 - bisect_left(times, time - 600) >= 5 for place, time in enumerate(times))
    return found


def each_once(events: Events) -> int:
    return len(events)


def _rows(events: Events, *names: str) -> Any:
    return zip(*(getattr(events, name).tolist() for name in names), strict=True)


KEY, AMOUNT = {"x": "key"}, {"k": "key", "v": "number"}
CLASSES = (
    PatternClass(
        "turbines", TURBINES, {"temp": {"device": "key", "level": "word"}}, readings, three_in_a_row, ESPER_TURBINES
    ),
    PatternClass(
        "three hot in a row", HOT, {"temp": {"device": "key", "value": "number"}}, readings, three_in_a_row, ESPER_HOT
    ),
    PatternClass("within 600", WITHIN, {"a": KEY, "b": KEY}, two_kinds(500), within, ESPER_WITHIN),
    PatternClass("unpaid orders", UNPAID, {"order": KEY, "paid": KEY}, two_kinds(300), without, ESPER_UNPAID),
    PatternClass(
        "three countries", THREE, {"tx": {"card": "key", "country": "word"}}, payments, three_countries, ESPER_THREE
    ),
    PatternClass(
        "count >= 5 within 600", COUNT, {"e": AMOUNT}, amounts, often, ESPER_COUNT, SIDDHI_COUNT, tells_more=False
    ),
    PatternClass(
        "sum per key within 600", SUM, {"e": AMOUNT}, amounts, each_once, ESPER_SUM, SIDDHI_SUM, tells_more=False
    ),
)
