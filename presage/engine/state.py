"""An engine's memory as bytes, and back: a restored engine goes on exactly where the saved one was.

The bytes hold plain arrays and a JSON header, nothing that is executed when read. The header names the
format and a fingerprint of the program: another program's state is refused.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from presage.engine.grid import Grid
from presage.engine.runtime import Engine
from presage.engine.symbols import Value
from presage.engine.waiting import Waiting
from presage.errors import PresageError
from presage.model.terms import Number, number

FORMAT = 3


class StateError(PresageError):
    """Bytes that are not the state of this program."""


def _written(value: Value | Number | None) -> Any:
    """A value in JSON: numbers that are not whole as a pair."""
    return [value.numerator, value.denominator] if isinstance(value, Fraction) else value


def _read(value: Any) -> Any:
    return number(Fraction(value[0], value[1])) if isinstance(value, list) else value


def save_engine(
    engine: Engine | None, fingerprint: str, extra: dict[str, Any], more: Mapping[str, Any] = MappingProxyType({})
) -> bytes:
    """An engine's memory and what else belongs to it, as JSON and as arrays, or the latter alone."""
    arrays: dict[str, Any] = dict(more)
    header = {"format": FORMAT, "fingerprint": fingerprint, "extra": extra}
    if engine is not None:
        header |= _engine_header(engine, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    out = io.BytesIO()
    # As `np.savez_compressed` does, but for speed: that would take longer than to reason.
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name, array in arrays.items():
            with packed.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)
    return out.getvalue()


def _engine_header(engine: Engine, arrays: dict[str, Any]) -> dict[str, Any]:
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


def _save_waiting(arrays: dict[str, Any], name: str, waiting: Waiting) -> None:
    parts = waiting.everything()
    if parts:
        arrays[name] = np.concatenate([rows for rows, _, _ in parts])
        arrays[f"{name}t"] = np.column_stack(
            [np.concatenate([low for _, low, _ in parts]), np.concatenate([high for _, _, high in parts])]
        )


def read_state(blob: bytes, fingerprint: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the arrays of a state; raises `StateError` where they are not this program's."""
    try:
        with np.load(io.BytesIO(blob), allow_pickle=False) as loaded:
            arrays = {name: loaded[name] for name in loaded.files}
        header: dict[str, Any] = json.loads(bytes(arrays.pop("header")))
        version, owner = header["format"], header["fingerprint"]
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, TypeError):
        raise StateError("these bytes are not a saved reasoner, or are damaged") from None
    if version != FORMAT:
        raise StateError(f"the state was saved in format {version}; this version reads format {FORMAT}")
    if owner != fingerprint:
        raise StateError("the state belongs to another program: restore it with the program it was saved with")
    return header, arrays


def fill_engine(engine: Engine, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Puts a saved memory into a new engine of the same program."""
    engine.symbols.fill([_read(value) for value in header["symbols"]], arrays.get("names"))
    grid = Grid(engine.grid.discrete, header["per_unit"])
    engine.regrid(grid)
    for index, name in enumerate(header["relations"]):
        relation = engine.relations[name]
        times = arrays[f"r{index}t"]
        relation.clear()
        relation.insert(arrays[f"r{index}"], times[:, 0].copy(), times[:, 1].copy())
        relation.latest = header["latest"][index]
        engine.final[name] = header["final"][index]
    for index, node in enumerate(engine.negating):
        _fill_waiting(engine.waiting[id(node)], arrays, f"w{index}")
    for index, name in enumerate(engine.ahead):
        _fill_waiting(engine.ahead[name], arrays, f"a{index}")
    for index, (_, counted) in enumerate(engine.counting.waiting()):
        _fill_waiting(counted, arrays, f"n{index}")
    engine.counting.fill(arrays)
    if engine.inventor.is_needed:
        engine.symbols.shown = header["shown"]
        engine.inventor.clear(16)
        engine.inventor.fill(arrays["keys"], arrays["invented"])
    engine.now = _read(header["now"])
    if engine.now is None:
        engine.start()
    else:
        engine.forget_news()


def _fill_waiting(waiting: Waiting, arrays: dict[str, Any], name: str) -> None:
    waiting.buckets.clear()
    waiting.size = 0
    if name in arrays:
        times = arrays[f"{name}t"]
        waiting.put(arrays[name], times[:, 0].copy(), times[:, 1].copy())
