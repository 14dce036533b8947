"""Sinks of a pipeline in one process: each takes numbered lines in order, in a thread of its own.

A sink that can say which lines it has, or takes them with their number in one act, gets every line once. To others the
folder says how far they were: after a crash they may get the last lines again, with the same `seq` and `key`. A sink
that refuses is tried again, ever more rarely; what it has not taken waits in a queue of few lines, and when that is
full the reasoner waits, and with it who sends facts. A line that a sink will never take is put aside, and counted.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Protocol

from presage.answers.schema import answer_schema, fit_line
from presage.errors import PresageError
from presage.pipeline.reading import Part
from presage.serve.folder import CheckpointFolder, read_said, sweep, write_said, write_whole
from presage.serve.log import write_all
from presage.serve.reasoning import ALERT, ANSWER, LATE, ToldLine

MOST_WAITING = 64
"""Steps that may wait for a sink."""
AT_ONCE = 5_000
"""Lines that a sink is given together at most."""
SAVE_SECONDS = 0.2
"""How often the folder is told how far a sink is that cannot say so itself."""
SAVE_SELDOM = 5.0
"""The same for one that can: what it leaves out moves it on, too."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 10.0
MARK = "_presage.json"


class Refused(Exception):
    """A sink does not take lines now; it is tried again."""


class TakenNever(Exception):
    """A sink will never take something among these lines: a NUL, a key that is too long, too large a message."""


class Sink(Protocol):
    linger: float
    """Seconds that lines may wait for others, to be written together."""

    def told(self) -> int | None:
        """The last line that is surely there; `None` where only the folder knows."""

    def write(self, lines: Sequence[ToldLine]) -> None:
        """Writes lines, all or none where it can. Raises `Refused` or `OSError` where it is to be tried again, and
        `TakenNever` where that is no use."""

    def close(self) -> None: ...


class RunningSink:
    """A sink at work."""

    def __init__(
        self, part: Part, sink: Sink, folder: CheckpointFolder, failed: Callable[[BaseException], None]
    ) -> None:
        self.part, self.sink, self.folder, self._failed = part, sink, folder, failed
        known = sink.told()
        self._knows_itself = known is not None
        if not folder.knows(part.name):
            # A sink that is new begins now; what was told before is nobody's any more.
            folder.tell(part.name, max(known or 0, folder.told_by_newest()))
        self.told = max(known or 0, folder.told(part.name))
        """The last line that it has."""
        self.saved = self.told
        self.problem = ""
        """Why it takes nothing at the moment."""
        self.unsaved = ""
        """Why the folder cannot be told how far it is."""
        self.refusals = self.aside = 0
        self._saved_at = 0.0
        self._queue: queue.Queue[tuple[int, list[ToldLine]] | None] = queue.Queue(MOST_WAITING)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"sink {part.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, last: int, lines: list[ToldLine]) -> None:
        """Hands over lines, and the number of the last line of all; waits where too much waits already."""
        wanted = [line for line in lines if line.number > self.told and self._wants(line)]
        while not self._stop.is_set():
            try:
                self._queue.put((last, wanted), timeout=0.5)
                return
            except queue.Full:
                continue

    def _wants(self, line: ToldLine) -> bool:
        if self.part.values.get("alerts") or self.part.format == "alertmanager":
            return line.kind == ALERT
        if self.part.values.get("late"):
            return line.kind == LATE
        statuses = self.part.values.get("statuses")
        return line.kind == ANSWER and (statuses is None or line.status in statuses)

    @property
    def waiting(self) -> int:
        return self._queue.qsize()

    def finish(self, patience: float) -> None:
        """Lets it write what it has, for some seconds."""
        if self._thread.ident is not None:  # Otherwise something was wrong before it began.
            with suppress(queue.Full):
                self._queue.put(None, timeout=patience)
            self._thread.join(patience)
            self._stop.set()
            self._thread.join(1.0)
        with suppress(OSError, PresageError):
            self.sink.close()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                last, lines, is_end = self._gathered()
                if lines:
                    self._write(lines)
                    if self._knows_itself and not self._stop.is_set():
                        self.saved = max(self.saved, lines[-1].number)
                else:
                    self._pulse()
                if (last is not None or is_end) and not self._stop.is_set():
                    self.told = max(self.told, last or 0)
                    self._save(self.told, is_end)
                if is_end:
                    return
        except BaseException as found:
            self._failed(found)

    def _pulse(self) -> None:
        """Lets a sink that says things again do so."""
        pulse = getattr(self.sink, "pulse", None)
        if pulse is not None:
            with suppress(Refused, TakenNever, OSError):
                pulse()

    def _gathered(self) -> tuple[int | None, list[ToldLine], bool]:
        """What waits, as much as may be written together."""
        found: list[ToldLine] = []
        last: int | None = None
        until: float | None = None
        while len(found) < AT_ONCE:
            try:
                if until is None:
                    given = self._queue.get(timeout=SAVE_SECONDS)
                else:
                    given = self._queue.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                if last is None and self.saved < self.told:
                    last = self.told
                break
            if given is None:
                return last, found, True
            last = given[0]
            found += given[1]
            if until is None:
                until = time.monotonic() + self.sink.linger
        return last, found, False

    def _write(self, lines: list[ToldLine]) -> None:
        pause = FIRST_PAUSE
        while not self._stop.is_set():
            try:
                self.sink.write(lines)
                self.problem = ""
                return
            except TakenNever as found:
                if len(lines) > 1:
                    half = len(lines) // 2
                    self._write(lines[:half])
                    lines, pause = lines[half:], FIRST_PAUSE
                    continue
                try:
                    self._put_aside(lines[0], str(found))
                    return
                except OSError as full:
                    problem: Exception = full
            except (Refused, OSError) as found:
                problem = found
            self.refusals += 1
            self.problem = str(problem) or type(problem).__name__
            self._stop.wait(pause)
            pause = min(LONGEST_PAUSE, 2 * pause)

    def _put_aside(self, line: ToldLine, why: str) -> None:
        """Keeps a line that the sink will never take where somebody finds it, and goes on."""
        self.folder.put_aside(self.part.name, {"why": why, "line": line.fields})
        self.aside += 1

    def _save(self, last: int, now: bool) -> None:
        """Tells the folder how far it is: now and then, and rarely where the sink itself can say so."""
        moment = time.monotonic()
        if now or moment - self._saved_at >= (SAVE_SELDOM if self._knows_itself else SAVE_SECONDS):
            self._saved_at = moment
            try:
                self.folder.tell(self.part.name, last)
                self.saved, self.unsaved = last, ""
            except OSError as found:
                # A full disk: after a crash it may get these lines again, unless it knows itself.
                self.unsaved = f"how far it is cannot be kept ({found.strerror or found})"


