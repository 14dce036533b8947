"""Draws the pictures of the examples from their runs: `python docs/example_pictures.py` writes each `picture.svg`,
and beside it `small.svg`, which has no words and can be seen from afar.

Above, what arrived, a row for each thing that is observed. Below, what was said of it: an answer that may come true is
a lively bar from the first moment somebody could know to the moment it is settled, by a strong diamond or a faded
cross; where only certain answers are asked for, a strong bar is the time at which the answer holds. Hues are those of
the page: what a query calls bad is red, what it calls good green. Light and dark follow the reader.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from presage.answers import Answer  # noqa: E402
from presage.checking import check_text  # noqa: E402
from presage.colours import DARK, LIGHT, TONES, tone_for, variables  # noqa: E402
from presage.io.facts import Fact  # noqa: E402
from presage.io.files import read_facts  # noqa: E402
from presage.run.reasoner import reasoner_of  # noqa: E402
from presage.run.schedule import steps  # noqa: E402

EXAMPLES = ROOT / "presage" / "examples"
LABELS, WIDTH, ROW, MARGIN = 190, 900, 22, 14
INK, FAINT, GRID, NOTED, HELP, OFF = "ink", "faint", "grid", "noted", "help", "off"
"""The looks of what is no answer, as the style below has them."""
_PAPER = {
    "light": "--paper:#fff;--ink:#24292f;--faint:#6e7781;--grid:#e3e7eb;--noted:#24292f;--help:#0a7ea4;--off:#c8ced5",
    "dark": "--paper:#15171a;--ink:#e9e7e2;--faint:#a3a8b0;--grid:#2b3036;--noted:#e9e7e2;--help:#5cc4e6;--off:#4a5159",
}
_HUES = "".join(
    f".{status}.{tone}{{--look:var(--{tone}-{status})}}" for tone in TONES for status in ("possible", "confirmed")
)
STYLE = (
    f"svg{{{_PAPER['light']};{variables('', LIGHT)}}}"
    f"@media (prefers-color-scheme:dark){{svg{{{_PAPER['dark']};{variables('', DARK)}}}}}"
    + "".join(f".{name}{{--look:var(--{name})}}" for name in (INK, FAINT, GRID, NOTED, HELP, OFF))
    + f".refuted{{--look:var(--refuted)}}.unsupported{{--look:var(--unsupported)}}{_HUES}"
    ".paper{fill:var(--paper)}.fill{fill:var(--look)}.stroke{stroke:var(--look);fill:none}"
    ".hollow{stroke:var(--look);fill:var(--paper)}text{fill:var(--look)}"
)


def look(status: str, tone: str = "") -> str:
    """The classes of an answer."""
    return f"{'confirmed' if status == 'holds' else status} {tone or 'plain'}"


@dataclass(frozen=True)
class Picture:
    name: str
    facts: str
    title: str
    span: tuple[int, int]
    unit: str
    row: Callable[[Fact], str | None]
    """The row a fact belongs to, or none."""
    mark: Callable[[Fact], str]
    """The look of a fact: what the rules look for stands out."""
    about: Callable[[Answer], bool] = lambda answer: True
    """Whether an answer is shown."""
    emit: str = "changes"
    lanes: int = 12


PICTURES = [
    Picture(
        "turbines",
        "day.jsonl",
        "Three high readings in a row",
        (96, 144),
        "readings, ten minutes each",
        lambda fact: str(fact.arguments[0]) if fact.arguments[0] in ("wt04", "wt19", "wt42") else None,
        lambda fact: NOTED if fact.arguments[1] == "high" else OFF,
        lambda answer: answer.arguments[0] in ("wt04", "wt19", "wt42"),
        lanes=14,
    ),
    Picture(
        "hospital",
        "facts.jsonl",
        "Fever, blood, and forty minutes to act",
        (0, 38),
        "ten minutes each, from 6:00",
        lambda fact: str(fact.arguments[0]),
        lambda fact: HELP if fact.predicate == "antibiotic" else OFF if "normal" in fact.arguments else NOTED,
        lanes=16,
    ),
    Picture(
        "trams",
        "morning.jsonl",
        "A jam leaves one connection",
        (0, 62),
        "minutes",
        lambda fact: {"tram": f"tram {fact.arguments[0]}", "jam": "jam at g", "on": "asking"}[fact.predicate],
        lambda fact: {"tram": FAINT, "jam": NOTED, "on": HELP}[fact.predicate],
        emit="confirmed",
    ),
    Picture(
        "belts",
        "facts.jsonl",
        "Incidents with an identity",
        (0, 30),
        "minutes",
        lambda fact: f"belt {fact.arguments[0]}",
        lambda fact: NOTED if isinstance(fact.arguments[1], int) and fact.arguments[1] >= 70 else OFF,
        emit="confirmed",
    ),
    Picture(
        "wards",
        "facts.jsonl",
        "Outbreaks that travel",
        (0, 24),
        "days",
        lambda fact: f"ward {fact.arguments[1]}",
        lambda fact: HELP if fact.predicate == "moved" else NOTED,
        emit="confirmed",
    ),
    Picture(
        "stops",
        "facts.jsonl",
        "Short stops of four vans",
        (0, 31),
        "readings, ten seconds each",
        lambda fact: str(fact.arguments[0]),
        lambda fact: NOTED if fact.predicate == "speed" and fact.arguments[1] == 0 else OFF,
        emit="confirmed",
    ),
    Picture(
        "network",
        "facts.jsonl",
        "Attention travels",
        (0, 60),
        "seconds",
        lambda fact: str(fact.arguments[0]) if fact.predicate == "signal" else None,
        lambda fact: NOTED,
        emit="confirmed",
    ),
    Picture(
        "heartbeat",
        "shift.jsonl",
        "Machines that fall silent",
        (0, 122),
        "minutes",
        lambda fact: str(fact.arguments[0]),
        lambda fact: HELP if fact.predicate == "stopped" else OFF,
        emit="confirmed",
    ),
]


class Canvas:
    def __init__(self, picture: Picture, small: bool = False) -> None:
        self.picture, self.small = picture, small
        self.parts: list[str] = []
        self.y = 10 if small else MARGIN + 34
        self.width, self.labels = (320, 8) if small else (WIDTH, LABELS)
        self.row = 13 if small else ROW

    def x(self, time: float) -> float:
        low, high = self.picture.span
        return round(self.labels + (time - low) / (high - low) * (self.width - self.labels - MARGIN), 1)

    def text(self, x: float, y: float, text: str, kind: str = INK, size: int = 12, anchor: str = "start") -> None:
        if not self.small:
            style = f'class="{kind}" font-size="{size}" text-anchor="{anchor}"'
            self.parts.append(f'<text x="{x}" y="{y}" {style}>{escape(text)}</text>')

    def bar(self, start: float, end: float, kind: str, opacity: float = 1) -> None:
        low, high = self.picture.span
        start, end = max(start, low), min(end, high)
        if start > end:
            return
        width = max(self.x(end) - self.x(start), 2)
        top, height = (self.y - 8, 8) if self.small else (self.y - 9, 10)
        shape = f'x="{self.x(start)}" y="{top}" width="{round(width, 1)}" height="{height}" rx="2"'
        self.parts.append(f'<rect class="fill {kind}" {shape} fill-opacity="{opacity}"/>')

    def sign(self, time: float, status: str, tone: str) -> None:
        x, y, r = self.x(time), self.y - 4, 5 if self.small else 7
        if status == "confirmed":
            points = f"{x},{y - r} {x + r},{y} {x},{y + r} {x - r},{y}"
            self.parts.append(f'<polygon class="fill {look(status, tone)}" points="{points}"/>')
        else:
            r -= 2
            path = f"M{x - r},{y - r} L{x + r},{y + r} M{x - r},{y + r} L{x + r},{y - r}"
            self.parts.append(f'<path class="stroke refuted" d="{path}" stroke-width="1.6"/>')

    def dot(self, time: float, kind: str) -> None:
        radius = 2.5 if kind == OFF else 4.5
        radius = radius * 0.7 if self.small else radius
        self.parts.append(f'<circle class="fill {kind}" cx="{self.x(time)}" cy="{self.y - 4}" r="{radius}"/>')

    def label(self, text: str) -> None:
        self.text(self.labels - 10, self.y, text, anchor="end")

    def heading(self, text: str) -> None:
        self.text(MARGIN, self.y, text, FAINT, 11)
        self.y += self.row

    def finished(self) -> str:
        low, high = self.picture.span
        height = self.y + (4 if self.small else 26)
        step = next(each for each in (1, 2, 5, 10, 20, 50) if (high - low) / each <= 13)
        top, bottom = (0, height) if self.small else (40, height - 30)
        grid: list[str] = []
        for time in range(-(-low // step) * step, high + 1, step):
            x = self.x(time)
            grid.append(f'<line class="stroke grid" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>')
            if not self.small:
                grid.append(
                    f'<text x="{x}" y="{height - 14}" class="faint" font-size="11" text-anchor="middle">{time}</text>'
                )
        title = escape(self.picture.title)
        head = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height}" role="img" '
            'font-family="system-ui, sans-serif">',
            f"<title>{title}</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="paper" width="{self.width}" height="{height}"/>',
        ]
        if not self.small:
            head += [
                f'<text x="{MARGIN}" y="{MARGIN + 12}" font-size="15" class="ink" font-weight="600">{title}</text>',
                f'<text x="{WIDTH - MARGIN}" y="{MARGIN + 12}" font-size="11" class="faint" '
                f'text-anchor="end">{escape(self.picture.unit)}</text>',
            ]
        return "\n".join([*head, *grid, *self.parts, "</svg>\n"])


def draw(picture: Picture, small: bool = False) -> str:
    folder = EXAMPLES / picture.name
    program = folder / f"{picture.name}.psg"
    stepper = reasoner_of(check_text(program.read_text(encoding="utf-8"), program.name), picture.emit)
    facts = list(read_facts([folder / picture.facts], stepper.checker))
    answers = [answer for step in steps(stepper, facts, None) for answer in step if picture.about(answer)]
    tones = {answer.answer: tone_for(stepper.subject.queries, answer) for answer in answers}
    canvas = Canvas(picture, small)
    canvas.heading("what arrived")
    _draw_facts(canvas, facts)
    canvas.y += 4 if small else 10
    canvas.heading("what was said")
    if picture.emit == "confirmed":
        _draw_spans(canvas, answers, tones, stepper.subject.discrete)
    else:
        _draw_lives(canvas, answers, tones)
    return canvas.finished()


def _draw_facts(canvas: Canvas, facts: Iterable[Fact]) -> None:
    rows: dict[str, list[Fact]] = {}
    for fact in facts:
        name = canvas.picture.row(fact)
        if name is not None and fact.low is not None:
            rows.setdefault(name, []).append(fact)
    for name in sorted(rows)[: 4 if canvas.small else None]:
        canvas.label(name)
        for fact in rows[name]:
            low, high = float(fact.low or 0), float(fact.high or 0)
            if low == high and canvas.picture.span[0] <= low <= canvas.picture.span[1]:
                canvas.dot(low, canvas.picture.mark(fact))
        canvas.y += canvas.row


def _draw_lives(canvas: Canvas, answers: list[Answer], tones: dict[str, str]) -> None:
    lives: dict[str, list[Answer]] = {}
    for answer in answers:
        lives.setdefault(answer.answer, []).append(answer)
    low, high = canvas.picture.span
    shown = [(name, life) for name, life in lives.items() if life[-1].now >= low and life[0].now <= high]
    lanes = min(canvas.picture.lanes, 7) if canvas.small else canvas.picture.lanes
    for name, life in shown[:lanes]:
        canvas.label(name)
        for index, answer in enumerate(life):
            if answer.status in ("possible", "unsupported"):
                until = life[index + 1].now if index + 1 < len(life) else high
                met = len(answer.because) / max(1, len(answer.because) + len(answer.needs))
                kind = look(answer.status, tones[name])
                canvas.bar(float(answer.now), float(until), kind, round(0.25 + 0.65 * met, 2))
        if life[-1].status in ("confirmed", "refuted"):
            canvas.sign(float(life[-1].now), life[-1].status, tones[name])
        canvas.y += canvas.row
    if len(shown) > lanes:
        canvas.text(canvas.labels, canvas.y, f"and {len(shown) - lanes} more", FAINT)
        canvas.y += 0 if canvas.small else canvas.row


def _draw_spans(canvas: Canvas, answers: list[Answer], tones: dict[str, str], discrete: bool) -> None:
    lanes: dict[str, list[tuple[float, float]]] = {}
    hues: dict[str, str] = {}
    for answer in answers:
        # A point of the discrete timeline stands for the stretch up to the next one.
        if answer.time is not None:
            span = (float(answer.time), float(answer.time) + discrete)
        else:
            end = canvas.picture.span[1] if answer.end is None else float(answer.end) + discrete
            span = (float(answer.start or 0), end)
        name = answer.answer.rpartition("@")[0]
        lanes.setdefault(name, []).append(span)
        hues[name] = tones[answer.answer]
    for name in sorted(lanes)[: min(canvas.picture.lanes, 7) if canvas.small else canvas.picture.lanes]:
        canvas.label(name)
        begin, reached = None, 0.0
        for start, end in [*sorted(lanes[name]), (float("inf"), 0.0)]:
            if begin is not None and start > reached:
                canvas.bar(begin, reached, look("confirmed", hues[name]))
                begin = None
            begin, reached = (start, end) if begin is None else (begin, max(reached, end))
        canvas.y += canvas.row


if __name__ == "__main__":
    for each in PICTURES:
        (EXAMPLES / each.name / "picture.svg").write_text(draw(each), encoding="utf-8")
        (EXAMPLES / each.name / "small.svg").write_text(draw(each, small=True), encoding="utf-8")
