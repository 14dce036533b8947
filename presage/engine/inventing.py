"""Values that rules with `exists` invent: numbers of their own among the symbols.

Where values differ from time to time every new piece of time is a new value, since the relation that says where a rule
holds tells each of its time points once. Where they last, a table knows the values of each frontier as long as anything
refers to one of them; after that nobody can tell whether a value is the one of before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from presage.engine.joining import BindingRows, by_point
from presage.engine.symbols import Symbols
from presage.errors import PresageError
from presage.kernels import inventing, numbering
from presage.kernels.arrays import Flags, Ints32
from presage.kernels.hashing import EMPTY
from presage.model.statements import Rule
from presage.plan.nodes import Invent, Plan
from presage.sealed import Arrays, need


class ChaseLimit(PresageError):
    """A step that invents more values than allowed."""

    def __init__(self, rule: Rule | None, limit: int) -> None:
        super().__init__(f"this rule keeps inventing values: more than {limit} in one step (`--chase-limit`)")
        self.rule = rule


@dataclass(slots=True)
class Invention:
    """One rule's invention: from rows of its frontier to rows with new values."""

    node: Invent
    number: int
    arity: int
    """Of the frontier."""

    @property
    def width(self) -> int:
        return max(1, self.arity)


class Inventor:
    """The values invented so far by all rules of a plan."""

    def __init__(self, plan: Plan, symbols: Symbols, limit: int | None = None) -> None:
        self.symbols, self.limit = symbols, limit
        nodes = [node for node in plan.nodes if isinstance(node, Invent)]
        arities = [plan.sources[node.source].arity for node in nodes]
        self.inventions = {
            id(node): Invention(node, number, arity)
            for number, (node, arity) in enumerate(zip(nodes, arities, strict=True))
        }
        self.widths = np.array(arities, np.int64)
        self.counts = np.array([node.count for node in nodes], np.int64)
        self.in_step = 0
        self.clear(16)

    @property
    def is_needed(self) -> bool:
        return bool(self.inventions)

    def clear(self, room: int) -> None:
        self.count = 0
        self.keys = np.zeros((room, 1 + max(self.widths, default=0)), np.int32)
        self.values = np.zeros((room, max(self.counts, default=0)), np.int32)
        self.slots = np.full(2 * room, EMPTY, np.int32)

    def apply(self, invention: Invention, rows: BindingRows) -> BindingRows:
        """The rows with the values they have, or get."""
        node = invention.node
        if node.timed:
            rows = by_point(rows)
        frontier = rows.bindings[:, : invention.arity]
        values = self._new(node, len(rows)) if node.timed else self._lasting(invention, frontier)
        return BindingRows(np.ascontiguousarray(np.concatenate([frontier, values], axis=1)), rows.low, rows.high)

    def _new(self, node: Invent, count: int) -> Ints32:
        self.in_step += count * node.count
        if self.limit is not None and self.in_step > self.limit:
            raise ChaseLimit(node.rule, self.limit)
        return self.symbols.invent(count * node.count).reshape(count, node.count)

    def _lasting(self, invention: Invention, frontier: Ints32) -> Ints32:
        wanted = np.zeros((len(frontier), self.keys.shape[1]), np.int32)
        wanted[:, 0] = invention.number
        wanted[:, 1 : 1 + invention.arity] = frontier
        self._make_room(self.count + len(frontier) + 1)
        found = np.empty(len(frontier), np.int32)
        last = numbering.enter(self.slots, self.keys, self.count, wanted, found)
        new = last - self.count
        if new:
            self.values[self.count : last, : invention.node.count] = self._new(invention.node, new)
            self.count = last
        return self.values[found, : invention.node.count]

    def _make_room(self, least: int) -> None:
        room = len(self.keys)
        if least <= room:
            return
        keys, values, count = self.keys, self.values, self.count
        self.clear(1 << (least - 1).bit_length())
        self.fill(keys[:count], values[:count])

    def take(self, arrays: Arrays, values: int) -> None:
        """Takes entries over that were saved, where there are so many values."""
        keys = arrays.rows("keys", np.int32, self.keys.shape[1], least=0)
        made = arrays.rows("invented", np.int32, self.values.shape[1], least=0, below=max(1, values), count=len(keys))
        need(int(keys[:, 0].max(initial=0)) < max(1, len(self.widths)), "a value of a rule that is none")
        need(int(keys[:, 1:].max(initial=0)) < max(1, values), "a value made of none")
        self.fill(keys, made)

    def fill(self, keys: Ints32, values: Ints32) -> None:
        """Takes entries over."""
        if len(keys) >= len(self.keys):
            self.clear(1 << len(keys).bit_length())
        self.count = len(keys)
        self.keys[: self.count], self.values[: self.count] = keys, values
        numbering.spread(self.slots, self.keys, self.count)

    def forget(self, used: Flags) -> None:
        """Forgets values that nothing refers to; marks what the others were made from as used."""
        if self.count:
            left = inventing.sweep(self.keys, self.values, self.count, self.widths, self.counts, used)
            keys, values = self.keys[:left].copy(), self.values[:left].copy()
            self.clear(max(16, 1 << left.bit_length()))
            self.fill(keys, values)
