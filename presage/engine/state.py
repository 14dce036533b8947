"""An engine's memory as plain values and arrays, and back: a restored engine goes on exactly where the saved one was.

What is read is checked before it is put in: kernels go by these numbers as by addresses, and look at no bounds.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from presage.engine.runtime import IntervalEngine
from presage.engine.waiting import WaitingRows
from presage.kernels.fields import FAR
from presage.model.terms import Number, Value, number
from presage.sealed import Arrays, need
from presage.time.cells import Grid


def _written(value: Value | Number | None) -> Any:
    """A value in JSON: numbers that are not whole as a pair."""
    return [value.numerator, value.denominator] if isinstance(value, Fraction) else value


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return number(Fraction(value[0], value[1]))
    need(value is None or (isinstance(value, (str, int)) and not isinstance(value, bool)), "a value of no kind")
    return value


def save_engine(engine: IntervalEngine, arrays: dict[str, Any]) -> dict[str, Any]:
    """What `fill_engine` needs: plain values, and arrays that are added to those given."""
    engine.collect()
    names = list(engine.relations)
    for index, name in enumerate(names):
        relation = engine.relations[name]
        held = relation.contents()
        arrays[f"r{index}"] = held.tuples
        arrays[f"r{index}t"] = np.column_stack([held.low, held.high])
    for index, node in enumerate(engine.negating):
        _save_waiting(arrays, f"w{index}", engine.waiting[id(node)])
    for index, name in enumerate(engine.ahead):
        _save_waiting(arrays, f"a{index}", engine.ahead[name])
    for index, (_, counted) in enumerate(engine.counting.waiting()):
        _save_waiting(arrays, f"n{index}", counted)
    arrays |= engine.counting.state()
    inventor, symbols = engine.inventor, engine.symbols
    if inventor.is_needed:
        arrays["names"] = symbols.names[: len(symbols.values)]
        arrays["keys"], arrays["invented"] = inventor.keys[: inventor.count], inventor.values[: inventor.count]
    return {
        "now": _written(engine.now),
        "per_unit": engine.grid.per_unit,
        "relations": names,
        "latest": [engine.relations[name].latest for name in names],
        "final": [engine.final[name] for name in names],
        "symbols": [_written(value) for value in engine.symbols.values],
        "shown": engine.symbols.shown,
    }


def _save_waiting(arrays: dict[str, Any], name: str, waiting: WaitingRows) -> None:
    parts = waiting.everything()
    if parts:
        arrays[name] = np.concatenate([rows for rows, _, _ in parts])
        arrays[f"{name}t"] = np.column_stack(
            [np.concatenate([low for _, low, _ in parts]), np.concatenate([high for _, _, high in parts])]
        )


def fill_engine(engine: IntervalEngine, header: dict[str, Any], arrays: Arrays) -> None:
    """Puts a saved memory into a new engine of the same program."""
    symbols = engine.symbols
    values = [_read(value) for value in header["symbols"]]
    names = arrays.numbers("names", np.int64, size=len(values)) if "names" in arrays else None
    symbols.fill(values, names)
    per_unit = header["per_unit"]
    need(isinstance(per_unit, int) and 0 < per_unit < FAR, "a grid of no kind")
    engine.regrid(Grid(engine.grid.discrete, per_unit))
    need(sorted(header["relations"]) == sorted(engine.relations), "other relations than the program has")
    for index, name in enumerate(header["relations"]):
        relation = engine.relations[name]
        latest, final = header["latest"][index], header["final"][index]
        need(all(isinstance(each, int) and abs(each) <= 4 * FAR for each in (latest, final)), "times of no kind")
        rows = arrays.rows(f"r{index}", np.int32, relation.width, least=0, below=max(1, len(values)))
        relation.clear()
        relation.insert(rows, *arrays.spans(f"r{index}t", len(rows), 2 * FAR))
        relation.latest = latest
        engine.final[name] = final
    for index, node in enumerate(engine.negating):
        _fill_waiting(engine.waiting[id(node)], arrays, f"w{index}", engine.joins[id(node)].width, len(values))
    for index, name in enumerate(engine.ahead):
        _fill_waiting(engine.ahead[name], arrays, f"a{index}", engine.relations[name].width, len(values))
    for index, (width, counted) in enumerate(engine.counting.widths()):
        _fill_waiting(counted, arrays, f"n{index}", width, len(values))
    engine.counting.fill(arrays, len(values))
    if engine.inventor.is_needed:
        symbols.shown = int(header["shown"])
        engine.inventor.clear(16)
        engine.inventor.take(arrays, len(values))
    engine.now = _read(header["now"])
    if engine.now is None:
        engine.start()
    else:
        engine.forget_news()
    engine.collecting.rebuild(engine.final_cap)


def _fill_waiting(waiting: WaitingRows, arrays: Arrays, name: str, width: int, values: int) -> None:
    waiting.buckets.clear()
    waiting.size = 0
    if name in arrays:
        rows = arrays.rows(name, np.int32, width, least=0, below=max(1, values))
        waiting.put(rows, *arrays.spans(f"{name}t", len(rows), 2 * FAR))
