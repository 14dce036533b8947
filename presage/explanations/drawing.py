"""Times drawn in characters: a lane for each thing an explanation speaks of, over one axis.

            0 1 2 3
malf(wt25)  ◆ · · ·
temp(wt25)  ● ● ● ·
now               ↑
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from presage.explanations.axis import Axis, widest
from presage.explanations.outline import ANSWERS, MEANINGS, Outline, Sign, walk
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.model.time import TimeSpan

WIDTH = 60
"""How many columns the axis has at most."""
LONGEST_NAME = 40
MOST_LANES = 24
NOTHING, STRETCH, ENDLESS, NOW = "·", "─", "→", "↑"

Lane = list[tuple[TimeSpan, Sign]]


def draw(outline: Outline, now: Number, label: Callable[[Number], str] = show_number) -> list[str]:
    """The lines of the drawing; none where nothing has a time."""
    lanes: dict[str, Lane] = {}
    settled: set[Number] = set()
    for _, each in walk(outline):
        if each.sign is not Sign.STEP and each.when is not None:
            lanes.setdefault(each.subject, []).append((each.when, each.sign))
        if each.until is not None:
            settled.add(each.until)
    axis = Axis.around(outline, now)
    if not lanes or not axis.length:
        return []
    times = {time for lane in lanes.values() for span, _ in lane for time in (span.low, span.high)}
    scale = _Scale(axis, times, label)
    ordered = sorted(lanes.items(), key=lambda lane: not any(sign in ANSWERS for _, sign in lane[1]))
    rows = [(name, scale.lane(lane)) for name, lane in ordered[:MOST_LANES]]
    if now <= axis.last:
        rows.append(("now", scale.arrow(now)))
    if settled:
        rows.append(("decided", scale.arrow(max(settled))))
    names = max(len(_short(name)) for name, _ in rows)
    lines = [f"{'':{names}}  {scale.header()}", *(f"{_short(name):{names}}  {row}" for name, row in rows)]
    if len(ordered) > MOST_LANES:
        lines.insert(-1, f"and {len(ordered) - MOST_LANES} more; --json has them all")
    return [line.rstrip() for line in [*lines, _legend(sign for lane in lanes.values() for _, sign in lane)]]


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _legend(signs: Iterable[Sign]) -> str:
    used = set(signs)
    return ", ".join(f"{sign.value} {meaning}" for sign, meaning in MEANINGS.items() if sign in used)


class _Scale:
    """Which column a time has: each whole number one of its own where there is room, else the nearest."""

    def __init__(self, axis: Axis, times: set[Number | None], label: Callable[[Number], str]) -> None:
        self.axis, self.label = axis, label
        whole = all(time is None or isinstance(time, int) for time in (*times, axis.first, axis.last))
        cell = widest((axis.first, axis.last), label) + 1
        self.cell = cell if whole and int(axis.length) * cell < WIDTH else 0
        self.columns = int(axis.length) * self.cell + 1 if self.cell else WIDTH

    def column(self, time: Number) -> int:
        return round(self.axis.share(time) * (self.columns - 1))

    def header(self) -> str:
        if self.cell:
            return "".join(
                f"{self.label(self.axis.first + place):{self.cell}}" for place in range(int(self.axis.length) + 1)
            )
        line = [" "] * (self.columns + 12)
        free = 0
        for time in self.axis.ticks(6):
            text, start = self.label(time), self.column(time)
            if start >= free:
                line[start : start + len(text)] = text
                free = start + len(text) + 1
        return "".join(line[: self.columns + 12])

    def lane(self, lane: Lane) -> str:
        step = self.cell or 1
        line = [NOTHING if place % step == 0 else " " for place in range(self.columns)]
        for span, sign in lane:
            start = 0 if span.low is None else self.column(span.low)
            end = self.columns - 1 if span.high is None else self.column(span.high)
            line[start : end + 1] = STRETCH * (end - start + 1)
            line[start] = line[end] = sign.value
            if span.high is None:
                line[end] = ENDLESS
        return "".join(line)

    def arrow(self, time: Number) -> str:
        return " " * self.column(time) + f"{NOW} {self.label(time)}"
