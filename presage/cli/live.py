"""The answers of a run for a person at a terminal: what is open as a table that changes, what is settled as lines that
stay above it."""

from __future__ import annotations

import argparse
import bisect
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from presage.answers.series import in_series
from presage.cli.progress import REFRESH, SOON

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from presage.answers import Answer
    from presage.io.facts import Fact
    from presage.io.moments import Moments
    from presage.model.statements import Query
    from presage.model.terms import Number

SIGNS = {"possible": "▷", "unsupported": "□", "confirmed": "◆", "refuted": "✕", "holds": "◆"}
SETTLED = ("confirmed", "refuted", "inconsistent")
LINES_AROUND = 7
"""What a table needs besides its rows: title, heading, the lines between, and a line for the prompt."""


def wants_table(options: argparse.Namespace) -> bool:
    """Whether a person reads along: not where a program, a file or a snapshot takes the answers."""
    return sys.stdout.isatty() and not options.json and options.out is None and options.emit != "snapshot"


def show_table(
    steps: Iterable[Sequence[Answer]],
    facts: Sequence[Fact],
    now: Callable[[], Number | None],
    queries: Sequence[Query] = (),
    shown: Callable[[], Moments | None] = lambda: None,
) -> None:
    """The queries say what is good and what is bad, and so in which colours it is shown; `shown`, how times are, once
    there is something to show."""
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
    words = _Words(queries, shown)
    progress = _Progress(facts, now, words)
    opened: dict[str, Answer] = {}
    settled: list[Answer] = []
    due = time.monotonic() + SOON
    with Live(console=console, auto_refresh=False, transient=True) as live:
        for answers in steps:
            for answer in answers:
                if answer.status in SETTLED:
                    opened.pop(answer.answer, None)
                    settled.append(answer)
                else:
                    opened[answer.answer] = answer
            # Whatever is printed draws the table again, so it is done now and then, and all at once.
            if time.monotonic() >= due:
                _print(console, settled, words)
                live.update(_table(opened, console, progress.on_the_way(), words), refresh=True)
                due = time.monotonic() + REFRESH
    _print(console, settled, words)
    if opened:
        console.print(_table(opened, console, f"still open at the end, {progress.reached()}", words))


def _print(console: Console, settled: list[Answer], words: _Words) -> None:
    from rich.text import Text

    if settled:
        console.print(Text("\n").join(map(words.line, settled)))
        settled.clear()


class _Progress:
    """How far a run is, in words."""

    def __init__(self, facts: Sequence[Fact], now: Callable[[], Number | None], words: _Words) -> None:
        self.arrivals, self.now, self.words = sorted(fact.arrival for fact in facts), now, words
        self.begin = time.monotonic()

    def reached(self) -> str:
        reached = self.now()
        if reached is None:
            return ""
        return f"time {self.words.time(reached)}, {self._done(reached):,} of {len(self.arrivals):,} facts"

    def on_the_way(self) -> str:
        """The same, with how fast it goes and how long it takes still."""
        reached = self.now()
        if reached is None:
            return ""
        done, total = self._done(reached), len(self.arrivals)
        rate = done / max(time.monotonic() - self.begin, 0.001)
        left = f", {(total - done) / rate:,.0f} s left" if 0 < done < total else ""
        return f"{self.reached()}, {rate:,.0f}/s{left}"

    def _done(self, reached: Number) -> int:
        return bisect.bisect_right(self.arrivals, reached)


def _table(opened: dict[str, Answer], console: Console, title: str, words: _Words) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="dim", box=box.SIMPLE, pad_edge=False)
    for name in ("status", "answer", "because", "needs"):
        table.add_column(name, overflow="fold")
    likely = any(answer.confidence is not None for answer in opened.values())
    for name in ("due", "confidence") if likely else ("due",):
        table.add_column(name, justify="right", no_wrap=True)
    room = max(3, console.height - LINES_AROUND)
    # The soonest decided first; what has no deadline last.
    ranked = sorted(opened.values(), key=lambda each: (each.decided_by is None, each.decided_by or 0, each.answer))
    left = len(ranked)
    for answer in ranked:
        # A row is as high as its list of facts is long.
        height = max(1, len(in_series(answer.because)), len(in_series(answer.needs)))
        if height > room and left < len(ranked):
            break
        room -= height
        left -= 1
        table.add_row(*islice(words.cells(answer), len(table.columns)))
    if left:
        table.caption = f"and {left:,} more"
    return table


class _Words:
    """Answers as a person reads them: with the times that facts came with, in the colours of what is asked."""

    def __init__(self, queries: Sequence[Query], shown: Callable[[], Moments | None]) -> None:
        self.queries, self.shown, self.is_known = queries, shown, False
        self.moments: Moments | None = None

    def _look(self) -> Moments | None:
        if not self.is_known:
            self.moments, self.is_known = self.shown(), True
        return self.moments

    def time(self, time: Number) -> str:
        from presage.model.printer import show_number

        moments = self._look()
        return show_number(time) if moments is None else moments.moment(time)

    def _told(self, answer: Answer) -> dict[str, Any]:
        line = answer.to_json()
        moments = self._look()
        return line if moments is None else moments.line(line)

    def cells(self, answer: Answer) -> Iterator[Text]:
        told = self._told(answer)
        yield _plain(f"{SIGNS.get(answer.status, '')} {answer.status}".lstrip(), self._style(answer))
        yield _plain(told["answer"])
        yield _plain("\n".join(map(printable, in_series(answer.because, told["because"]))))
        yield _plain("\n".join(map(printable, in_series(answer.needs, told["needs"]))))
        yield _plain("" if answer.decided_by is None else self.time(answer.decided_by))
        yield _plain("" if answer.confidence is None else f"{answer.confidence:.3g}")

    def line(self, answer: Answer) -> Text:
        told = self._told(answer)
        text = _plain("")
        text.append(f"{self.time(answer.now)}: ", "dim")
        text.append(f"{SIGNS.get(answer.status, '')} {answer.status} ".lstrip(), self._style(answer))
        # What is refuted fades as a whole.
        text.append(printable(told["answer"]), "dim" if answer.status == "refuted" else "")
        if answer.because:
            text.append(f"  because {', '.join(map(printable, in_series(answer.because, told['because'])))}", "dim")
        return text

    def _style(self, answer: Answer) -> str:
        from presage.colours import terminal_style, tone_for

        return terminal_style(answer.status, tone_for(self.queries, answer))


def _plain(text: str, style: str = "") -> Text:
    from rich.text import Text

    # `Text` takes brackets for what they are, but not the signs that steer a terminal.
    return Text("\n".join(map(printable, text.split("\n"))), style)


def printable(text: str) -> str:
    """Data may hold signs that steer a terminal; they are shown, not obeyed."""
    return "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in text)
