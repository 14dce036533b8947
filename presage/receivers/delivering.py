"""Lines handed to a receiver that may be slow, refuse them for now, or never take some of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from presage.pipeline.reading import Part
from presage.receivers.told_lines import ALERT, ANSWER, LATE, ToldLine

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 10.0


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


def wants(part: Part, line: ToldLine) -> bool:
    """Whether a line is for a sink, by what the pipeline file says of it."""
    if part.values.get("alerts") or part.format == "alertmanager":
        return line.kind == ALERT
    if part.values.get("late"):
        return line.kind == LATE
    statuses = part.values.get("statuses")
    return line.kind == ANSWER and (statuses is None or line.status in statuses)


class Delivering:
    """Writes to a sink until it has taken what it will ever take: tried again, ever more rarely, while it refuses.
    `put_aside` keeps a line that it never takes, with the reason."""

    def __init__(self, sink: Sink, put_aside: Callable[[ToldLine, str], None], stop: threading.Event) -> None:
        self.sink, self.stop, self._put_aside = sink, stop, put_aside
        self.problem = ""
        """Why it takes nothing at the moment."""
        self.refusals = self.aside = 0

    def write(self, lines: Sequence[ToldLine]) -> bool:
        """Whether all of them are taken or put aside; otherwise somebody has asked to stop."""
        pause = FIRST_PAUSE
        while not self.stop.is_set():
            try:
                self.sink.write(lines)
                self.problem = ""
                return True
            except TakenNever as found:
                if len(lines) > 1:
                    half = len(lines) // 2
                    if not self.write(lines[:half]):
                        return False
                    lines, pause = lines[half:], FIRST_PAUSE
                    continue
                try:
                    self._put_aside(lines[0], str(found))
                    self.aside += 1
                    return True
                except OSError as full:
                    problem: Exception = full
            except (Refused, OSError) as found:
                problem = found
            self.refusals += 1
            self.problem = str(problem) or type(problem).__name__
            self.stop.wait(pause)
            pause = min(LONGEST_PAUSE, 2 * pause)
        return False

    def pulse(self) -> None:
        """Lets a sink that says things again do so."""
        pulse = getattr(self.sink, "pulse", None)
        if pulse is not None:
            with suppress(Refused, TakenNever, OSError):
                pulse()
