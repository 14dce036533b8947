"""Sources that catch up are read in the order of time, however fast each of them is.

Files that lie there, a topic with a backlog and a table with old rows are about the same hours, and each is read as
fast as it goes. Were the clock the latest time heard of, whoever is read first would make the others' facts late. So
while several have more to read at once, facts wait for the clock, which goes by the one that is farthest behind; who is
ahead is read no further. Facts that are sent by others meanwhile wait likewise. Once there is nothing more to catch up
with, the clock is the latest time heard of again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from presage.model.printer import show_number
from presage.model.terms import Number
from presage.serve.log import LogEntry
from presage.serve.messages import Message

PATIENCE = 10.0
"""Seconds after which nobody waits any more for who has more to read and does not read it: a broker that is away."""
LOOK = 0.05


@dataclass(slots=True)
class _Reader:
    """Somebody who has more to read."""

    reached: Number | None
    """The latest time that was read."""
    asking: float | None = None
    """Since when it waits for somebody else to give it more."""

    @property
    def counts(self) -> bool:
        return self.asking is None or time.monotonic() - self.asking < PATIENCE

    def is_before(self, other: _Reader) -> bool:
        if self.reached is None or other.reached is None:
            return self.reached is None and other.reached is not None
        return self.reached < other.reached


class Alignment:
    """Who has more to read, and how far each is. Entries are marked in the order in which they are logged."""

    def __init__(self, by_wall: bool, latest: Number | None, held: bool) -> None:
        """`by_wall`: another clock says when facts arrive, and there is nothing to align. `latest` is the latest time
        that was heard of before, and `held` says whether facts still wait for the clock."""
        self.by_wall, self._latest, self._held = by_wall, latest, held
        self._lock = threading.Lock()
        self._behind: dict[str, _Reader] = {}
        self._complete: Number | None = None
        """The latest time of which somebody said that it is complete."""

    def begin(self, readers: Iterable[str]) -> None:
        """These have something to read."""
        with self._lock:
            for reader in readers:
                self._behind.setdefault(reader, _Reader(None))

    def asks(self, reader: str) -> None:
        """It waits for somebody else, such as a broker, to give it more."""
        with self._lock:
            own = self._behind.get(reader)
            if own is not None and own.asking is None:
                own.asking = time.monotonic()

    def await_turn(self, reader: str, stop: threading.Event) -> None:
        """Waits while others are farther behind."""
        while not self.by_wall and not stop.is_set():
            with self._lock:
                own = self._behind.get(reader)
                if own is None or not any(each.is_before(own) for each in self._others(reader)):
                    return
            stop.wait(LOOK)

    def next_of(self, readers: Iterable[str]) -> str:
        """Who is the farthest behind; of several the first."""
        with self._lock:
            found = ""
            for each in readers:
                if not found or self._behind[each].is_before(self._behind[found]):
                    found = each
            return found

    def marked(self, entry: LogEntry, message: Message | None, reader: str, more: bool) -> LogEntry:
        """An entry as it is to be logged. `more`: who brought it has more to read."""
        if self.by_wall:
            return entry
        with self._lock:
            reached = None if message is None else message.latest
            if reached is not None:
                self._latest = reached if self._latest is None else max(self._latest, reached)
            if message is not None and message.complete is not None:
                self._complete = max(message.complete, self._complete or 0)
            known = self._behind.pop(reader, None)
            if more:
                before = None if known is None else known.reached
                reached = before if reached is None else reached if before is None else max(before, reached)
                self._behind[reader] = _Reader(reached)
            others = self._others(reader)
            if not others:
                return self._all_heard(entry)
            self._held = True
            times = [each.reached for each in (*others, *self._behind.values()) if each.counts]
            clock = None if None in times else show_number(min(each for each in times if each is not None))
            return replace(entry, held=True, clock=clock)

    def over(self, reader: str) -> bool:
        """Somebody has read everything; says whether facts may have waited for that."""
        with self._lock:
            self._behind.pop(reader, None)
            return self._held and self._latest is not None

    def _others(self, reader: str) -> list[_Reader]:
        return [each for name, each in self._behind.items() if name != reader and each.counts]

    def _all_heard(self, entry: LogEntry) -> LogEntry:
        was_held, self._held = self._held, False
        if not was_held or self._latest is None:
            return entry
        done = self._complete is not None and self._complete >= self._latest
        return replace(entry, clock=show_number(self._latest), complete=done)
