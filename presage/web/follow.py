"""Answers as they are written elsewhere: a file that grows, a pipe, or a folder that a pipeline fills.

What was written is read piece by piece and shown in steps, those of one `now` together; then the source is looked at
again, for as long as somebody watches. Clocks of shards may differ, so the time shown is the latest heard of.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO

from presage.answers import Answer
from presage.errors import PresageError
from presage.io.reading_back import read_answers
from presage.model.terms import Number
from presage.web.replay import ReplayStep

LOOK_AGAIN = 0.25
"""Seconds between two looks at a source that had nothing new."""
AT_ONCE = 1 << 20
"""How many bytes of a file are read at once."""
LINES = (".jsonl", ".ndjson", ".json")

Chunk = list[Answer]


def follow(chunks: Iterator[Chunk | None], rest: Callable[[float], None] = time.sleep) -> Iterator[ReplayStep]:
    """The steps of a source; `None` from it means that there is nothing new."""
    latest: Number | None = None
    for chunk in chunks:
        if chunk is None:
            rest(LOOK_AGAIN)
            continue
        for now, answers in groupby(chunk, lambda answer: answer.now):
            latest = now if latest is None else max(latest, now)
            yield ReplayStep(latest, list(answers))


def answers_from(source: str) -> Iterator[Chunk | None]:
    """The answers of a file, a folder or, for `-`, of standard input."""
    path = Path(source)
    if source == "-":
        return _from_pipe(sys.stdin)
    if path.is_dir():
        return _from_folder(path)
    if path.suffix == ".parquet":
        rows = _parquet(path) if path.exists() else None
        if rows is None:
            raise PresageError(f"--answers {path}: there is no such file, or it is not a whole Parquet file")
        return iter([rows])
    if not path.exists() and not path.parent.is_dir():
        raise PresageError(f"--answers {path}: there is no folder {path.parent}")
    if path.suffix and path.suffix not in LINES:
        raise PresageError(
            f"--answers {path}: answers are a file of JSON lines, a Parquet file, a folder of those, or -"
        )
    if not path.exists():
        print(f"{path} is not there yet: waiting for it", file=sys.stderr, flush=True)
    return _from_file(path)


class _Lines:
    """A growing file of lines, from where it was left."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = self._line = 0
        self._begun = b""

    def more(self) -> Chunk:
        """What was written since; of a line that is not whole yet, nothing."""
        try:
            if self.path.stat().st_size < self._offset:
                # Somebody began the file anew.
                self._offset, self._line, self._begun = 0, 0, b""
            with self.path.open("rb") as file:
                file.seek(self._offset)
                read = file.read(AT_ONCE)
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise PresageError(f"{self.path}: the file cannot be read ({problem.strerror})") from None
        self._offset += len(read)
        *whole, self._begun = (self._begun + read).split(b"\n")
        found: Chunk = []
        for text in whole:
            self._line += 1
            found.extend(_parsed(text, f"{self.path}:{self._line}"))
        return found

    @property
    def has_more(self) -> bool:
        try:
            return self.path.stat().st_size != self._offset
        except OSError:
            return False


def _from_file(path: Path) -> Iterator[Chunk | None]:
    lines = _Lines(path)
    while True:
        yield lines.more() or (None if not lines.has_more else [])


def _from_folder(folder: Path) -> Iterator[Chunk | None]:
    """Files as they come; those whose names begin with `_` or `.` are not answers."""
    lines: dict[Path, _Lines] = {}
    seen: set[Path] = set()
    while True:
        new = False
        for path in sorted(folder.rglob("*"), key=_age):
            if any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts):
                continue
            if path.suffix in LINES:
                found = lines.setdefault(path, _Lines(path)).more()
                new = new or bool(found)
                yield found
            elif path.suffix == ".parquet" and path not in seen:
                rows = _parquet(path)
                if rows is not None:
                    seen.add(path)
                    new = True
                    yield rows
        if not new:
            yield None


def _age(path: Path) -> tuple[float, str]:
    try:
        return path.stat().st_mtime, str(path)
    except OSError:
        return 0.0, str(path)


def _parquet(path: Path) -> Chunk | None:
    """The answers of a Parquet file; nothing as long as it is being written."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise PresageError("Parquet is read with pyarrow: pip install pyarrow") from None
    try:
        rows = parquet.read_table(path).to_pylist()
    except (pa.ArrowException, OSError):
        return None
    return [answer for number, row in enumerate(rows, 1) for answer in read_answers(row, f"{path}:{number}")]


def _from_pipe(pipe: TextIO) -> Iterator[Chunk | None]:
    """Standard input to its end; a thread of its own waits for lines."""
    coming: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        for line in pipe:
            coming.put(line)
        coming.put(None)

    threading.Thread(target=read, name="answers", daemon=True).start()
    number, ended = 0, False
    while not ended:
        found: Chunk = []
        while not ended and len(found) < 10_000:
            try:
                line = coming.get_nowait() if found else coming.get(timeout=LOOK_AGAIN)
            except queue.Empty:
                break
            if line is None:
                ended = True
            else:
                number += 1
                found.extend(_parsed(line.encode(), f"standard input, line {number}"))
        # Waiting was done above, so that the end is seen at once.
        yield found


def _parsed(text: bytes, where: str) -> Iterator[Answer]:
    if not text.strip():
        return
    try:
        line: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise PresageError(f"{where}: this is not a line of JSON") from None
    yield from read_answers(line, where)
