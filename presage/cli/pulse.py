"""How a running pipeline fares, in one line at the bottom of a terminal; nothing where none is looking."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.live import Live

    from presage.pipeline.metrics import Measures


class Pulse:
    def __init__(self) -> None:
        self.live: Live | None = None
        self.lock = threading.Lock()
        """Progress and answers come from different threads of Spark."""

    def __enter__(self) -> Pulse:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live
            from rich.text import Text

            waiting = Text("Spark starts …", "dim")
            console = Console(stderr=True, highlight=False)
            self.live = Live(waiting, console=console, auto_refresh=False, transient=True)
            self.live.start(refresh=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, found: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.stop()

    def show(self, measures: Measures) -> None:
        if self.live is None:
            return
        from rich.text import Text

        with self.lock:
            self.live.update(Text(in_words(measures), "dim"), refresh=True)

    def above(self, write: Callable[[], None]) -> None:
        """Writes what stays, above the line that changes."""
        with self.lock:
            if self.live is None or not sys.stdout.isatty():
                write()
                return
            self.live.stop()
            write()
            self.live.start(refresh=True)


def in_words(found: Measures) -> str:
    parts = [f"{found.rows_per_second:,.0f} rows/s", f"{found.facts:,} facts"]
    if found.clock is not None:
        parts.append(f"time {found.clock}")
    parts.append(f"{found.open:,} open")
    parts += [f"{found.answers[status]:,} {status}" for status in ("confirmed", "refuted")]
    parts += [f"{count:,} {what}" for what, count in (("late", found.late), ("skipped", found.skipped)) if count]
    parts.append(f"state {_size(found.state_bytes)}")
    if found.lag_seconds is not None:
        parts.append(f"lag {_duration(found.lag_seconds)}")
    if found.waiting is not None:
        parts.append(f"{found.waiting:,} messages wait")
    parts.append(f"micro-batch {found.batches} in {found.batch_seconds:.1f} s")
    return " · ".join(parts)


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def _duration(seconds: float) -> str:
    for most, unit, length in ((120, "s", 1), (7200, "min", 60), (172_800, "h", 3600)):
        if abs(seconds) < most:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds / 86_400:.0f} d"
