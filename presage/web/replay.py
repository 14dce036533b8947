"""A run at a pace people can follow: steps are shown when their time has come on a clock.

The source is worked off one step ahead, so that the answers of a step are ready when it is due. Nothing here knows
where steps come from; the clock is given, so that tests need not wait.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from presage import notices
from presage.answers import Answer, json_value
from presage.errors import PresageError
from presage.model.terms import Number
from presage.web.board import KEPT_CHANGES, Board, BoardEntry, BoardRows, Summary

FASTEST = 0.0
"""The speed that means: as fast as possible."""
RATE_SECONDS = 2.0
"""Rates are means over so long."""
ROWS_AT_ONCE = 5_000
"""How many answers a page is told at once; the rest follows."""


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One step of a run: its answers, and how much had arrived by then."""

    now: Number
    answers: Sequence[Answer]
    facts: int = 0
    late: int = 0
    remembered: int | None = None


@dataclass(frozen=True, slots=True)
class News:
    """What a page has to be told."""

    rows: list[BoardEntry]
    gone: list[str]
    reset: bool
    """Whether what was told before does not count any more."""
    more: bool
    """Whether there is more to tell at once."""


class Feed:
    """What one page has not been told yet. Of an answer that changed often, only how it stands at last."""

    def __init__(self, rows: BoardRows) -> None:
        self._pending: dict[str, BoardEntry | None] = dict(rows)
        self._reset = True

    def add(self, key: str, entry: BoardEntry | None) -> None:
        self._pending.pop(key, None)
        self._pending[key] = entry

    def take(self, most: int) -> News:
        rows: list[BoardEntry] = []
        gone: list[str] = []
        for key in list(islice(self._pending, most)):
            entry = self._pending.pop(key)
            if entry is None:
                gone.append(key)
            else:
                rows.append(entry)
        reset, self._reset = self._reset, False
        return News(rows, gone, reset, bool(self._pending))