def as_text(line: ToldLine) -> str:
    return line.text + "\n"


class Console:
    """Standard output: who reads it gets lines at least once."""

    linger = 0.0

    def __init__(self, show: Callable[[list[dict[str, Any]]], None]) -> None:
        self.show = show

    def told(self) -> int | None:
        return None

    def write(self, lines: Sequence[ToldLine]) -> None:
        try:
            self.show([line.fields for line in lines])
        except BrokenPipeError:
            raise PresageError("who read standard output is gone: started again, the pipeline goes on") from None

    def close(self) -> None:
        sys.stdout.flush()


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
        data = "".join(map(as_text, lines)).encode()
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


class FilesInFolder:
    """A folder of files, each in place when it is whole and named after the lines it holds."""

    def __init__(self, path: Path, kind: str, run: str, whole_times: bool, place: str, linger: float) -> None:
        self.path, self.kind, self.whole_times, self.linger = path, kind, whole_times, linger
        path.mkdir(parents=True, exist_ok=True)
        mark = path / MARK
        if not any(not each.name.endswith(".tmp") for each in path.iterdir()):
            write_said(mark, {"run": run})
        elif not mark.exists() or read_said(mark).get("run") != run:
            raise PresageError(
                f"[{place}] {path}: the folder holds something else, or the answers of another run; name a new folder"
            )
        sweep(path)

    def told(self) -> int | None:
        ends = [path.stem.split("-")[-1] for path in self.path.glob(f"lines-*.{self._suffix}")]
        return max(map(int, ends), default=0)

    @property
    def _suffix(self) -> str:
        return "parquet" if self.kind == "parquet" else "jsonl"

    def write(self, lines: Sequence[ToldLine]) -> None:
        name = f"lines-{lines[0].number:012d}-{lines[-1].number:012d}.{self._suffix}"
        if self.kind == "json":
            write_whole(self.path / name, "".join(map(as_text, lines)).encode())
            return
        import pyarrow as pa
        from pyarrow import parquet

        moments = isinstance(lines[0].fields.get("now"), str)
        schema = answer_schema(self.whole_times, moments).append(pa.field("seq", pa.int64()))
        if lines[0].kind == LATE:
            table = pa.Table.from_pylist(
                [{**line.fields, "args": [str(each) for each in line.fields["args"]]} for line in lines]
            )
        else:
            rows = [fit_line(line.fields, schema) for line in lines]
            columns = [pa.array([row[each.name] for row in rows], each.type) for each in schema]
            table = pa.Table.from_arrays(columns, schema=schema)
        held = pa.BufferOutputStream()
        parquet.write_table(table, held)
        write_whole(self.path / name, held.getvalue().to_pybytes())

    def close(self) -> None:
        """Nothing is open."""
