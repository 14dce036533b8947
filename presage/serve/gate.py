"""Where everything comes in: what sources bring is logged together, acknowledged, and handed on to the reasoner.

Only so many facts may be on their way. Who brings more waits, so that what is not yet taken stays where it is: in the
file, with the broker, with who sends it.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from presage.serve.log import Log, LogEntry
from presage.serve.messages import Message

MOST_BYTES = 32 << 20
"""Bytes of messages that may wait to be reasoned about."""
TOGETHER = 4 << 20
"""Bytes that are logged at once at most."""


@dataclass(slots=True)
class WaitingEntry:
    entry: LogEntry
    message: Message | None
    logged: threading.Event = field(default_factory=threading.Event)
    number: int = 0
    size: int = 0


class Closed(Exception):
    """The pipeline is ending and takes nothing more."""


class Gate:
    def __init__(self, log: Log, failed: Callable[[BaseException], None]) -> None:
        self.log, self._failed = log, failed
        self._incoming: queue.SimpleQueue[WaitingEntry | None] = queue.SimpleQueue()
        self.logged: queue.SimpleQueue[WaitingEntry | None] = queue.SimpleQueue()
        """What is on disk and not yet reasoned about."""
        self._bytes = 0
        self._room = threading.Condition()
        self.closed = False
        self.problem = ""
        """Why nothing can be logged at the moment."""
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(
        self,
        entry: LogEntry,
        message: Message | None = None,
        patience: float | None = None,
        mark: Callable[[LogEntry], LogEntry] = lambda entry: entry,
    ) -> int:
        """Takes an entry, waiting for room as long as that takes, or some seconds; gives its number when it is on
        disk. `mark` is called for entries in the order in which they are logged. Raises `TimeoutError` where there is
        no room, and `Closed`."""
        waiting = WaitingEntry(entry, message, size=len(entry.payload) + 256)
        with self._room:
            if not self._room.wait_for(lambda: self.closed or self._bytes < MOST_BYTES, patience):
                raise TimeoutError
            if self.closed:
                raise Closed
            waiting.entry = mark(entry)
            self._bytes += waiting.size
            self._incoming.put(waiting)
        waiting.logged.wait()
        if not waiting.number:
            raise Closed
        return waiting.number

    def done(self, waiting: WaitingEntry) -> None:
        """Something has been reasoned about: there is room again."""
        with self._room:
            self._bytes -= waiting.size
            self._room.notify_all()

    @property
    def is_full(self) -> bool:
        return self._bytes >= MOST_BYTES

    def _run(self) -> None:
        try:
            while (first := self._incoming.get()) is not None:
                group, size = [first], first.size
                is_end = False
                while size < TOGETHER:
                    try:
                        more = self._incoming.get_nowait()
                    except queue.Empty:
                        break
                    if more is None:
                        is_end = True
                        break
                    group.append(more)
                    size += more.size
                self._log(group)
                if is_end:
                    return
        except BaseException as found:
            self._failed(found)
        finally:
            self.logged.put(None)

    def _log(self, group: list[WaitingEntry]) -> None:
        pause = 0.1
        while True:
            try:
                number = self.log.append(waiting.entry for waiting in group)
                self.problem = ""
                break
            except OSError as found:
                # A full disk: nobody is told that anything was taken, and those who wait go on waiting.
                self.problem = f"the log cannot be written ({found.strerror or found})"
                if self.closed:
                    for waiting in group:
                        waiting.logged.set()
                    return
                time.sleep(pause)
                pause = min(5.0, 2 * pause)
        for place, waiting in enumerate(group):
            waiting.number = number + place
            self.logged.put(waiting)
            waiting.logged.set()

    def close(self) -> None:
        with self._room:
            self.closed = True
            self._room.notify_all()
        self._incoming.put(None)
        self._thread.join(30)