class Replay:
    """Shows the steps of a source on a board, at a speed of so many units of time a second."""

    def __init__(
        self,
        source: Iterator[ReplayStep],
        speed: float = 1.0,
        *,
        clock: Callable[[], float] = time.monotonic,
        history: int = KEPT_CHANGES,
    ) -> None:
        self._source, self._clock = source, clock
        self.speed = speed
        self.paused = True
        self.finished = False
        self.closed = False
        self.problem = ""
        self.busy = ""
        """What keeps the next step, if it is something to be told of."""
        self.board = Board(history)
        self._ahead: ReplayStep | None = None
        self._asked = 0
        """Steps asked for by hand and not shown yet."""
        self._hurry: Number | None = None
        """Up to this time nobody wants to wait."""
        self._anchor: tuple[float, float] | None = None
        """A reading of the clock and the time of the stream that belongs to it, while time goes on by itself."""
        self._held = 0.0
        """The time of the stream while it stands still."""
        self._feeds: list[Feed] = []
        self._rates = deque([(clock(), 0, 0)])
        """Readings of the clock, with the facts and changes up to then."""
        self._commands = 0
        self._lock = threading.RLock()
        self._wake = threading.Condition(self._lock)

    # -- what people do ---------------------------------------------------------------------------

    def play(self) -> None:
        with self._command():
            self.paused = False
            self._drop_anchor()

    def pause(self) -> None:
        with self._command():
            self._stand_still()

    def step(self) -> None:
        """One step more, at once; time stands still afterwards."""
        with self._command():
            self._stand_still()
            self._asked += 1

    def catch_up(self, now: Number | None, *, then_stand: bool) -> None:
        """All steps up to a time at once; then time goes on, or stands still."""
        with self._command():
            self._hurry = now
            self.paused = then_stand

    def set_speed(self, speed: float) -> None:
        with self._command():
            self._held = self.stream_time()
            self.speed = speed
            self._drop_anchor()

    @contextmanager
    def _command(self) -> Iterator[None]:
        with self._wake:
            yield
            self._commands += 1
            self._wake.notify_all()

    def _stand_still(self) -> None:
        self._held = self.stream_time()
        self.paused = True
        self._anchor = None

    def _drop_anchor(self) -> None:
        moves = not self.paused and self.speed != FASTEST and self.board.summary.step
        self._anchor = (self._clock(), self._held) if moves else None

    # -- time -------------------------------------------------------------------------------------

    def stream_time(self) -> float:
        """Where on the timeline the replay is: never beyond a step that has not been shown."""
        with self._lock:
            if self._anchor is None:
                return self._held
            reading, at = self._anchor
            reached = at + (self._clock() - reading) * self.speed
            shown = self.board.summary.now
            limit = self._ahead.now if self._ahead is not None else shown
            return reached if limit is None else max(self._held, min(reached, float(limit)))

    def tick(self) -> float | None:
        """Shows what is due. Gives the seconds until there is more to show, or `None` if nobody can say: time stands
        still, or the run is over."""
        if self._ahead is None and not self.finished:
            self._look_ahead()
        with self._lock:
            if self._ahead is None:
                self.finished = True
                self._stand_still()
                self._asked = 0
                return None
            wait = self._wait(self._ahead)
            if wait is None or wait > 0:
                return wait
            self._asked = max(0, self._asked - 1)
            self._show(self._ahead)
            self._ahead = None
            return 0.0

    def _look_ahead(self) -> None:
        # Not under the lock: this is where the reasoner works, and the page goes on meanwhile.
        try:
            ahead = next(self._source, None)
        except PresageError as problem:
            self.problem, ahead = str(problem), None
        except RecursionError:
            self.problem, ahead = "the program is nested too deeply", None
        except Exception as bug:
            # The page says so, and the terminal shows where.
            with self._lock:
                self.problem, self.finished = f"the run stopped by a mistake in Presage: {bug!r}", True
                self._stand_still()
            raise
        with self._lock:
            self._ahead, self.busy = ahead, ""

    def _wait(self, ahead: ReplayStep) -> float | None:
        if self._asked or (self._hurry is not None and ahead.now <= self._hurry):
            return 0.0
        if self.paused:
            return None
        if self.speed == FASTEST or self._anchor is None:
            # The first step begins the replay, wherever on the timeline it lies.
            return 0.0
        reading, at = self._anchor
        return (float(ahead.now) - at) / self.speed - (self._clock() - reading)

    def _show(self, step: ReplayStep) -> None:
        first = not self.board.summary.step
        changes = self.board.apply(step.answers, step.now, step.facts, step.late, step.remembered)
        for key, _, after in changes:
            for feed in self._feeds:
                feed.add(key, after)
        behind = self._anchor is not None and self._wait_after(step) < -1.0
        hurried = self._hurry is not None and step.now <= self._hurry
        if first or self.paused or self.speed == FASTEST or behind or hurried:
            # What could not be shown in time is not caught up with in haste.
            self._held = float(step.now)
            self._drop_anchor()
        self._rates.append((self._clock(), step.facts, self.board.summary.changes))
        self._rate()

    def _wait_after(self, step: ReplayStep) -> float:
        assert self._anchor is not None
        return (float(step.now) - self._anchor[1]) / self.speed - (self._clock() - self._anchor[0])

    def run(self) -> None:
        """Shows steps until the replay is closed; for a thread of its own."""
        notices.listen(self._hear)
        try:
            while not self.closed:
                heard = self._commands
                wait = self.tick()
                with self._wake:
                    # A command that came in the meantime is not slept through.
                    if wait != 0.0 and heard == self._commands and not self.closed:
                        self._wake.wait(wait)
        finally:
            notices.forget(self._hear)

    def _hear(self, text: str) -> None:
        self.busy = text

    def close(self) -> None:
        # No lock: this is called from a signal handler too.
        self.closed = True
        if self._lock.acquire(timeout=0.1):
            try:
                self._wake.notify_all()
            finally:
                self._lock.release()

    # -- what pages see ---------------------------------------------------------------------------

    def subscribe(self) -> Feed:
        with self._lock:
            feed = Feed(self.board.rows)
            self._feeds.append(feed)
            return feed

    def unsubscribe(self, feed: Feed) -> None:
        with self._lock:
            if feed in self._feeds:
                self._feeds.remove(feed)

    def news(self, feed: Feed, most: int = ROWS_AT_ONCE) -> tuple[News, dict[str, Any]]:
        with self._lock:
            return feed.take(most), self.state()

    @contextmanager
    def standing(self) -> Iterator[Board]:
        """The board, while nothing changes on it."""
        with self._lock:
            yield self.board

    def past(self, step: int) -> tuple[BoardRows, Summary]:
        with self._lock:
            return self.board.past(step)

    def state(self) -> dict[str, Any]:
        """Where the replay is."""
        with self._lock:
            facts, changes = self._rate()
            return {
                **self.board.summary.to_json(),
                "stream_time": self.stream_time(),
                "next": None if self._ahead is None else json_value(self._ahead.now),
                "paused": self.paused,
                "speed": self.speed,
                "finished": self.finished,
                "problem": self.problem,
                "busy": self.busy,
                "first_step": self.board.first_step,
                "facts_per_second": facts,
                "changes_per_second": changes,
            }

    def _rate(self) -> tuple[float, float]:
        """Facts and changes a second, lately."""
        moment = self._clock()
        while len(self._rates) > 1 and self._rates[1][0] <= moment - RATE_SECONDS:
            self._rates.popleft()
        since, facts, changes = self._rates[0]
        seconds = max(moment - since, RATE_SECONDS / 4)
        return (self.board.summary.facts - facts) / seconds, (self.board.summary.changes - changes) / seconds
