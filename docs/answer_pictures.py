"""Draws how one answer stands as time goes by, from its run: `python docs/answer_pictures.py`.

A row for each time of the look: full circles are facts that arrived, hollow ones facts that are needed, the grey line
is now, the tick at the right the time by which the answer is decided whatever arrives.
"""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from docs.example_pictures import (  # noqa: E402
    EXAMPLES,
    FAINT,
    GRID,
    INK,
    NOTED,
    STYLE,
    look,
)
from presage.answers import Answer  # noqa: E402
from presage.checking import check_text  # noqa: E402
from presage.colours import tone_for  # noqa: E402
from presage.io.files import read_facts  # noqa: E402
from presage.run.reasoner import reasoner_of  # noqa: E402
from presage.run.schedule import steps  # noqa: E402

LEFT, UNIT, ROW, WIDTH = 110, 92, 46, 860
WORDS = 560
"""Where the words begin."""


Stories = dict[str, list[tuple[int, Answer]]]


def stories(name: str, facts: str, asked: list[str], until: int) -> tuple[Stories, str]:
    """For each answer, its state at each time of the look; and whether it is good or bad."""
    program = EXAMPLES / name / f"{name}.psg"
    stepper = reasoner_of(check_text(program.read_text(encoding="utf-8"), program.name), "changes")
    given = list(read_facts([EXAMPLES / name / facts], stepper.checker))
    found: dict[str, list[tuple[int, Answer]]] = {text: [] for text in asked}
    latest: dict[str, Answer] = {}
    for answers in steps(stepper, given, until, every=True):
        latest.update((answer.answer, answer) for answer in answers)
        assert isinstance(stepper.now, int)
        for text in asked:
            settled = found[text] and found[text][-1][1].status in ("confirmed", "refuted")
            if text in latest and not settled:
                found[text].append((stepper.now, latest[text]))
    tone = tone_for(stepper.subject.queries, next(iter(latest.values())))
    return found, tone


def draw(title: str, found: Stories, tone: str, last: int) -> str:
    parts: list[str] = []
    y = 66
    for text, story in found.items():
        parts.append(_text(20, y, text, INK, 14, weight=600))
        y += 14
        seen: tuple[str, ...] = ()
        for now, answer in story:
            y += ROW - 16
            parts.append(_text(LEFT - 22, y + 4, f"at {now}", FAINT, 12, "end"))
            parts.append(_line(_x(0) - 14, y, _x(last) + 14, y, GRID, 1))
            parts.append(_line(_x(now), y - 14, _x(now), y + 14, FAINT, 2))
            for fact in answer.because or seen:
                parts.append(_circle(_time(fact), y, NOTED, full=True))
            for fact in answer.needs:
                parts.append(_circle(_time(fact), y, look("possible", tone), full=False))
            if answer.decided_by is not None and answer.needs:
                at = _x(float(answer.decided_by))
                parts.append(_line(at, y - 9, at, y + 9, look("possible", tone), 3))
            parts.append(_text(WORDS, y + 4, _words(answer), look(answer.status, tone), 13))
            seen = answer.because or seen
        y += ROW
    for time in range(last + 1):
        parts.append(_text(_x(time), y - 4, str(time), FAINT, 12, "middle"))
    height = y + 14
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'font-family="system-ui, sans-serif">'
    )
    back = f'<style>{STYLE}</style>\n<rect class="paper" width="{WIDTH}" height="{height}"/>'
    name = _text(20, 30, title, INK, 16, weight=600)
    return "\n".join([head, f"<title>{escape(title)}</title>", back, name, *parts, "</svg>\n"])


def _words(answer: Answer) -> str:
    if answer.status != "possible":
        return answer.status
    count = len(answer.needs)
    return f"possible: {count} reading{'s' if count > 1 else ''} missing, decided by {answer.decided_by}"


def _time(fact: str) -> float:
    found = re.search(r"@(\d+)$", fact)
    assert found is not None
    return float(found[1])


def _x(time: float) -> float:
    return round(LEFT + time * UNIT, 1)


def _text(x: float, y: float, text: str, kind: str, size: int, anchor: str = "start", weight: int = 400) -> str:
    style = f'class="{kind}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}"'
    return f'<text x="{x}" y="{y}" {style}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str, width: int) -> str:
    return f'<line class="stroke {kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke-width="{width}"/>'


def _circle(time: float, y: float, kind: str, full: bool) -> str:
    shown = f"{'fill' if full else 'hollow'} {kind}"
    return f'<circle class="{shown}" cx="{_x(time)}" cy="{y}" r="8" stroke-width="2.5"/>'


FIRST = ("turbines", "facts.jsonl", ["malf(wt25)@0", "malf(wt42)@1"], 4)
QUESTION = "Did the turbine fail?"

if __name__ == "__main__":
    (ROOT / "docs/turbines.svg").write_text(draw(QUESTION, *stories(*FIRST), 4), encoding="utf-8")
