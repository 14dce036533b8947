"""Sinks of a pipeline in one process: each takes numbered lines in order, in a thread of its own.

A sink that can say which lines it has, or takes them with their number in one act, gets every line once. To others the
folder says how far they were: after a crash they may get the last lines again, with the same `seq` and `key`. A sink
that refuses is tried again, ever more rarely; what it has not taken waits in a queue of few lines, and when that is
full the reasoner waits, and with it who sends facts. A line that a sink will never take is put aside, and counted.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from presage.answers.schema import answer_schema, fit_line
from presage.errors import PresageError
from presage.pipeline.reading import Part
from presage.receivers.delivering import Delivering, Sink, wants
from presage.receivers.told_lines import LATE, ToldLine
from presage.serve.folder import CheckpointFolder, read_said, sweep, write_said, write_whole

MOST_WAITING = 64
"""Steps that may wait for a sink."""
AT_ONCE = 5_000
"""Lines that a sink is given together at most."""
SAVE_SECONDS = 0.2
"""How often the folder is told how far a sink is that cannot say so itself."""
SAVE_SELDOM = 5.0
"""The same for one that can: what it leaves out moves it on, too."""
MARK = "_presage.json"


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
        self.unsaved = ""
        """Why the folder cannot be told how far it is."""
        self._saved_at = 0.0
        self._queue: queue.Queue[tuple[int, list[ToldLine]] | None] = queue.Queue(MOST_WAITING)
        self._stop = threading.Event()
        self.delivering = Delivering(sink, self._put_aside, self._stop)
        self._thread = threading.Thread(target=self._run, name=f"sink {part.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _put_aside(self, line: ToldLine, why: str) -> None:
        """Keeps a line that the sink will never take where somebody finds it."""
        self.folder.put_aside(self.part.name, {"why": why, "line": line.fields})

    def put(self, last: int, lines: list[ToldLine]) -> None:
        """Hands over lines, and the number of the last line of all; waits where too much waits already."""
        wanted = [line for line in lines if line.number > self.told and wants(self.part, line)]
        while not self._stop.is_set():
            try:
                self._queue.put((last, wanted), timeout=0.5)
                return
            except queue.Full:
                continue

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
                    self.delivering.write(lines)
                    if self._knows_itself and not self._stop.is_set():
                        self.saved = max(self.saved, lines[-1].number)
                else:
                    self.delivering.pulse()
                if (last is not None or is_end) and not self._stop.is_set():
                    self.told = max(self.told, last or 0)
                    self._save(self.told, is_end)
                if is_end:
                    return
        except BaseException as found:
            self._failed(found)

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
            write_whole(self.path / name, "".join(line.text + "\n" for line in lines).encode())
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
