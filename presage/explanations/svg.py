"""An explanation as a picture: the reasons as a tree, each beside its times on one axis.

Written by hand, so that a picture needs nothing but a browser. Colours follow the reader's choice of dark or light;
shapes say the same as colours. Whatever comes from the data is escaped, and there is nothing in it that runs.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape as escaped

from presage.colours import DARK, LIGHT, variables
from presage.explanations.axis import Axis
from presage.explanations.outline import ANSWERS, MEANINGS, Outline, Sign, walk
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.model.time import TimeSpan

MOST_ROWS = 400
DEEPEST = 24
"""Deeper lines are not indented further, so that a long chain of reasons stays on the picture."""
_INDENT, _LINE, _GAP, _MARGIN = 18, 16, 8, 20
_LETTER = 7.3
"""The width of a letter: the font is monospaced."""
_COLUMNS = 96
"""Letters in a line of the tree."""
_AXIS = 420
_TICKS = 7

_STYLE = f"""
.explanation {{ color-scheme: light dark; --paper: #fbfaf7; --ink: #1c1e21; --quiet: #5a6068; --line: #d9d6ce;
  {variables("", LIGHT)}; }}
@media (prefers-color-scheme: dark) {{ .explanation {{ --paper: #15171a; --ink: #e9e7e2; --quiet: #a3a8b0;
  --line: #353a41; {variables("", DARK)}; }} }}
.explanation {{ --possible: var(--plain-possible); --confirmed: var(--plain-confirmed); }}
.explanation.bad {{ --possible: var(--bad-possible); --confirmed: var(--bad-confirmed); }}
.explanation.good {{ --possible: var(--good-possible); --confirmed: var(--good-confirmed); }}
.explanation .paper {{ fill: var(--paper); }}
.explanation text {{ font: 12px ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
  fill: var(--ink); white-space: pre; }}
.explanation .answer {{ font-weight: 700; }}
.explanation .quiet {{ fill: var(--quiet); }}
.explanation .branch, .explanation .grid {{ stroke: var(--line); fill: none; }}
.explanation .now {{ stroke: var(--possible); stroke-dasharray: 4 3; }}
.explanation .mark {{ stroke-width: 1.8; fill: var(--paper); }}
.explanation .step {{ stroke: var(--quiet); fill: var(--quiet); }}
.explanation .there, .explanation .absent {{ stroke: var(--ink); fill: var(--ink); }}
.explanation .missing, .explanation .unsettled {{ stroke: var(--possible); }}
.explanation .failed {{ stroke: var(--ink); fill: none; stroke-width: 2.4; }}
.explanation .refuted {{ stroke: var(--refuted); fill: none; }}
.explanation .confirmed {{ stroke: var(--confirmed); fill: var(--confirmed); }}
.explanation .possible {{ stroke: var(--possible); }}
.explanation .unsupported {{ stroke: var(--unsupported); stroke-dasharray: 2 2; }}
.explanation .deadline {{ stroke-width: 1.4; fill: none; stroke: var(--possible); }}
"""


@dataclass(frozen=True, slots=True)
class _Row:
    depth: int
    outline: Outline
    lines: tuple[str, ...]
    top: int
    parent: int

    @property
    def height(self) -> int:
        return len(self.lines) * _LINE + _GAP

    @property
    def middle(self) -> float:
        return self.top + _LINE / 2


def picture(outline: Outline, now: Number, tone: str = "", label: Callable[[Number], str] = show_number) -> str:
    """The whole SVG document; `bad` and `good` colour what the explanation is about."""
    rows, left_out = _rows(outline)
    axis = Axis.around(outline, now)
    letters = max(min(row.depth, DEEPEST) * _INDENT / _LETTER + len(line) for row in rows for line in row.lines)
    start = _MARGIN + round(letters * _LETTER) + 40
    width, bottom = start + _AXIS + 2 * _MARGIN, rows[-1].top + rows[-1].height
    legend = _legend(rows)
    height = bottom + 24 + (_LINE if left_out else 0) + len(legend) * 20 + _MARGIN
    scale = _Scale(axis, start, label)
    title, look = _clean(outline.text), f"explanation {tone}".rstrip()
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{look}" role="img" aria-labelledby="title desc" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        f'<title id="title">{title}</title>',
        f'<desc id="desc">{_clean(_described(outline))}</desc>',
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
        *scale.grid(bottom, now),
        *(part for row in rows for part in _row(row, rows, scale)),
    ]
    y = bottom + 16
    if left_out:
        parts.append(_text(_MARGIN, y, f"and {left_out} more lines; --json has them all", "quiet"))
        y += _LINE
    for sign, meaning in legend:
        parts.append(_mark(sign, _MARGIN + 6, y + 8))
        parts.append(_text(_MARGIN + 22, y + 12, meaning, "quiet"))
        y += 20
    return "\n".join([*parts, "</svg>", ""])


def _rows(outline: Outline) -> tuple[list[_Row], int]:
    rows: list[_Row] = []
    above: list[int] = []
    top, left_out = 56, 0
    for depth, each in walk(outline):
        if len(rows) >= MOST_ROWS:
            left_out += 1
            continue
        room = max(30, _COLUMNS - min(depth, DEEPEST) * _INDENT // 8)
        lines = [line for text in (each.text, each.reason) if text for line in textwrap.wrap(text, room) or [text]]
        del above[depth:]
        rows.append(_Row(depth, each, tuple(lines), top, above[-1] if above else -1))
        above.append(len(rows) - 1)
        top += rows[-1].height
    return rows, left_out


def _legend(rows: list[_Row]) -> list[tuple[Sign, str]]:
    used = {row.outline.sign for row in rows if row.outline.when is not None}
    return [(sign, meaning) for sign, meaning in MEANINGS.items() if sign in used]


def _described(outline: Outline) -> str:
    """The explanation in words, for who does not see the picture."""
    return "; ".join(each.line for _, each in list(walk(outline))[:MOST_ROWS])


def _row(row: _Row, rows: list[_Row], scale: _Scale) -> Iterator[str]:
    outline, x = row.outline, _MARGIN + min(row.depth, DEEPEST) * _INDENT
    yield f"<g><title>{_clean(outline.line)}</title>"
    if row.parent >= 0:
        above = rows[row.parent]
        bend = _MARGIN + min(above.depth, DEEPEST) * _INDENT + 5
        start = above.top + above.height - _GAP + 2
        yield f'<path class="branch" d="M{bend} {start}V{row.middle}H{max(x - 4, bend)}"/>'
    texts = len(textwrap.wrap(outline.text, max(30, _COLUMNS - min(row.depth, DEEPEST) * _INDENT // 8))) or 1
    for number, line in enumerate(row.lines):
        look = "quiet" if number >= texts else "answer" if row.depth == 0 else ""
        yield _text(x, row.top + 12 + number * _LINE, line, look)
    if outline.when is not None:
        yield from scale.lane(outline, outline.when, row.middle)
    yield "</g>"


class _Scale:
    """The axis at the right, in pixels."""

    def __init__(self, axis: Axis, start: int, label: Callable[[Number], str]) -> None:
        self.axis, self.start, self.label = axis, start, label

    def x(self, share: float) -> float:
        return round(self.start + share * _AXIS, 1)

    def grid(self, bottom: int, now: Number) -> Iterator[str]:
        free = -1.0
        for time in self.axis.ticks(_TICKS):
            x, text = self.x(self.axis.share(time)), self.label(time)
            yield f'<path class="grid" d="M{x} 46V{bottom}"/>'
            if x - len(text) * _LETTER / 2 >= free:
                yield _text(x, 40, text, "quiet", "middle")
                free = x + len(text) * _LETTER / 2 + 6
        if now > self.axis.last:
            return
        x = self.x(self.axis.share(now))
        yield f'<path class="now" d="M{x} 46V{bottom}"/>'
        yield _text(x, 20, f"now {self.label(now)}", "", "middle")

    def lane(self, outline: Outline, when: TimeSpan, y: float) -> Iterator[str]:
        low, high = (self.x(share) for share in self.axis.shares(when))
        look = outline.sign.name.lower()
        if low < high:
            yield f'<path class="mark {look}" d="M{low} {y}H{high}"/>'
            yield _end(low, y, look, when.closed_low, when.low is None)
            yield _end(high, y, look, when.closed_high, when.high is None)
        if outline.until is not None:
            end = self.x(self.axis.share(outline.until))
            yield f'<path class="deadline" d="M{high} {y}H{end}M{end} {y - 6}V{y + 6}"/>'
        yield _mark(outline.sign, (low + high) / 2, y)


def _end(x: float, y: float, look: str, closed: bool, endless: bool) -> str:
    if endless:
        return ""
    return (
        f'<path class="mark {look}" d="M{x} {y - 5}V{y + 5}"/>'
        if closed
        else f'<circle class="mark" cx="{x}" cy="{y}" r="2"/>'
    )


def _mark(sign: Sign, x: float, y: float) -> str:
    look = f'class="mark {sign.name.lower()}"'
    r = 6 if sign in ANSWERS else 4.5
    match sign:
        case Sign.CONFIRMED:
            return f'<path {look} d="M{x} {y - r}L{x + r} {y}L{x} {y + r}L{x - r} {y}Z"/>'
        case Sign.POSSIBLE:
            return f'<path {look} d="M{x - r} {y - r}L{x + r} {y}L{x - r} {y + r}Z"/>'
        case Sign.ABSENT | Sign.UNSETTLED | Sign.UNSUPPORTED:
            return f'<rect {look} x="{x - r}" y="{y - r}" width="{2 * r}" height="{2 * r}"/>'
        case Sign.FAILED | Sign.REFUTED:
            return f'<path {look} d="M{x - r} {y - r}L{x + r} {y + r}M{x + r} {y - r}L{x - r} {y + r}"/>'
        case Sign.STEP:
            return f'<circle {look} cx="{x}" cy="{y}" r="1.6"/>'
        case _:
            return f'<circle {look} cx="{x}" cy="{y}" r="{r}"/>'


def _text(x: float, y: float, text: str, look: str = "", anchor: str = "start") -> str:
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x}" y="{y}"{place}{f" class={chr(34)}{look}{chr(34)}" if look else ""}>{_clean(text)}</text>'


def _clean(text: str) -> str:
    """Text that may stand in XML: escaped, and without the characters that XML cannot have."""
    allowed = "".join(
        each
        if each in "\t\n" or (each >= " " and not "\ud800" <= each <= "\udfff" and each not in "\ufffe\uffff")
        else "\ufffd"
        for each in text
    )
    return escaped(allowed)
