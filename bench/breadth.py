"""Hypothetical answers of ordinary programs, beside a loop by hand for each of them.

A loop by hand is what a good programmer would write for that one rule, with dicts and sets: it gets the same columns as
lists, and gives the same changes as tuples with their premises. Ours gives columns. What is learned about a program in
the first steps is learned once; so both run once over a stream before they are timed over it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow

import presage
from bench.common import Row, timed

KEYS, STEPS = 20_000, 40
Step = dict[str, dict[str, Any]]
"""What arrives together: columns by predicate."""
Change = tuple[Any, ...]


@dataclass(frozen=True)
class Class:
    name: str
    program: str
    stream: Callable[[], list[Step]]
    by_hand: Callable[[list[Step]], int]
    """How many changes there are."""
    static: Callable[[], dict[str, Any]] = dict
    """Tables that are known before the stream."""


THRESHOLD = """
timeline discrete.
input temp(device, value) delay 1.
hot(X) :- temp(X, V), V > 70.
malf(X)@T :- hot(X)@T, hot(X)@T+1, hot(X)@T+2.
query malf(X).
"""
LIMITS = """
timeline discrete.
input temp(device, value) delay 1.
static limit(device, value).
hot(X) :- temp(X, V), limit(X, L), V > L.
malf(X)@T :- hot(X)@T, hot(X)@T+1, hot(X)@T+2.
query malf(X).
"""
RATES = THRESHOLD.replace("delay 1.", "delay {0: 0.8, 1: 0.15} rate 0.7.")
SHORT_STOP = """
timeline discrete.
input pos(vehicle).
input moves(vehicle).
input off_map(vehicle).
moving(X) :- moves(X).
moving(X) :- off_map(X).
stop(X) :- moving(X), once[1] pos(X), once[2] moving(X).
stop(X) :- moving(X), once[1] pos(X), once[2] pos(X), once[3] moving(X).
stop(X) :- moving(X), once[1] pos(X), once[2] pos(X), once[3] pos(X), once[4] moving(X).
stop(X) :- moving(X), once[1] pos(X), once[2] pos(X), once[3] pos(X), once[4] pos(X), once[5] moving(X).
query stop(X).
"""
AFTER = """
timeline discrete.
input a(x).
input b(x).
q(X)@T :- a(X)@T, b(X)@U, T < U, U <= T + 600.
query q(X).
"""
WITHIN = """
timeline discrete.
input a(x).
input b(x).
q(X) :- a(X), eventually[1,600] b(X).
query q(X).
"""
UNPAID = """
timeline discrete.
input order(x).
input paid(x).
unpaid(X) :- order(X), always[0,30] not paid(X).
query unpaid(X).
"""
THREE = """
timeline discrete.
input tx(card, country).
q(X)@T :- tx(X, A)@T, tx(X, B)@U, tx(X, C)@V, T < U, U < V, V <= T + 60, A != B, B != C, A != C.
query q(X).
"""
MEET = """
timeline discrete.
input tram(id, stop).
input bus(id, stop).
meet(A, B, S) :- tram(A, S), eventually[0,5] bus(B, S).
query meet(A, B, S).
"""
COUNTRIES = 8


def readings() -> list[Step]:
    """A reading of each device at each time, two thirds of them above the threshold."""
    dice = np.random.default_rng(1)
    names = np.array([f"wt{index}" for index in range(KEYS)])
    return [
        {"temp": {"device": names, "value": np.where(dice.random(KEYS) < 0.67, 75, 65), "time": np.full(KEYS, now)}}
        for now in range(STEPS)
    ]


def limits() -> dict[str, Any]:
    """One device in five may be hotter."""
    names = [f"wt{index}" for index in range(KEYS)]
    return {"limit": pyarrow.table({"device": names, "value": [80 if index % 5 == 0 else 70 for index in range(KEYS)]})}


def positions() -> list[Step]:
    """Each vehicle stands or moves at each time."""
    dice = np.random.default_rng(1)
    names = np.array([f"v{index}" for index in range(KEYS)])
    stream = []
    for now in range(STEPS):
        stands = dice.random(KEYS) < 0.5
        stream.append(
            {
                "pos": {"vehicle": names[stands], "time": np.full(int(stands.sum()), now)},
                "moves": {"vehicle": names[~stands], "time": np.full(int((~stands).sum()), now)},
            }
        )
    return stream


def pairs(first: str, second: str) -> Callable[[], list[Step]]:
    """Facts of two kinds, each about another twentieth of all keys at each time."""

    def make() -> list[Step]:
        dice = np.random.default_rng(1)
        names = np.array([f"k{index}" for index in range(KEYS)])
        some = KEYS // 20
        stream = []
        for now in range(STEPS):
            order = dice.permutation(KEYS)
            when = np.full(some, now)
            stream.append(
                {
                    first: {"x": names[order[:some]], "time": when},
                    second: {"x": names[order[some : 2 * some]], "time": when},
                }
            )
        return stream

    return make


def payments() -> list[Step]:
    """A twentieth of all cards pay somewhere at each time."""
    dice = np.random.default_rng(1)
    names = np.array([f"c{index}" for index in range(KEYS)])
    lands = np.array([f"l{index}" for index in range(COUNTRIES)])
    some = KEYS // 20
    return [
        {
            "tx": {
                "card": names[dice.permutation(KEYS)[:some]],
                "country": lands[dice.integers(0, COUNTRIES, some)],
                "time": np.full(some, now),
            }
        }
        for now in range(STEPS)
    ]


def stops() -> list[Step]:
    """Trams and buses, each kind at another twentieth of all stops at each time."""
    dice = np.random.default_rng(1)
    places = np.array([f"s{index}" for index in range(KEYS)])
    some = KEYS // 20
    stream = []
    for now in range(STEPS):
        order = dice.permutation(KEYS)
        stream.append(
            {
                kind: {
                    "id": np.array([f"{kind}{index}" for index in dice.integers(0, 500, some)]),
                    "stop": places[order[begin : begin + some]],
                    "time": np.full(some, now),
                }
                for kind, begin in (("tram", 0), ("bus", some))
            }
        )
    return stream


def three_countries(stream: list[Step]) -> int:
    """Each payment waits for two from other countries; each of these from another."""
    waiting: dict[str, list[list[Any]]] = {}
    changes = 0
    for now, step in enumerate(stream):
        told: list[Change] = []
        columns = step["tx"]
        for card, country in zip(columns["card"], columns["country"], strict=True):
            still = []
            for each in waiting.get(card, ()):
                first, lands = each
                if first + 60 < now:
                    continue
                if country not in lands:
                    lands.append(country)
                    if len(lands) == 3:
                        told.append(("confirmed", card, first, ()))
                        continue
                    missing = (("tx", card, now + 1, first + 60, tuple(lands)),)
                    told.append(("possible", card, first, missing))
                still.append(each)
            still.append([now, [country]])
            waiting[card] = still
            both = ("tx", card, now + 1, now + 60, (country,))
            told.append(("possible", card, now, (both, both)))
        changes += len(told)
    return changes


def meetings(stream: list[Step]) -> int:
    """Each tram waits for buses at its stop, for five ticks, and meets each of them once."""
    waiting: dict[str, list[tuple[str, int, set[str]]]] = {}
    changes = 0
    for now, step in enumerate(stream):
        told: list[Change] = []
        for tram, stop in zip(step["tram"]["id"], step["tram"]["stop"], strict=True):
            waiting.setdefault(stop, []).append((tram, now, set()))
            told.append(("possible", tram, stop, now, (("bus", stop, now, now + 5),)))
        for bus, stop in zip(step["bus"]["id"], step["bus"]["stop"], strict=True):
            trams = waiting.get(stop)
            if trams:
                trams = waiting[stop] = [each for each in trams if each[1] >= now - 5]
                for tram, first, met in trams:
                    if bus not in met:
                        met.add(bus)
                        told.append(("confirmed", tram, bus, stop, first, ()))
        changes += len(told)
    return changes


def three_in_a_row(stream: list[Step], most: dict[str, int] | None = None, rated: bool = False) -> int:
    """Three hot readings in a row, by device and first time as bits; a reading may come one tick late. Each device may
    have a limit of its own; `rated`: with how likely it is that what is missing still comes."""
    least = 70
    # Of a reading that is due, and of one whose time has passed: 0.7 · 0.95, and 0.7 · 0.15 of what is left.
    ahead, late = 0.7 * 0.95, 0.7 * 0.15 / (1 - 0.7 * 0.8)
    matches: dict[tuple[str, int], int] = {}
    due: dict[int, list[tuple[str, int]]] = {}
    chance = [1 + (2 if bits & 3 == 3 else 1 if bits & 1 else 0) for bits in range(8)]
    changes = 0
    for now, step in enumerate(stream):
        columns = step["temp"]
        told: list[Change] = []
        changed: dict[tuple[str, int], int] = {}
        for device, value, time in zip(columns["device"], columns["value"], columns["time"], strict=True):
            if value <= (least if most is None else most[device]):
                continue
            for bit, first in ((1, time), (2, time - 1), (4, time - 2)):
                key = (device, first)
                bits = matches.get(key)
                if bits is None:
                    if first < 0 or (bit > 1 and first + 1 < now):
                        continue
                    bits = 0
                if not bits & bit:
                    matches[key] = changed[key] = bits | bit
        for key, bits in changed.items():
            until = key[1] + chance[bits]
            if bits == 7:
                told.append(("confirmed", *key, ()))
                due.setdefault(until + 1, []).append(key)
            elif until > now:
                missing = tuple(key[1] + place for place in range(3) if not bits >> place & 1)
                if rated:
                    likely = 1.0
                    for time in missing:
                        likely *= ahead if time > now else late
                    told.append(("possible", *key, missing, likely))
                else:
                    told.append(("possible", *key, missing))
                due.setdefault(until, []).append(key)
            elif bits & (bits - 1) == 0:
                del matches[key]
        for key in due.pop(now, ()):
            bits = matches.get(key, 7)
            if bits == 7:
                matches.pop(key, None)
            elif key[1] + chance[bits] <= now:
                del matches[key]
                told.append(("refuted", *key, ()))
        changes += len(told)
    return changes


def limited(stream: list[Step]) -> int:
    columns = limits()["limit"].to_pydict()
    return three_in_a_row(stream, dict(zip(columns["device"], columns["value"], strict=True)))


def rated(stream: list[Step]) -> int:
    return three_in_a_row(stream, rated=True)


Ways = tuple[tuple[str, ...], ...]


def stop_ways(last: str, ahead: int) -> Ways | None:
    """What is missing for a stop that ends so many ticks from now, in each way for which something has been seen of a
    vehicle whose last ticks, the latest first, were as given; nothing if it cannot be."""
    found = []
    for length in range(1, 5):
        wanted = ["M", *"P" * length, "M"]
        missing = []
        seen = False
        for back, kind in enumerate(wanted):
            ago = back - ahead
            if ago < 0:
                missing.append(f"{kind}{-ago}")
            elif ago < len(last) and last[ago] == kind:
                seen = True
            else:
                break
        else:
            if seen:
                found.append(tuple(missing))
    return tuple(found) or None


def short_stops(stream: list[Step]) -> int:
    """What a vehicle did in its last ticks says all: what may follow is worked out once for each such history."""
    known: dict[str, list[Ways | None]] = {}
    history: dict[str, str] = {}
    changes = 0

    def ways(last: str) -> list[Ways | None]:
        found = known.get(last)
        if found is None:
            found = known[last] = [stop_ways(last, ahead) for ahead in range(6)]
        return found

    for now, step in enumerate(stream):
        told: list[Change] = []
        for kind, name in (("P", "pos"), ("M", "moves")):
            for vehicle in step[name]["vehicle"]:
                before = history.get(vehicle, "")
                after = history[vehicle] = (kind + before)[:6]
                possible = ways(before)
                for ahead, missing in enumerate(ways(after)):
                    was = possible[ahead + 1] if ahead < 5 else None
                    if missing is None:
                        if was is not None:
                            told.append(("refuted", vehicle, now + ahead, ()))
                    elif () in missing:
                        told.append(("confirmed", vehicle, now + ahead, ()))
                    else:
                        told.append(("possible", vehicle, now + ahead, missing))
        changes += len(told)
    return changes


def within(stream: list[Step]) -> int:
    """Each `a` waits for a `b` of its key, for 600 ticks."""
    waiting: dict[str, list[int]] = {}
    due: dict[int, list[str]] = {}
    changes = 0
    for now, step in enumerate(stream):
        told: list[Change] = []
        for key in step["b"]["x"]:
            for first in waiting.pop(key, ()):
                told.append(("confirmed", key, first, ()))
        for key in step["a"]["x"]:
            waiting.setdefault(key, []).append(now)
            due.setdefault(now + 600, []).append(key)
            told.append(("possible", key, now, (("b", key, now + 1, now + 600),)))
        for key in due.pop(now, ()):
            if key in waiting and waiting[key][0] == now - 600:
                told.append(("refuted", key, waiting[key].pop(0), ()))
        changes += len(told)
    return changes


def unpaid(stream: list[Step]) -> int:
    """Each order waits for 30 ticks in which nothing is paid."""
    waiting: dict[str, list[int]] = {}
    due: dict[int, list[str]] = {}
    changes = 0
    for now, step in enumerate(stream):
        told: list[Change] = []
        paid = set(step["paid"]["x"])
        for key in paid:
            for first in waiting.pop(key, ()):
                told.append(("refuted", key, first, ()))
        for key in step["order"]["x"]:
            waiting.setdefault(key, []).append(now)
            due.setdefault(now + 30, []).append(key)
            told.append(("possible", key, now, (("not paid", key, now + 1, now + 30),)))
        for key in due.pop(now, ()):
            if key in waiting and waiting[key][0] == now - 30:
                told.append(("confirmed", key, waiting[key].pop(0), ()))
        changes += len(told)
    return changes


CLASSES = (
    Class("turbines with a threshold", THRESHOLD, readings, three_in_a_row),
    Class("turbines with limits in a table", LIMITS, readings, limited, limits),
    Class("turbines with rates and a distribution of delays", RATES, readings, rated),
    Class("short stops", SHORT_STOP, positions, short_stops),
    Class("within 600 ticks", WITHIN, pairs("a", "b"), within),
    Class("within 600 ticks, dense", WITHIN.replace("discrete", "dense"), pairs("a", "b"), within),
    Class("within 600 ticks, two time variables", AFTER, pairs("a", "b"), within),
    Class("three countries within 60 ticks", THREE, payments, three_countries),
    Class("tram and bus at one stop", MEET, stops, meetings),
    Class("unpaid orders", UNPAID, pairs("order", "paid"), unpaid),
)


def ours(each: Class, stream: list[Step], rounds: tuple[int, ...] = (0, 2_000, 4_000)) -> tuple[int, float, float]:
    """How many changes there are, and how long it takes to find them, once the program's courses are known: at the
    beginning of time, and far from it; and how long the first time. Nothing of one round is open in the next."""
    columns: dict[str, list[Any]] = {}
    for step in stream:
        for name, arriving in step.items():
            columns.setdefault(name, []).append(pyarrow.table(arriving))
    tables = {name: pyarrow.concat_tables(parts) for name, parts in columns.items()}
    reasoner = presage.Reasoner(presage.parse(each.program), each.static(), emit="changes")
    found, times = 0, []
    for later in rounds:
        if later:
            reasoner.push([], later - 1)
        moved = {name: _moved(table, later) for name, table in tables.items()}
        found, seconds = timed(partial(_run, reasoner, moved, later + len(stream) - 1))
        times.append(seconds)
    return found, times[-1], times[0]


def _run(reasoner: presage.Reasoner, tables: dict[str, Any], until: int) -> int:
    return len(reasoner.run(tables, until))


def _moved(table: Any, later: int) -> Any:
    times = pyarrow.array(np.asarray(table["time"]) + later)
    return table.set_column(table.schema.get_field_index("time"), "time", times)


def as_lists(stream: list[Step]) -> list[Step]:
    return [
        {name: {key: column.tolist() for key, column in columns.items()} for name, columns in step.items()}
        for step in stream
    ]


def measure() -> Iterator[Row]:
    for each in CLASSES:
        stream = each.stream()
        facts = sum(len(columns["time"]) for step in stream for columns in step.values())
        found, seconds, at_first = ours(each, stream)
        lists = as_lists(stream)
        want, by_hand = timed(partial(each.by_hand, lists))
        yield Row(
            f"possible answers: {each.name}, {KEYS} keys",
            f"{facts / seconds:,.0f} facts/s",
            f"by hand {facts / by_hand:,.0f} facts/s",
            by_hand / seconds,
            f"{'the same changes' if found == want else f'{found} changes, by hand {want}'}; the first time, with all "
            f"that is learned then, {at_first:.1f} s",
        )
