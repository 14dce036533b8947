"""How far a long run is, for a person who waits: on a terminal only, and not for what is soon done."""

from __future__ import annotations

import bisect
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from presage.io.facts import Fact
    from presage.model.terms import Number

SOON = 0.5
"""Seconds after which a run counts as long."""
REFRESH = 0.1
"""Seconds between two looks of the bar."""

Taken = TypeVar("Taken", bound=Sized)


def watched(steps: Iterable[Taken], facts: Sequence[Fact], now: Callable[[], Number | None]) -> Iterable[Taken]:
    """The steps of a run, unchanged; on a terminal with a bar below of facts done, their rate and the time reached."""
    return _with_bar(steps, facts, now) if sys.stderr.isatty() else steps


def _with_bar(steps: Iterable[Taken], facts: Sequence[Fact], now: Callable[[], Number | None]) -> Iterator[Taken]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from presage.io.arriving import GatheredFacts
    from presage.model.printer import show_number

    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("facts"),
        TextColumn("{task.fields[rate]}"),
        TextColumn("time {task.fields[now]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        # A thread of its own would draw into the lines of answers.
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    arrivals = facts.arrival_times() if isinstance(facts, GatheredFacts) else sorted(fact.arrival for fact in facts)
    task = bar.add_task("", total=len(facts), rate="", now="")
    shares_the_screen = sys.stdout.isatty()
    begin = time.monotonic()
    due, shown = begin + SOON, False
    try:
        for step in steps:
            moment, reached = time.monotonic(), now()
            if moment >= due and reached is not None:
                done = bisect.bisect_right(arrivals, reached)
                rate = f"{done / (moment - begin):,.0f}/s"
                bar.update(task, completed=done, rate=rate, now=show_number(reached), refresh=shown)
                if not shown:
                    bar.start()
                    shown = True
                due = moment + REFRESH
            if shown and shares_the_screen and len(step):
                # The answers are about to be printed where the bar is.
                bar.stop()
                shown = False
            yield step
            if shares_the_screen and len(step):
                sys.stdout.flush()
    finally:
        bar.stop()
