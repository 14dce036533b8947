"""Draws the pictures of the examples from their runs: `python docs/example_pictures.py` writes each `picture.svg`.

Above, what arrived, a row for each thing that is observed. Below, what was said of it: an answer that may come true is
a blue bar from the first moment somebody could know to the moment it is settled, by a green diamond or a red cross;
where only certain answers are asked for, a green bar is the time at which the answer holds.
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
from presage.io.facts import Fact  # noqa: E402
from presage.io.files import read_facts  # noqa: E402
from presage.stepping import make_stepper, steps  # noqa: E402

EXAMPLES = ROOT / "presage" / "examples"
LABELS, WIDTH, ROW, MARGIN = 190, 900, 22, 14
INK, FAINT, GRID = "#24292f", "#8c959f", "#d8dee4"
POSSIBLE, CONFIRMED, REFUTED = "#0969da", "#1a7f37", "#cf222e"
NOTED, HELP, OFF = "#bc4c00", "#0a7ea4", "#d0d7de"


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
    """The colour of a fact: what the rules look for stands out."""
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
    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.parts: list[str] = []
        self.y = MARGIN + 34

    def x(self, time: float) -> float:
        low, high = self.picture.span
        return round(LABELS + (time - low) / (high - low) * (WIDTH - LABELS - MARGIN), 1)

    def text(self, x: float, y: float, text: str, colour: str = INK, size: int = 12, anchor: str = "start") -> None:
        style = f'fill="{colour}" font-size="{size}" text-anchor="{anchor}"'
        self.parts.append(f'<text x="{x}" y="{y}" {style}>{escape(text)}</text>')

    def bar(self, start: float, end: float, colour: str, opacity: float = 1) -> None:
        low, high = self.picture.span
        start, end = max(start, low), min(end, high)
        if start > end:
            return
        width = max(self.x(end) - self.x(start), 2)
        shape = f'x="{self.x(start)}" y="{self.y - 9}" width="{round(width, 1)}" height="10" rx="2"'
        self.parts.append(f'<rect {shape} fill="{colour}" fill-opacity="{opacity}"/>')

    def sign(self, time: float, status: str) -> None:
        x, y = self.x(time), self.y - 4
        if status == "confirmed":
            points = f"{x},{y - 7} {x + 7},{y} {x},{y + 7} {x - 7},{y}"
            self.parts.append(f'<polygon points="{points}" fill="{CONFIRMED}"/>')
        else:
            path = f"M{x - 5},{y - 5} L{x + 5},{y + 5} M{x - 5},{y + 5} L{x + 5},{y - 5}"
            self.parts.append(f'<path d="{path}" stroke="{REFUTED}" stroke-width="2.5" fill="none"/>')

    def label(self, text: str) -> None:
        self.text(LABELS - 10, self.y, text, anchor="end")

    def heading(self, text: str) -> None:
        self.text(MARGIN, self.y, text, FAINT, 11)
        self.y += ROW

    def finished(self) -> str:
        low, high = self.picture.span
        height = self.y + 26
        step = next(each for each in (1, 2, 5, 10, 20, 50) if (high - low) / each <= 13)
        grid: list[str] = []
        for time in range(-(-low // step) * step, high + 1, step):
            grid.append(f'<line x1="{self.x(time)}" x2="{self.x(time)}" y1="40" y2="{height - 30}" stroke="{GRID}"/>')
            grid.append(
                f'<text x="{self.x(time)}" y="{height - 14}" fill="{FAINT}" font-size="11" '
                f'text-anchor="middle">{time}</text>'
            )
        title = escape(self.picture.title)
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
                'font-family="system-ui, sans-serif">',
                f"<title>{title}</title>",
                f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
                f'<text x="{MARGIN}" y="{MARGIN + 12}" font-size="15" fill="{INK}" font-weight="600">{title}</text>',
                f'<text x="{WIDTH - MARGIN}" y="{MARGIN + 12}" font-size="11" fill="{FAINT}" '
                f'text-anchor="end">{escape(self.picture.unit)}</text>',
                *grid,
                *self.parts,
                "</svg>\n",
            ]
        )


def draw(picture: Picture) -> str:
    folder = EXAMPLES / picture.name
    program = folder / f"{picture.name}.psg"
    stepper = make_stepper(check_text(program.read_text(encoding="utf-8"), program.name), picture.emit)
    facts = list(read_facts([folder / picture.facts], stepper.checker))
    answers = [answer for step in steps(stepper, facts, None) for answer in step if picture.about(answer)]
    canvas = Canvas(picture)
    canvas.heading("what arrived")
    _draw_facts(canvas, facts)
    canvas.y += 10
    canvas.heading("what was said")
    if picture.emit == "confirmed":
        _draw_spans(canvas, answers, stepper.subject.discrete)
    else:
        _draw_lives(canvas, answers)
    return canvas.finished()


def _draw_facts(canvas: Canvas, facts: Iterable[Fact]) -> None:
    rows: dict[str, list[Fact]] = {}
    for fact in facts:
        name = canvas.picture.row(fact)
        if name is not None and fact.low is not None:
            rows.setdefault(name, []).append(fact)
    for name in sorted(rows):
        canvas.label(name)
        for fact in rows[name]:
            low, high = float(fact.low or 0), float(fact.high or 0)
            if not canvas.picture.span[0] <= low <= canvas.picture.span[1]:
                continue
            if low == high:
                colour = canvas.picture.mark(fact)
                radius = 2.5 if colour == OFF else 4.5
                canvas.parts.append(f'<circle cx="{canvas.x(low)}" cy="{canvas.y - 4}" r="{radius}" fill="{colour}"/>')
        canvas.y += ROW


def _draw_lives(canvas: Canvas, answers: list[Answer]) -> None:
    lives: dict[str, list[Answer]] = {}
    for answer in answers:
        lives.setdefault(answer.answer, []).append(answer)
    low, high = canvas.picture.span
    shown = [(name, life) for name, life in lives.items() if life[-1].now >= low and life[0].now <= high]
    for name, life in shown[: canvas.picture.lanes]:
        canvas.label(name)
        for index, answer in enumerate(life):
            if answer.status in ("possible", "unsupported"):
                until = life[index + 1].now if index + 1 < len(life) else high
                met = len(answer.because) / max(1, len(answer.because) + len(answer.needs))
                canvas.bar(float(answer.now), float(until), POSSIBLE, round(0.25 + 0.65 * met, 2))
        if life[-1].status in ("confirmed", "refuted"):
            canvas.sign(float(life[-1].now), life[-1].status)
        canvas.y += ROW
    if len(shown) > canvas.picture.lanes:
        canvas.text(LABELS, canvas.y, f"and {len(shown) - canvas.picture.lanes} more", FAINT)
        canvas.y += ROW


def _draw_spans(canvas: Canvas, answers: list[Answer], discrete: bool) -> None:
    lanes: dict[str, list[tuple[float, float]]] = {}
    for answer in answers:
        # A point of the discrete timeline stands for the stretch up to the next one.
        if answer.time is not None:
            span = (float(answer.time), float(answer.time) + discrete)
        else:
            end = canvas.picture.span[1] if answer.end is None else float(answer.end) + discrete
            span = (float(answer.start or 0), end)
        lanes.setdefault(answer.answer.rpartition("@")[0], []).append(span)
    for name in sorted(lanes)[: canvas.picture.lanes]:
        canvas.label(name)
        begin, reached = None, 0.0
        for start, end in [*sorted(lanes[name]), (float("inf"), 0.0)]:
            if begin is not None and start > reached:
                canvas.bar(begin, reached, CONFIRMED)
                begin = None
            begin, reached = (start, end) if begin is None else (begin, max(reached, end))
        canvas.y += ROW


if __name__ == "__main__":
    for each in PICTURES:
        (EXAMPLES / each.name / "picture.svg").write_text(draw(each), encoding="utf-8")
