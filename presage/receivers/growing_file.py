"""A file of lines on this machine that says itself how far it is."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from presage.errors import PresageError
from presage.receivers.told_lines import ToldLine


class GrowingFile:
    """A file of JSON lines that grows. Its last whole line says how far it is; what a crash has cut off goes."""

    linger = 0.0

    def __init__(self, path: Path, place: str) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._last = 0
        with path.open("a+b") as file:
            size = file.seek(0, os.SEEK_END)
            end, last = _last_line(file, size)
            if end != size:
                os.truncate(path, end)
            if last:
                try:
                    self._last = int(json.loads(last)["seq"])
                except (ValueError, KeyError, TypeError):
                    raise PresageError(
                        f"[{place}] {path}: the file does not hold lines of a pipeline: name another"
                    ) from None
        self._file: IO[bytes] = path.open("ab", buffering=0)

    def told(self) -> int | None:
        return self._last

    def write(self, lines: Sequence[ToldLine]) -> None:
        data = "".join(line.text + "\n" for line in lines).encode()
        before = self._file.seek(0, os.SEEK_END)
        try:
            write_all(self._file, data)
            os.fdatasync(self._file.fileno())
        except OSError:
            os.truncate(self.path, before)
            raise

    def close(self) -> None:
        self._file.close()


def _last_line(file: IO[bytes], size: int) -> tuple[int, bytes]:
    """Where the last whole line of a file ends, and what it is."""
    back = 1 << 16
    while True:
        begin = max(0, size - back)
        file.seek(begin)
        data = file.read(size - begin)
        end = data.rfind(b"\n")
        start = data.rfind(b"\n", 0, max(end, 0))
        if end < 0 and begin == 0:
            return 0, b""
        if end >= 0 and (start >= 0 or begin == 0):
            return begin + end + 1, data[start + 1 : end]
        back *= 4


def write_all(file: IO[bytes], data: bytes) -> None:
    """Writes to a file without a buffer: a disk that becomes full takes a part, and only refuses the rest."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]
