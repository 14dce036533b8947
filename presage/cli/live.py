"""The answers of a run for a person at a terminal: what is open as a table that changes, what is settled as lines that
stay above it."""

from __future__ import annotations

import argparse
import bisect
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from presage.cli.progress import REFRESH, SOON

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from presage.answers import Answer
    from presage.io.facts import Fact
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
) -> None:
    """The queries say what is good and what is bad, and so in which colours it is shown."""
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
    progress = _Progress(facts, now)
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
                _print(console, settled, queries)
                live.update(_table(opened, console, str(progress), queries), refresh=True)
                due = time.monotonic() + REFRESH
    _print(console, settled, queries)
    if opened:
        console.print(_table(opened, console, f"still open at the end, {progress}", queries))


def _print(console: Console, settled: list[Answer], queries: Sequence[Query]) -> None:
    from rich.text import Text

    if settled:
        console.print(Text("\n").join(_line(answer, queries) for answer in settled))
        settled.clear()


class _Progress:
    """How far a run is, in words."""

    def __init__(self, facts: Sequence[Fact], now: Callable[[], Number | None]) -> None:
        self.arrivals, self.now = sorted(fact.arrival for fact in facts), now
        self.begin = time.monotonic()

    def __str__(self) -> str:
        from presage.model.printer import show_number

        reached = self.now()
        if reached is None:
            return ""
        done, total = bisect.bisect_right(self.arrivals, reached), len(self.arrivals)
        rate = done / max(time.monotonic() - self.begin, 0.001)
        left = f", {(total - done) / rate:,.0f} s left" if 0 < done < total else ""
        return f"time {show_number(reached)}, {done:,} of {total:,} facts, {rate:,.0f}/s{left}"


def _table(opened: dict[str, Answer], console: Console, title: str, queries: Sequence[Query]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="dim", box=box.SIMPLE, pad_edge=False)
    for name in ("status", "answer", "because", "needs"):
        table.add_column(name, overflow="fold")
    for name in ("due", "confidence"):
        table.add_column(name, justify="right", no_wrap=True)
    room = max(3, console.height - LINES_AROUND)
    # The soonest decided first; what has no deadline last.
    ranked = sorted(opened.values(), key=lambda each: (each.decided_by is None, each.decided_by or 0, each.answer))
    left = len(ranked)
    for answer in ranked:
        # A row is as high as its list of facts is long.
        height = max(1, len(answer.because), len(answer.needs))
        if height > room and left < len(ranked):
            break
        room -= height
        left -= 1
        table.add_row(*_cells(answer, queries))
    if left:
        table.caption = f"and {left:,} more"
    return table


def _cells(answer: Answer, queries: Sequence[Query]) -> Iterator[Text]:
    from presage.model.printer import show_number

    yield _plain(f"{SIGNS.get(answer.status, '')} {answer.status}".lstrip(), _style(answer, queries))
    yield _plain(answer.answer)
    yield _plain("\n".join(map(printable, answer.because)))
    yield _plain("\n".join(map(printable, answer.needs)))
    yield _plain("" if answer.decided_by is None else show_number(answer.decided_by))
    yield _plain("" if answer.confidence is None else f"{answer.confidence:.3g}")


def _style(answer: Answer, queries: Sequence[Query]) -> str:
    from presage.colours import terminal_style, tone_for

    return terminal_style(answer.status, tone_for(queries, answer))


def _line(answer: Answer, queries: Sequence[Query]) -> Text:
    from presage.model.printer import show_number

    text = _plain("")
    text.append(f"{show_number(answer.now)}: ", "dim")
    text.append(f"{SIGNS.get(answer.status, '')} {answer.status} ".lstrip(), _style(answer, queries))
    # What is refuted fades as a whole.
    text.append(printable(answer.answer), "dim" if answer.status == "refuted" else "")
    if answer.because:
        text.append(f"  because {', '.join(map(printable, answer.because))}", "dim")
    return text


def _plain(text: str, style: str = "") -> Text:
    from rich.text import Text

    # `Text` takes brackets for what they are, but not the signs that steer a terminal.
    return Text("\n".join(map(printable, text.split("\n"))), style)


def printable(text: str) -> str:
    """Data may hold signs that steer a terminal; they are shown, not obeyed."""
    return "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in text)
