"""Answers as a table: how each stands, because of what, what it still needs and until when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from presage.answers import Answer
from presage.answers.series import in_series
from presage.colours import tone_for
from presage.model.printer import show_number
from presage.model.statements import Query
from presage.model.terms import Number
from presage.notebook.html import listed, piece, status, table, text, whole

MOST_ROWS = 200
_HEADER = ("status", "answer", "because", "needs", "unless", "due", "confidence", "as of")


def answers_html(answers: Sequence[Answer], title: str = "", queries: Sequence[Query] = ()) -> str:
    return whole(answers_table(answers, title, queries))


def answers_table(answers: Sequence[Answer], title: str = "", queries: Sequence[Query] = ()) -> str:
    """The queries, where they are known, say which answers are good or bad."""
    shown = [answers[place] for place in range(min(len(answers), MOST_ROWS))]
    if not shown:
        return piece("p", text(f"{title}: none" if title else "no answers"), "quiet")
    found = [cells for each in shown for cells in _rows(each, tone_for(queries, each))]
    used = [place for place in range(len(_HEADER)) if any(cells[place] for cells in found)]
    rows = [[cells[place] for place in used] for cells in found]
    caption = f"{title}: {_counts(answers)}" if title else _counts(answers)
    told = table(caption, [_HEADER[place] for place in used], rows)
    if len(answers) > MOST_ROWS:
        told += piece("p", f"and {len(answers) - MOST_ROWS:,} more", "quiet")
    return told


def _counts(answers: Sequence[Answer]) -> str:
    if len(answers) > MOST_ROWS:
        return f"{len(answers):,} answers"
    counted = Counter(each.status for each in answers)
    return ", ".join(f"{number:,} {name}" for name, number in counted.items())


def _rows(answer: Answer, tone: str) -> list[list[str]]:
    """A row for the answer and, where there are several ways, one for each of the others."""
    rows = [_cells(answer, tone)]
    for number, way in enumerate(answer.ways[1:], 2):
        cells = _way(way["because"], way["needs"], way["unless"], way["decided_by"], way["confidence"])
        rows.append(["", piece("span", f"or, way {number}", "quiet"), *cells, ""])
    return rows


def _cells(answer: Answer, tone: str) -> list[str]:
    way = _way(answer.because, answer.needs, answer.unless, answer.decided_by, answer.confidence)
    return [
        status(answer.status, tone),
        piece("span", text(answer.answer), "mono"),
        *way,
        text(show_number(answer.now)),
    ]


def _way(
    because: Sequence[str], needs: Sequence[str], unless: Sequence[str], due: Number | None, confidence: float | None
) -> list[str]:
    likely = "" if confidence is None else f'{confidence:.3g} <meter min="0" max="1" value="{confidence:.4f}"></meter>'
    return [
        listed(in_series(because)),
        listed(in_series(needs)),
        listed(unless),
        "" if due is None else text(show_number(due)),
        likely,
    ]
