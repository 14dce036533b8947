"""Files that a pipeline in one process watches: JSON lines as they are appended, others as they appear."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from glob import glob
from itertools import islice
from pathlib import Path
from typing import Any

from presage.pipeline.rows import ROWS_AT_ONCE, rows_of
from presage.serve.sources import LOOK_AGAIN, Bringing

LINES_AT_ONCE = 1 << 20
"""Bytes of growing files that are taken together: what is ahead of others waits in memory."""
LEAST_AT_ONCE = 1 << 14
TOGETHER = 256
"""Files that are read in the order of their times; the others wait until one of them is done."""


class WatchedFiles:
    """A file or folder: JSON lines as they are appended, other files when they appear, each once, the oldest first.
    What is there at once is read in the order of its times (`alignment.py`)."""

    catches_up = True

    def __init__(self, bringing: Bringing, path: str, kind: str, once: bool) -> None:
        self.bringing, self.path, self.kind, self.once = bringing, path, kind, once
        self.share = 1
        """How many files share what is taken together."""
        self.done: dict[str, int] = {}
        """How far each file is read: bytes of lines; of others 1 once they are done, and below 0 their rows."""

    def run(self, position: Any, stop: threading.Event) -> bool:
        self.done = dict(position or {})
        aligned, part = self.bringing.alignment, self.bringing.part.name
        pieces: dict[str, Iterator[bool]] = {}
        """The files with something new, each as what reads the next piece of it, and says whether there is more."""
        look, is_full = 0.0, False
        while not stop.is_set():
            if (time.monotonic() >= look or is_full) and len(pieces) < TOGETHER:
                self._begin(pieces)
                look, is_full = time.monotonic() + LOOK_AGAIN, len(pieces) == TOGETHER
            aligned.over(part)  # Its files are what is read now.
            if not pieces:
                self.bringing.over()
                if self.once:
                    return True
                stop.wait(LOOK_AGAIN)
                continue
            self.share = len(pieces)
            self.bringing.reader = reader = aligned.next_of(pieces)
            aligned.await_turn(reader, stop)
            if stop.is_set() or not next(pieces[reader], False):
                del pieces[reader]
                self.bringing.over()
        return False

    def _begin(self, pieces: dict[str, Iterator[bool]]) -> None:
        """Adds files that have come meanwhile; those that are read already keep their places."""
        for path in self._files():
            reader = f"{self.bringing.part.name}:{path}"
            if reader not in pieces and self._has_more(path):
                pieces[reader] = self._lines(path) if self.kind == "json" else self._rows(path)
                self.bringing.alignment.begin([reader])
                if len(pieces) == TOGETHER:
                    return

    def _files(self) -> Iterator[Path]:
        """The files there are, the oldest first; hidden ones are none."""
        found: list[tuple[int, str]] = []
        for root in glob(self.path):  # noqa: PTH207
            names = [root] if Path(root).is_file() else [str(each) for each in Path(root).rglob("*") if each.is_file()]
            for name in names:
                inside = Path(name).relative_to(root).parts if name != root else (Path(name).name,)
                if not any(part.startswith((".", "_")) for part in inside) and not name.endswith(".tmp"):
                    try:
                        found.append((Path(name).stat().st_mtime_ns, name))
                    except OSError:
                        continue
        return (Path(name) for _, name in sorted(found))

    def _has_more(self, path: Path) -> bool:
        """Whether there is something new in a file; a line that is not whole yet is nothing, and neither is a file
        that is still being written."""
        known = self.done.get(str(path), 0)
        if self.kind == "json":
            return bool(self._whole_lines(path)[1])
        if known > 0 or path.suffix not in (f".{self.kind}", ""):
            return False
        return rows_of(path, self.bringing.part) is not None

    def _whole_lines(self, path: Path) -> tuple[int, bytes, bool]:
        """What was appended to a file of lines: from which byte on, the lines, and whether there are more."""
        offset = self.done.get(str(path), 0)
        size_at_once = max(LINES_AT_ONCE // self.share, min(LINES_AT_ONCE, LEAST_AT_ONCE))
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            if size < offset:
                offset = 0  # Somebody began the file anew.
            file.seek(offset)
            data = file.read(size_at_once)
            while data and b"\n" not in data and (more := file.read(size_at_once)):
                data += more
        end = data.rfind(b"\n") + 1
        if not end and self.once and data:
            end = len(data)  # Nobody will end the last line.
        return offset, data[:end], offset + len(data) < size

    def _lines(self, path: Path) -> Iterator[bool]:
        while True:
            offset, data, more = self._whole_lines(path)
            if not data:
                return
            self.done[str(path)] = offset + len(data)
            self.bringing.more = more
            self.bringing.lines(data, dict(self.done), f"{path}, after byte {offset}, line")
            yield more

    def _rows(self, path: Path) -> Iterator[bool]:
        name = str(path)
        taken = -self.done.get(name, 0)
        rows = islice(rows_of(path, self.bringing.part) or (), taken, None)

        def some() -> list[tuple[Any, str]]:
            return list(islice(rows, max(1, ROWS_AT_ONCE // self.share)))

        held = some()
        while True:
            following = some()
            taken += len(held)
            self.bringing.more = bool(following)
            self.done[name] = -taken if following else 1
            self.bringing.rows(held, dict(self.done))
            if not following:
                return
            yield True
            held = following
