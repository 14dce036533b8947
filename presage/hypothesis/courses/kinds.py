"""Kinds of facts: what arrives, sorted by predicate and constants, without keys, times and other values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from presage.engine.symbols import Symbols
from presage.hypothesis.courses.conditions import PARTS
from presage.hypothesis.courses.fitting import Grouping
from presage.hypothesis.courses.name_order import NameOrder
from presage.hypothesis.courses.shapes import CONSTANT, KEY, VALUE, Ref
from presage.hypothesis.courses.symbolic import Untraceable
from presage.kernels import courses as kernel
from presage.kernels.arrays import Ints, Ints32
from presage.patterns.premises import Fixed


@dataclass(slots=True)
class Kind:
    """A kind of fact: its predicate, and its constants."""

    predicate: str
    row: tuple[Ref, ...]
    """Values are numbered in the order of their places."""
    payload: tuple[int, ...]
    """The places of values."""


@dataclass(slots=True)
class Listening:
    """How the facts of an input become arrivals."""

    key: tuple[int, ...]
    others: tuple[int, ...]
    kinds: Ints
    """By the constants at the other places: the kind, or −1 where nobody asks."""


class Kinds:
    def __init__(self, grouping: Grouping, symbols: Symbols) -> None:
        self.grouping, self.symbols = grouping, symbols
        self.constants = symbols.number_all(list(grouping.constants)) if grouping.constants else np.zeros(0, np.int32)
        self.constant_codes = np.zeros(0, np.int32)
        self.all: list[Kind] = []
        self.payloads = np.zeros(16, np.int64)
        self.known_numbers = np.full(16, kernel.NEVER - 1, np.int64)
        self.too_great = (1 << 62) // (grouping.factors + 2)
        """What values, in millionths, must be below: sums in comparisons have 64 bits."""
        self.names: NameOrder | None = None
        """Where their order matters."""
        self.names_moved = False
        """Whether names have other numbers than before."""
        self.static: dict[tuple[str, tuple[Ref, ...]], int] = {}
        self.listening = {name: self._listening(name) for name in grouping.literals}

    def sorted_out(self, arriving: Sequence[tuple[str, Sequence[Ints32], Ints, Ints]]) -> Any:
        """Facts by columns, with the step of each, as keys, kinds, times, steps and values; `None` if nobody asks for
        them."""
        parts = []
        for name, columns, times, steps in arriving:
            listening = self.listening[name]
            code: Any = 0
            size = len(self.grouping.constants) + 1
            for place in listening.others:
                code = code * size + self._codes(columns[place])
            kinds = listening.kinds[code] if listening.others else np.full(len(times), listening.kinds[0])
            wanted = kinds >= 0
            keys = np.column_stack([columns[place] for place in listening.key]).astype(np.int32, copy=False)
            width = max((len(each.payload) for each in self.all), default=0)
            given = np.zeros((len(times), max(1, width)), np.int32)
            if width:
                for kind in np.flatnonzero(np.bincount(kinds[wanted])).tolist():
                    here = kinds == kind
                    for index, place in enumerate(self.all[kind].payload):
                        given[here, index] = columns[place][here]
            if not wanted.all():
                kinds, keys, times, given = kinds[wanted], keys[wanted], times[wanted], given[wanted]
                steps = steps[wanted]
            if len(times):
                parts.append((keys, kinds, times, steps, given))
        if not parts:
            return None
        return parts[0] if len(parts) == 1 else tuple(np.concatenate(each) for each in zip(*parts, strict=True))

    def bits(self) -> dict[str, int]:
        """The kinds of facts of each input, as bits; those after many share one."""
        found = dict.fromkeys(self.listening, 0)
        for place, kind in enumerate(self.all):  # static ones come later
            found[kind.predicate] |= 1 << min(place, 62)
        return found

    def of_static(self, name: str, row: Sequence[Any]) -> tuple[int, list[int]]:
        """The kind of a static fact, and the numbers of its values. Its key is one of its values."""
        refs: list[Ref] = []
        payload: list[int] = []
        for place, each in enumerate(row):
            if each in self.grouping.constants:
                refs.append(Ref(CONSTANT, each))
            else:
                refs.append(Ref(VALUE, len(payload)))
                payload.append(place)
        kind = Kind(name, tuple(refs), tuple(payload))
        known = self.static.get((name, kind.row))
        if known is None:
            known = self.static[name, kind.row] = self._new(kind)
        return known, self.symbols.number_all([row[place] for place in payload]).tolist() if payload else []

    def is_static(self, kind: int) -> bool:
        """Whether it is one of static facts."""
        return self.all[kind].predicate not in self.listening

    def _new(self, kind: Kind) -> int:
        if len(self.all) >= len(self.payloads):
            self.payloads = np.concatenate([self.payloads, np.zeros_like(self.payloads)])
        self.payloads[len(self.all)] = len(kind.payload)
        self.all.append(kind)
        return len(self.all) - 1

    def _listening(self, name: str) -> Listening:
        literals = self.grouping.literals[name]
        key = self.grouping.places(name)
        arity = len(literals[0].arguments)
        others = tuple(place for place in range(arity) if place not in key)
        size = len(self.grouping.constants) + 1
        kinds = np.full(size ** len(others), -1, np.int64)
        if len(kinds) > 1 << 20:
            raise Untraceable("many constants")
        for index, codes in enumerate(product(range(size), repeat=len(others))):
            at = dict(zip(others, codes, strict=True))
            if not any(self._fits(each.arguments, at) for each in literals):
                continue
            row: list[Ref] = []
            payload: list[int] = []
            for place in range(arity):
                if place in key:
                    row.append(Ref(KEY, key.index(place)))
                elif at[place]:
                    row.append(Ref(CONSTANT, self.grouping.constants[at[place] - 1]))
                else:
                    row.append(Ref(VALUE, len(payload)))
                    payload.append(place)
            kinds[index] = self._new(Kind(name, tuple(row), tuple(payload)))
        return Listening(key, others, kinds)

    def _fits(self, arguments: Sequence[Any], codes: dict[int, int]) -> bool:
        """Whether a literal asks for facts with such constants."""
        return all(
            not isinstance(each, Fixed)
            or place not in codes
            or (codes[place] and self.grouping.constants[codes[place] - 1] == each.value)
            for place, each in enumerate(arguments)
        )

    def _codes(self, column: Ints32) -> Ints32:
        if len(self.constant_codes) < len(self.symbols.values):
            self.constant_codes = np.zeros(2 * len(self.symbols.values), np.int32)
            self.constant_codes[self.constants] = np.arange(1, len(self.constants) + 1)
        return self.constant_codes[column]

    def numbers_of(self, given: Ints | Ints32) -> Ints:
        """What values are as numbers, in millionths; those that are none, or too fine, are not. Where the order of
        names matters they are numbers in this order."""
        if not given.shape[1] or not len(given):
            return np.zeros(given.shape, np.int64)
        if len(self.known_numbers) < len(self.symbols.values):
            more = np.full(2 * len(self.symbols.values), kernel.NEVER - 1, np.int64)
            more[: len(self.known_numbers)] = self.known_numbers
            self.known_numbers = more
        found = self.known_numbers[given]
        new = np.unique(given[found == kernel.NEVER - 1])
        if len(new):
            if self._number_names(new):
                new = np.unique(given)
            for each in new.tolist():
                value = self.symbols.values[each]
                scaled: Any = value * PARTS if isinstance(value, (int, Fraction)) else None
                if scaled is None:
                    self.known_numbers[each] = self._name_number(value)
                elif scaled == int(scaled) and abs(scaled) < self.too_great:
                    self.known_numbers[each] = int(scaled)
                else:
                    self.known_numbers[each] = kernel.NEVER - 2
            found = self.known_numbers[given]
        return found

    def order_names(self) -> None:
        """From now on names have numbers, in their order."""
        self.names, self.names_moved = NameOrder(), True
        self.forget_numbers()

    def _number_names(self, new: Ints) -> bool:
        """Whether names that had numbers have got others."""
        if self.names is None:
            return False
        found = self.names.add(
            each for each in map(self.symbols.values.__getitem__, new.tolist()) if isinstance(each, str)
        )
        if found:
            self.known_numbers[:] = kernel.NEVER - 1
            self.names_moved = True
        return found

    def _name_number(self, value: Any) -> int:
        return kernel.NEVER if self.names is None or not isinstance(value, str) else self.names.numbers[value]

    def moved(self, values: Ints32, numbers: Ints) -> None:
        """Puts the numbers that names have now in the place of those they had."""
        are_names = (numbers == kernel.NEVER) | (numbers < kernel.NAMES_END)
        numbers[are_names] = self.numbers_of(values[are_names].reshape(-1, 1)).ravel()

    def forget_numbers(self) -> None:
        """Numbers of constants have become others'."""
        self.known_numbers[:] = kernel.NEVER - 1
        if self.names is not None:
            self.names, self.names_moved = NameOrder(), True
