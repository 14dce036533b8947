"""JSON lines by the column: plain lines are cut into tokens by compiled code, and each distinct token is read once.

Other lines, such as facts over intervals, are read one by one among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from presage.analysis.predicates import Predicate
from presage.io.distinct import ColumnCells, FileContents, Unusual
from presage.io.facts import Checker
from presage.io.files import read_line
from presage.io.tables import integers, pyarrow
from presage.kernels import json_lines

BYTES_AT_ONCE = 1 << 23
_MARK = b"\xef\xbb\xbf"
"""What some programs put before UTF-8 text."""


def read_json_columns(path: Path, checker: Checker) -> FileContents:
    found = FileContents(checker)
    most = max((known.arity for known in checker.predicates.values()), default=0)
    for data in _pieces(path):
        _Piece(data, most, found).take()
    return found


def _pieces(path: Path) -> Iterator[bytes]:
    """The file in pieces of whole lines."""
    with path.open("rb") as file:
        rest = file.read(len(_MARK))
        if rest == _MARK:
            rest = b""
        while block := file.read(BYTES_AT_ONCE):
            cut = block.rfind(b"\n") + 1
            if cut:
                yield rest + block[:cut]
                rest = block[cut:]
            else:
                rest += block
        if rest:
            yield rest


class _Piece:
    """Some whole lines of a file."""

    def __init__(self, data: bytes, most: int, found: FileContents) -> None:
        if data.count(b"\r") != data.count(b"\r\n"):
            raise Unusual("lines that end in another way")
        if not data.isascii():
            data.decode("utf-8")
        self.data, self.found, self.checker = data, found, found.checker
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        address = np.frombuffer(data, np.uint8).ctypes.data
        self.kinds, self.places, self.firsts, self.counts, offsets, written = json_lines.tokens(
            address, len(data), lines, most
        )
        pa = pyarrow()
        texts = pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(written))
        encoded = texts.dictionary_encode()
        self.codes = integers(encoded.indices)
        self.tokens: list[str] = encoded.dictionary.to_pylist()

    def take(self) -> None:
        plain = np.flatnonzero(self.kinds == json_lines.PLAIN)
        others = [np.flatnonzero(self.kinds == json_lines.OTHER)]
        names = self.codes[self.firsts[plain]]
        for code in np.unique(names).tolist():
            name, lines = read_line(self.tokens[code], ""), plain[names == code]
            if not self.checker.passes_over(name, len(lines)):
                others.append(self._take(self.checker.known(name, ""), lines))
        for line in np.sort(np.concatenate(others)).tolist():
            text = self.data[self.places[line] : self.places[line + 1] - 1].decode("utf-8")
            self.checker.times = None
            fact = self.checker.fact_if_named(read_line(text, ""), "")
            self.found.times.note()
            if fact is not None:
                self.found.others.append(fact)

    def _take(self, known: Predicate, lines: Any) -> Any:
        """Takes the facts of a predicate; gives the lines whose times are no whole numbers."""
        if known.is_static or (self.counts[lines] != known.arity).any():
            raise Unusual("facts that are wrong")
        times = self._times(lines, 1)
        said = self._times(lines, 2)
        arrivals = np.where(said == ABSENT, times, said)
        whole = (times != FINER) & (arrivals != FINER)
        rest, lines = lines[~whole], lines[whole]

        def cells() -> list[ColumnCells]:
            value = self.checker.value
            return [
                ColumnCells(lambda token, place=place: value(read_line(token, ""), known, place, ""))  # type: ignore[misc]
                for place in range(known.arity)
            ]

        columns, own_times, own_arrivals = self.found.table(known.name, cells)
        for place, column in enumerate(columns):
            codes = self.codes[self.firsts[lines] + json_lines.AHEAD + place]
            used, places = np.unique(codes, return_inverse=True)
            column.parts.append(column.numbers([self.tokens[each] for each in used.tolist()])[places])
        own_times.append(times[whole])
        own_arrivals.append(arrivals[whole])
        return rest

    def _times(self, lines: Any, place: int) -> Any:
        """A time of each line."""
        used, places = np.unique(self.codes[self.firsts[lines] + place], return_inverse=True)
        return np.array([self._time(self.tokens[each]) for each in used.tolist()], np.int64)[places]

    def _time(self, token: str) -> int:
        if not token:
            return ABSENT
        try:
            return self.found.times.point(read_line(token, ""))
        except Unusual:
            return FINER


ABSENT, FINER = -1, -2
"""In place of a time: nothing is said of it; it is no whole number."""
