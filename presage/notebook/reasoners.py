"""A reasoner at a glance: its clock, what stands, and how much it has in memory."""

from __future__ import annotations

from presage.errors import PresageError
from presage.model.printer import show_number, show_query
from presage.notebook.answers import answers_table
from presage.notebook.html import piece, table, text, whole
from presage.run.reasoner import Reasoner


def reasoner_html(reasoner: Reasoner) -> str:
    queries = ", ".join(piece("span", text(show_query(query)), "mono") for query in reasoner.subject.queries)
    standing = reasoner.answers()
    now = "before the first step" if reasoner.now is None else show_number(reasoner.now)
    rows = [
        ["now", text(now)],
        ["queries", queries],
        ["open answers", f"{sum(answer.status == 'possible' for answer in standing):,}"],
        ["in memory", _remembered(reasoner)],
        ["late facts", f"{len(reasoner.late):,}"],
    ]
    title = piece("p", piece("strong", text(f"Reasoner of {reasoner.program.source.name}")))
    return whole(title, table("", ("", ""), rows), answers_table(standing, "what stands now", reasoner.subject.queries))


def _remembered(reasoner: Reasoner) -> str:
    try:
        return f"{reasoner.remembered:,} stretches of facts"
    except PresageError:
        # Programs that the interval engine does not run have no such memory.
        return "not known"
